/* SPDX-License-Identifier: ISC
 *
 * Datagrams. One task receives from a socket until that is closed; each send is a request.
 */
#include "uv/adapter.h"

/* `size` below 0 is an error, after which libuv goes on receiving; 0 without an address means that
 * no datagram has come. */
static void on_receive(uv_udp_t *udp, ssize_t size, const uv_buf_t *buffer,
	const struct sockaddr *address, unsigned flags)
{
	struct weft__hooks_run run = UV_BEGIN_HANDLE(udp, "udp");
	if (run.task != WEFT_TASK_NONE && size > 0)
		weft_counter_add("bytes read", (int64_t)size);
	((uv_udp_recv_cb)run.callback)(udp, size, buffer, address, flags);
	weft__hooks_return(&run);
}

static bool start_receive(uv_udp_t *udp, uv_udp_recv_cb callback)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(udp);
	if (!subject)
		return false;
	int saved = weft__hooks_begin();
	if (weft__hooks_start(subject, (weft__hooks_callback)callback, weft_kind("read"))) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, "read ");
		weft__uv_append_socket(&text, "udp", udp->io_watcher.fd, true);
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
	return true;
}

UV_HOOK(uv_udp_recv_start)
int UV_NAME(uv_udp_recv_start)(uv_udp_t *udp, uv_alloc_cb allocate, uv_udp_recv_cb callback)
{
	bool is_recorded =
		UV_RECORD && callback && callback != on_receive && start_receive(udp, callback);
	int result = UV_NEXT(uv_udp_recv_start)(udp, allocate, is_recorded ? on_receive : callback);
	if (is_recorded && result < 0 && result != UV_EALREADY)
		weft__hooks_cancel(udp);
	return result;
}

/* Counts no bytes: libuv sends a datagram whole or not at all, and uv_udp_send has counted them. */
static void on_send(uv_udp_send_t *request, int status)
{
	struct weft__hooks_run run = weft__uv_begin_request(request, status);
	request->cb = (uv_udp_send_cb)run.callback;
	if (run.callback)
		((uv_udp_send_cb)run.callback)(request, status);
	weft__hooks_return(&run);
}

/* "send udp 127.0.0.1:53". Without an address, the socket is connected to one. */
static void name_send(
	struct weft__hooks_subject *subject, const uv_udp_t *udp, const struct sockaddr *address)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, "send ");
	if (!address) {
		weft__uv_append_socket(&text, "udp", udp->io_watcher.fd, false);
	} else {
		weft__hooks_append(&text, "udp ");
		weft__uv_append_destination(&text, address);
	}
	weft__hooks_subject_label(subject, &text);
}

static bool ask_send(uv_udp_send_t *request, const uv_udp_t *udp, const struct sockaddr *address,
	weft__hooks_callback callback)
{
	int saved = weft__hooks_begin();
	struct weft__hooks_subject *subject = weft__hooks_ask(request, callback, weft_kind("write"));
	if (subject)
		name_send(subject, udp, address);
	weft__hooks_end(saved);
	return subject != NULL;
}

UV_HOOK(uv_udp_send)
int UV_NAME(uv_udp_send)(uv_udp_send_t *request, uv_udp_t *udp, const uv_buf_t buffers[],
	unsigned count, const struct sockaddr *address, uv_udp_send_cb callback)
{
	if (!UV_RECORD || callback == on_send ||
		!ask_send(request, udp, address, (weft__hooks_callback)callback))
		return UV_NEXT(uv_udp_send)(request, udp, buffers, count, address, callback);
	weft__uv_count_written(weft__uv_size(buffers, count));
	return weft__uv_asked(
		request, UV_NEXT(uv_udp_send)(request, udp, buffers, count, address, on_send));
}

UV_HOOK(uv_udp_try_send)
int UV_NAME(uv_udp_try_send)(
	uv_udp_t *udp, const uv_buf_t buffers[], unsigned count, const struct sockaddr *address)
{
	int result = UV_NEXT(uv_udp_try_send)(udp, buffers, count, address);
	if (UV_RECORD && result > 0)
		weft__uv_count_written((size_t)result);
	return result;
}
