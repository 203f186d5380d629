/* SPDX-License-Identifier: ISC
 *
 * The loop: between callbacks, nothing runs on its thread. Handles that are called in each round,
 * and uv_async_t, by which other threads wake the loop.
 */
#include "uv/adapter.h"

#ifndef WEFT_UV_LINKED
struct weft__hooks_library weft__uv_library = {.file = "libuv.so.1"};

/* Early, so that libuv's own calls are known from the first one on. */
__attribute__((constructor(111))) static void begin(void)
{
	weft__hooks_library_begin(&weft__uv_library, "uv_run");
}
#endif

/* ---- uv_run ---- */

/* The task that calls uv_run does not run meanwhile. A round that does not wait is a part of a loop
 * of the program's own. */
UV_HOOK(uv_run)
int UV_NAME(uv_run)(uv_loop_t *loop, uv_run_mode mode)
{
	if (!UV_RECORD || mode == UV_RUN_NOWAIT)
		return UV_NEXT(uv_run)(loop, mode);
	struct weft__hooks_loop run = weft__hooks_loop_begin();
	int result = UV_NEXT(uv_run)(loop, mode);
	weft__hooks_loop_end(&run);
	return result;
}

/* libuv makes a handle of its own in each loop. */
UV_HOOK(uv_loop_init)
int UV_NAME(uv_loop_init)(uv_loop_t *loop)
{
	uintptr_t was_inside = weft__hooks_thread.inside;
	weft__hooks_thread.inside = was_inside ? was_inside : HOOKS_HERE;
	int result = UV_NEXT(uv_loop_init)(loop);
	weft__hooks_thread.inside = was_inside;
	return result;
}

/* ---- Each round ---- */

static bool start(
	uv_handle_t *handle, weft__hooks_callback callback, const char *word, uint16_t kind)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(handle);
	if (!subject)
		return false;
	int saved = weft__hooks_begin();
	if (weft__hooks_start(subject, callback, kind)) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, word);
		weft__hooks_append_callback(&text, callback);
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
	return true;
}

/* libuv ignores a start of a handle that is active. */
#define ROUND(name)                                                                                \
	static void on_##name(uv_##name##_t *handle)                                                   \
	{                                                                                              \
		struct weft__hooks_run run = UV_BEGIN_HANDLE(handle, #name);                               \
		((uv_##name##_cb)run.callback)(handle);                                                    \
		weft__hooks_return(&run);                                                                  \
	}                                                                                              \
	UV_HOOK(uv_##name##_start)                                                                     \
	int UV_NAME(uv_##name##_start)(uv_##name##_t * handle, uv_##name##_cb callback)                \
	{                                                                                              \
		bool is_recorded =                                                                         \
			UV_RECORD && callback && !UV_PLAIN(uv_is_active)((uv_handle_t *)handle) &&             \
			start((uv_handle_t *)handle, (weft__hooks_callback)callback, #name, weft_kind(#name)); \
		return UV_NEXT(uv_##name##_start)(handle, is_recorded ? on_##name : callback);             \
	}                                                                                              \
	UV_HOOK(uv_##name##_stop)                                                                      \
	int UV_NAME(uv_##name##_stop)(uv_##name##_t * handle)                                          \
	{                                                                                              \
		if (UV_RECORD)                                                                             \
			weft__hooks_cancel(handle);                                                            \
		return UV_NEXT(uv_##name##_stop)(handle);                                                  \
	}

ROUND(idle)
ROUND(prepare)
ROUND(check)

/* ---- Async ---- */

static void on_async(uv_async_t *async)
{
	struct weft__hooks_run run = UV_BEGIN_HANDLE(async, "async");
	if (run.callback)
		((uv_async_cb)run.callback)(async);
	weft__hooks_return(&run);
}

static bool start_async(uv_async_t *async, uv_async_cb callback)
{
	weft__hooks_subject_forget(async); /* a new handle, which may be where an old one was */
	struct weft__hooks_subject *subject = weft__hooks_subject_put(async);
	if (!subject)
		return false;
	int saved = weft__hooks_begin();
	struct weft__hooks_text text = {0};
	weft__hooks_start(subject, (weft__hooks_callback)callback, weft_kind("async"));
	weft__hooks_append(&text, "async");
	weft__hooks_append_callback(&text, (weft__hooks_callback)callback);
	weft__hooks_subject_label(subject, &text);
	weft__hooks_end(saved);
	return true;
}

UV_HOOK(uv_async_init)
int UV_NAME(uv_async_init)(uv_loop_t *loop, uv_async_t *async, uv_async_cb callback)
{
	bool is_recorded = UV_RECORD && callback && start_async(async, callback);
	int result = UV_NEXT(uv_async_init)(loop, async, is_recorded ? on_async : callback);
	return is_recorded ? weft__uv_asked(async, result) : result;
}

/* Any thread may call this, also in a signal handler. */
UV_HOOK(uv_async_send)
int UV_NAME(uv_async_send)(uv_async_t *async)
{
	struct weft__hooks_subject *subject = UV_RECORD ? weft__hooks_subject_find(async) : NULL;
	if (subject && subject->epoch == weft__hooks_epoch() && subject->task != WEFT_TASK_NONE) {
		int saved = weft__hooks_begin();
		weft_signal_only(subject->task);
		weft__hooks_end(saved);
	}
	return UV_NEXT(uv_async_send)(async);
}
