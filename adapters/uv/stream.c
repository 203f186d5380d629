/* SPDX-License-Identifier: ISC
 *
 * Streams: tcp, pipes and terminals.
 *
 * What is read from a stream comes at any time: one task waits for it from the first uv_read_start
 * until the stream ends or is closed, also while the program does not want more for a time. So does
 * a server's for connections. Writes, connects and shutdowns are requests. Names of streams cost a
 * system call, and are kept.
 */
#include <string.h>

#include "uv/adapter.h"

/* ---- Names ---- */

static void keep_name(struct weft__hooks_subject *subject, const char *name, size_t size)
{
	if (size > sizeof(subject->name) - 1)
		size = sizeof(subject->name) - 1;
	memcpy(subject->name, name, size);
	subject->name[size] = '\0';
}

/* The name of the stream's other side. */
static void append_name(struct weft__hooks_text *text, uv_stream_t *stream)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(stream);
	size_t before = text->size;
	if (subject && subject->name[0]) {
		weft__hooks_append(text, subject->name);
		return;
	}
	weft__uv_append_socket(
		text, weft__uv_type_name((uv_handle_t *)stream), stream->io_watcher.fd, false);
	if (subject)
		keep_name(subject, text->bytes + before, text->size - before);
}

/* ---- Read ---- */

/* Before the task runs: it is why the task does. */
static void receive(const uv_stream_t *stream)
{
	uint64_t task = weft__hooks_subject_task(stream);
	if (task == WEFT_TASK_NONE || !weft_enabled(WEFT_LEVEL_INFO))
		return;
	int saved = weft__hooks_begin();
	weft__hooks_received(stream->io_watcher.fd, task);
	weft__hooks_end(saved);
}

/* The program's callback of uv_alloc has run before, outside of the task. 0 bytes: nothing came. */
static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	if (size > 0 || size == UV_EOF)
		receive(stream);
	struct weft__hooks_run run = UV_BEGIN_HANDLE(stream, "read");
	if (run.task != WEFT_TASK_NONE && size > 0)
		weft_counter_add("bytes read", (int64_t)size);
	if (size < 0)
		weft__hooks_ends(&run, weft__uv_end_of(size == UV_EOF ? 0 : (int)size));
	((uv_read_cb)run.callback)(stream, size, buffer);
	weft__hooks_return(&run);
}

static bool start_read(uv_stream_t *stream, uv_read_cb callback)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(stream);
	if (!subject)
		return false;
	int saved = weft__hooks_begin();
	if (weft__hooks_start(subject, (weft__hooks_callback)callback, weft_kind("read"))) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, "read ");
		append_name(&text, stream);
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
	return true;
}

UV_HOOK(uv_read_start)
int UV_NAME(uv_read_start)(uv_stream_t *stream, uv_alloc_cb allocate, uv_read_cb callback)
{
	bool is_recorded = UV_RECORD && callback && callback != on_read && start_read(stream, callback);
	int result = UV_NEXT(uv_read_start)(stream, allocate, is_recorded ? on_read : callback);
	if (is_recorded && result < 0)
		weft__hooks_cancel(stream);
	return result;
}

/* ---- Write ---- */

static void on_write(uv_write_t *request, int status)
{
	struct weft__hooks_run run = weft__uv_begin_request(request, status);
	request->cb = (uv_write_cb)run.callback;
	if (run.callback)
		((uv_write_cb)run.callback)(request, status);
	weft__hooks_return(&run);
}

static bool ask_write(uv_write_t *request, uv_stream_t *stream, uv_write_cb callback)
{
	int saved = weft__hooks_begin();
	struct weft__hooks_subject *subject =
		weft__hooks_ask(request, (weft__hooks_callback)callback, weft_kind("write"));
	if (subject) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, "write ");
		append_name(&text, stream);
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
	return subject != NULL;
}

