/* SPDX-License-Identifier: ISC
 *
 * Requests for files, which libuv's threads do. A call without a callback is done at once, on the
 * calling thread, and is no request: nothing is recorded.
 */
#include "uv/adapter.h"

/* The object of a request: a path, or the number of an open file. */
struct about {
	const char *path;
	int64_t file; /* -1: none */
};

static void count_bytes(const uv_fs_t *request)
{
	if (request->result <= 0)
		return;
	if (request->fs_type == UV_FS_READ)
		weft_counter_add("file bytes read", (int64_t)request->result);
	else if (request->fs_type == UV_FS_WRITE || request->fs_type == UV_FS_SENDFILE)
		weft_counter_add("file bytes written", (int64_t)request->result);
}

static void on_fs(uv_fs_t *request)
{
	struct weft__hooks_run run =
		weft__uv_begin_request(request, request->result < 0 ? (int)request->result : 0);
	request->cb = (uv_fs_cb)run.callback;
	if (run.task != WEFT_TASK_NONE)
		count_bytes(request);
	((uv_fs_cb)run.callback)(request);
	weft__hooks_return(&run);
}

static bool ask(uv_fs_t *request, uv_fs_cb callback, const char *word, struct about about)
{
	int saved = weft__hooks_begin();
	struct weft__hooks_subject *subject =
		weft__hooks_ask(request, (weft__hooks_callback)callback, weft_kind("fs"));
	if (subject) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, word);
		if (about.path) {
			weft__hooks_append(&text, " ");
			weft__hooks_append(&text, about.path);
		} else if (about.file >= 0) {
			weft__hooks_append(&text, " fd ");
			weft__hooks_append_number(&text, about.file);
		}
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
	return subject != NULL;
}

#define PATH(path) ((struct about){path, -1})
#define FILE(file) ((struct about){NULL, file})
#define NOTHING    ((struct about){NULL, -1})
#define CALL(name, about, parameters, arguments)                                                  \
	UV_HOOK(uv_fs_##name)                                                                         \
	int UV_NAME(uv_fs_##name)(uv_loop_t * loop, uv_fs_t * request, parameters, uv_fs_cb callback) \
	{                                                                                             \
		if (!callback || !UV_RECORD || callback == on_fs ||                                       \
			!ask(request, callback, "fs " #name, about))                                          \
			return UV_NEXT(uv_fs_##name)(loop, request, arguments, callback);                     \
		return weft__uv_asked(request, UV_NEXT(uv_fs_##name)(loop, request, arguments, on_fs));   \
	}
#include "uv/fs_calls.def"
