/* SPDX-License-Identifier: ISC
 *
 * Handles that are closed. The task of such a handle ends when the callback of uv_close returns.
 */
#include "uv/adapter.h"

static void on_close(uv_handle_t *handle)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_find(handle);
	struct weft__hooks_end end = subject ? subject->close_end : WEFT__HOOKS_END(WEFT__HOOKS_CLOSED);
	uv_close_cb callback = subject ? (uv_close_cb)subject->second : NULL;
	struct weft__hooks_run run = UV_BEGIN_LAST(handle, "close");
	weft__hooks_ends(&run, end);
	weft__hooks_subject_forget(handle);
	handle->close_cb = callback;
	if (callback)
		callback(handle);
	weft__hooks_return(&run);
}

static WEFT__OWN_FRAME void name_close(
	struct weft__hooks_subject *subject, const uv_handle_t *handle)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, "close ");
	weft__hooks_append(&text, weft__uv_type_name(handle));
	weft__hooks_subject_label(subject, &text);
}

/* The handle's task will run the callback. If the handle has no task that waits, one is made. */
static bool await_close(uv_handle_t *handle, uv_close_cb callback)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(handle);
	if (!subject)
		return false;
	int saved = weft__hooks_begin();
	weft__hooks_callback before = subject->callback;
	struct weft__hooks_end end = WEFT__HOOKS_END(WEFT__HOOKS_CLOSED);
	if (weft__hooks_start(subject, before, weft_kind("close")))
		name_close(subject, handle);
	else
		weft__hooks_postpone(subject->task, &end);
	subject->close_end = end;
	subject->second = (weft__hooks_callback)callback;
	weft__hooks_end(saved);
	return true;
}

static void close_now(const uv_handle_t *handle)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_find(handle);
	if (!subject)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_stop(subject, WEFT__HOOKS_END(WEFT__HOOKS_CLOSED));
	weft__hooks_subject_forget(handle);
	weft__hooks_end(saved);
}

static bool close_recorded(uv_handle_t *handle, uv_close_cb callback, bool is_recorded)
{
	if (callback == on_close)
		return true;
	if (is_recorded && callback && await_close(handle, callback))
		return true;
	close_now(handle);
	return false;
}

UV_HOOK(uv_close)
void UV_NAME(uv_close)(uv_handle_t *handle, uv_close_cb callback)
{
	bool is_swapped = !UV_IS_INTERNAL && close_recorded(handle, callback, HOOKS_RECORD);
	UV_NEXT(uv_close)(handle, is_swapped ? on_close : callback);
}

UV_HOOK(uv_tcp_close_reset)
int UV_NAME(uv_tcp_close_reset)(uv_tcp_t *tcp, uv_close_cb callback)
{
	bool is_swapped = close_recorded((uv_handle_t *)tcp, callback, UV_RECORD);
	return UV_NEXT(uv_tcp_close_reset)(tcp, is_swapped ? on_close : callback);
}