UV_HOOK(uv_write)
int UV_NAME(uv_write)(uv_write_t *request, uv_stream_t *stream, const uv_buf_t buffers[],
	unsigned count, uv_write_cb callback)
{
	if (!UV_RECORD || callback == on_write || !ask_write(request, stream, callback))
		return UV_NEXT(uv_write)(request, stream, buffers, count, callback);
	weft__uv_count_written(weft__uv_size(buffers, count));
	return weft__uv_asked(request, UV_NEXT(uv_write)(request, stream, buffers, count, on_write));
}

UV_HOOK(uv_write2)
int UV_NAME(uv_write2)(uv_write_t *request, uv_stream_t *stream, const uv_buf_t buffers[],
	unsigned count, uv_stream_t *sent, uv_write_cb callback)
{
	if (!UV_RECORD || callback == on_write || !ask_write(request, stream, callback))
		return UV_NEXT(uv_write2)(request, stream, buffers, count, sent, callback);
	weft__uv_count_written(weft__uv_size(buffers, count));
	return weft__uv_asked(
		request, UV_NEXT(uv_write2)(request, stream, buffers, count, sent, on_write));
}

UV_HOOK(uv_try_write)
int UV_NAME(uv_try_write)(uv_stream_t *stream, const uv_buf_t buffers[], unsigned count)
{
	int result = UV_NEXT(uv_try_write)(stream, buffers, count);
	if (UV_RECORD && result > 0)
		weft__uv_count_written((size_t)result);
	return result;
}

UV_HOOK(uv_try_write2)
int UV_NAME(uv_try_write2)(
	uv_stream_t *stream, const uv_buf_t buffers[], unsigned count, uv_stream_t *sent)
{
	int result = UV_NEXT(uv_try_write2)(stream, buffers, count, sent);
	if (UV_RECORD && result > 0)
		weft__uv_count_written((size_t)result);
	return result;
}

/* ---- Connect ---- */

static void on_connect(uv_connect_t *request, int status)
{
	struct weft__hooks_run run = weft__uv_begin_request(request, status);
	request->cb = (uv_connect_cb)run.callback;
	if (run.callback)
		((uv_connect_cb)run.callback)(request, status);
	weft__hooks_return(&run);
}

static const char connect_word[] = "connect ";

/* `label`: "connect tcp 127.0.0.1:80"; the stream is called so from now on, without the first word.
 */
static bool ask_connect(uv_connect_t *request, const void *stream,
	const struct weft__hooks_text *label, uv_connect_cb callback)
{
	const size_t skipped = sizeof(connect_word) - 1;
	struct weft__hooks_subject *subject =
		weft__hooks_ask(request, (weft__hooks_callback)callback, weft_kind("connect"));
	struct weft__hooks_subject *other = weft__hooks_subject_put(stream);
	if (other)
		keep_name(other, label->bytes + skipped, label->size - skipped);
	if (subject)
		weft__hooks_subject_label(subject, label);
	return subject != NULL;
}

static bool ask_tcp_connect(
	uv_connect_t *request, uv_tcp_t *tcp, const struct sockaddr *address, uv_connect_cb callback)
{
	struct weft__hooks_text label = {0};
	int saved = weft__hooks_begin();
	weft__hooks_append(&label, connect_word);
	weft__hooks_append(&label, "tcp ");
	weft__uv_append_destination(&label, address);
	bool is_recorded = ask_connect(request, tcp, &label, callback);
	weft__hooks_end(saved);
	return is_recorded;
}

UV_HOOK(uv_tcp_connect)
int UV_NAME(uv_tcp_connect)(
	uv_connect_t *request, uv_tcp_t *tcp, const struct sockaddr *address, uv_connect_cb callback)
{
	if (!UV_RECORD || !address || callback == on_connect ||
		!ask_tcp_connect(request, tcp, address, callback))
		return UV_NEXT(uv_tcp_connect)(request, tcp, address, callback);
	return weft__uv_asked(request, UV_NEXT(uv_tcp_connect)(request, tcp, address, on_connect));
}

static bool ask_pipe_connect(
	uv_connect_t *request, uv_pipe_t *pipe, const char *path, uv_connect_cb callback)
{
	struct weft__hooks_text label = {0};
	int saved = weft__hooks_begin();
	weft__hooks_append(&label, connect_word);
	weft__hooks_append(&label, "pipe ");
	weft__hooks_append(&label, path);
	bool is_recorded = ask_connect(request, pipe, &label, callback);
	weft__hooks_end(saved);
	return is_recorded;
}

UV_HOOK(uv_pipe_connect)
void UV_NAME(uv_pipe_connect)(
	uv_connect_t *request, uv_pipe_t *pipe, const char *path, uv_connect_cb callback)
{
	bool is_recorded = UV_RECORD && path && callback != on_connect &&
					   ask_pipe_connect(request, pipe, path, callback);
	UV_NEXT(uv_pipe_connect)(request, pipe, path, is_recorded ? on_connect : callback);
}

/* ---- Listen ---- */

static void on_connection(uv_stream_t *server, int status)
{
	struct weft__hooks_run run = UV_BEGIN_HANDLE(server, "listen");
	((uv_connection_cb)run.callback)(server, status);
	weft__hooks_return(&run);
}

static void start_listen(uv_stream_t *server, struct weft__hooks_subject *subject)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, "listen ");
	weft__uv_append_socket(
		&text, weft__uv_type_name((uv_handle_t *)server), server->io_watcher.fd, true);
	weft__hooks_subject_label(subject, &text);
}

/* libuv gives a server its address in uv_listen at the latest: only then it has a name. */
UV_HOOK(uv_listen)
int UV_NAME(uv_listen)(uv_stream_t *server, int backlog, uv_connection_cb callback)
{
	struct weft__hooks_subject *subject =
		UV_RECORD && callback && callback != on_connection ? weft__hooks_subject_put(server) : NULL;
	int result = UV_NEXT(uv_listen)(server, backlog, subject ? on_connection : callback);
	if (!subject)
		return result;
	int saved = weft__hooks_begin();
	subject->callback = (weft__hooks_callback)callback;
	if (result == 0 && weft__hooks_start(subject, subject->callback, weft_kind("listen")))
		start_listen(server, subject);
	weft__hooks_end(saved);
	return result;
}

/* The new stream is another one than before, if its memory was used for one. */
UV_HOOK(uv_accept)
int UV_NAME(uv_accept)(uv_stream_t *server, uv_stream_t *client)
{
	int result = UV_NEXT(uv_accept)(server, client);
	struct weft__hooks_subject *subject =
		UV_RECORD && result == 0 ? weft__hooks_subject_find(client) : NULL;
	if (subject)
		subject->name[0] = '\0';
	return result;
}

/* ---- Shutdown ---- */

static void on_shutdown(uv_shutdown_t *request, int status)
{
	struct weft__hooks_run run = weft__uv_begin_request(request, status);
	request->cb = (uv_shutdown_cb)run.callback;
	if (run.callback)
		((uv_shutdown_cb)run.callback)(request, status);
	weft__hooks_return(&run);
}

static bool ask_shutdown(uv_shutdown_t *request, uv_stream_t *stream, uv_shutdown_cb callback)
{
	int saved = weft__hooks_begin();
	struct weft__hooks_subject *subject =
		weft__hooks_ask(request, (weft__hooks_callback)callback, weft_kind("shutdown"));
	if (subject) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, "shutdown ");
		append_name(&text, stream);
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
	return subject != NULL;
}

UV_HOOK(uv_shutdown)
int UV_NAME(uv_shutdown)(uv_shutdown_t *request, uv_stream_t *stream, uv_shutdown_cb callback)
{
	if (!UV_RECORD || callback == on_shutdown || !ask_shutdown(request, stream, callback))
		return UV_NEXT(uv_shutdown)(request, stream, callback);
	return weft__uv_asked(request, UV_NEXT(uv_shutdown)(request, stream, on_shutdown));
}
