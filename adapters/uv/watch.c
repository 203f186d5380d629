/* SPDX-License-Identifier: ISC
 *
 * Handles that watch something outside: descriptors, signals, files, child processes.
 */
#include "uv/adapter.h"

static bool start(
	void *handle, weft__hooks_callback callback, struct weft__hooks_text *label, uint16_t kind)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(handle);
	if (!subject)
		return false;
	int saved = weft__hooks_begin();
	if (weft__hooks_start(subject, callback, kind))
		weft__hooks_label_callback(subject, callback, label);
	weft__hooks_end(saved);
	return true;
}

/* A start that libuv refuses has no callback. Returns `result`. */
static int started(const void *handle, int result)
{
	if (result < 0)
		weft__hooks_cancel(handle);
	return result;
}

/* ---- Descriptors ---- */

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct weft__hooks_run run = UV_BEGIN_HANDLE(handle, "poll");
	((uv_poll_cb)run.callback)(handle, status, events);
	weft__hooks_return(&run);
}

static bool start_poll(uv_poll_t *handle, uv_poll_cb callback)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, "poll fd ");
	weft__hooks_append_number(&text, handle->io_watcher.fd);
	return start(handle, (weft__hooks_callback)callback, &text, weft_kind("poll"));
}

UV_HOOK(uv_poll_start)
int UV_NAME(uv_poll_start)(uv_poll_t *handle, int events, uv_poll_cb callback)
{
	if (!UV_RECORD || !callback || callback == on_poll || !start_poll(handle, callback))
		return UV_NEXT(uv_poll_start)(handle, events, callback);
	return started(handle, UV_NEXT(uv_poll_start)(handle, events, on_poll));
}

UV_HOOK(uv_poll_stop)
int UV_NAME(uv_poll_stop)(uv_poll_t *handle)
{
	if (UV_RECORD)
		weft__hooks_cancel(handle);
	return UV_NEXT(uv_poll_stop)(handle);
}

/* ---- Signals ---- */

static void on_signal(uv_signal_t *handle, int number)
{
	struct weft__hooks_run run = UV_BEGIN_HANDLE(handle, "signal");
	((uv_signal_cb)run.callback)(handle, number);
	weft__hooks_return(&run);
}

static void on_signal_once(uv_signal_t *handle, int number)
{
	struct weft__hooks_run run = UV_BEGIN_LAST(handle, "signal");
	((uv_signal_cb)run.callback)(handle, number);
	weft__hooks_return(&run);
}

static bool start_signal(uv_signal_t *handle, uv_signal_cb callback, int number)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append_signal(&text, number);
	return start(handle, (weft__hooks_callback)callback, &text, weft_kind("signal"));
}

UV_HOOK(uv_signal_start)
int UV_NAME(uv_signal_start)(uv_signal_t *handle, uv_signal_cb callback, int number)
{
	if (!UV_RECORD || !callback || callback == on_signal || callback == on_signal_once ||
		!start_signal(handle, callback, number))
		return UV_NEXT(uv_signal_start)(handle, callback, number);
	return started(handle, UV_NEXT(uv_signal_start)(handle, on_signal, number));
}

UV_HOOK(uv_signal_start_oneshot)
int UV_NAME(uv_signal_start_oneshot)(uv_signal_t *handle, uv_signal_cb callback, int number)
{
	if (!UV_RECORD || !callback || callback == on_signal || callback == on_signal_once ||
		!start_signal(handle, callback, number))
		return UV_NEXT(uv_signal_start_oneshot)(handle, callback, number);
	return started(handle, UV_NEXT(uv_signal_start_oneshot)(handle, on_signal_once, number));
}

UV_HOOK(uv_signal_stop)
int UV_NAME(uv_signal_stop)(uv_signal_t *handle)
{
	if (UV_RECORD)
		weft__hooks_cancel(handle);
	return UV_NEXT(uv_signal_stop)(handle);
}

/* ---- Files ---- */

static bool start_file(
	void *handle, weft__hooks_callback callback, const char *word, const char *path)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, word);
	weft__hooks_append_copy(&text, path);
	return start(handle, callback, &text, weft_kind("file"));
}

static void on_fs_event(uv_fs_event_t *handle, const char *name, int events, int status)
{
	struct weft__hooks_run run = UV_BEGIN_HANDLE(handle, "fs_event");
	((uv_fs_event_cb)run.callback)(handle, name, events, status);
	weft__hooks_return(&run);
}

UV_HOOK(uv_fs_event_start)
int UV_NAME(uv_fs_event_start)(
	uv_fs_event_t *handle, uv_fs_event_cb callback, const char *path, unsigned flags)
{
	if (!UV_RECORD || !callback || callback == on_fs_event ||
		!start_file(handle, (weft__hooks_callback)callback, "fs_event ", path))
		return UV_NEXT(uv_fs_event_start)(handle, callback, path, flags);
	return started(handle, UV_NEXT(uv_fs_event_start)(handle, on_fs_event, path, flags));
}

UV_HOOK(uv_fs_event_stop)
int UV_NAME(uv_fs_event_stop)(uv_fs_event_t *handle)
{
	if (UV_RECORD)
		weft__hooks_cancel(handle);
	return UV_NEXT(uv_fs_event_stop)(handle);
}

static void on_fs_poll(
	uv_fs_poll_t *handle, int status, const uv_stat_t *before, const uv_stat_t *now)
{
	struct weft__hooks_run run = UV_BEGIN_HANDLE(handle, "fs_poll");
	((uv_fs_poll_cb)run.callback)(handle, status, before, now);
	weft__hooks_return(&run);
}

UV_HOOK(uv_fs_poll_start)
int UV_NAME(uv_fs_poll_start)(
	uv_fs_poll_t *handle, uv_fs_poll_cb callback, const char *path, unsigned interval)
{
	if (!UV_RECORD || !callback || callback == on_fs_poll ||
		UV_PLAIN(uv_is_active)((uv_handle_t *)handle) ||
		!start_file(handle, (weft__hooks_callback)callback, "fs_poll ", path))
		return UV_NEXT(uv_fs_poll_start)(handle, callback, path, interval);
	weft__hooks_thread.inside = HOOKS_HERE; /* libuv asks for the file by a request and a timer */
	int result = UV_NEXT(uv_fs_poll_start)(handle, on_fs_poll, path, interval);
	weft__hooks_thread.inside = 0;
	return started(handle, result);
}

UV_HOOK(uv_fs_poll_stop)
int UV_NAME(uv_fs_poll_stop)(uv_fs_poll_t *handle)
{
	if (UV_RECORD)
		weft__hooks_cancel(handle);
	return UV_NEXT(uv_fs_poll_stop)(handle);
}

/* ---- Processes ---- */

static void receive_exit(const uv_process_t *process)
{
	uint64_t task = weft__hooks_subject_task(process);
	if (task == WEFT_TASK_NONE || !weft_enabled(WEFT_LEVEL_INFO))
		return;
	int saved = weft__hooks_begin();
	weft_receive_as(task, weft__hooks_key(WEFT__HOOKS_EXITS, (uint64_t)process->pid));
	weft__hooks_end(saved);
}

static void on_exit_of_child(uv_process_t *process, int64_t status, int signal)
{
	receive_exit(process);
	struct weft__hooks_run run = UV_BEGIN_LAST(process, "process");
	if (run.task != WEFT_TASK_NONE)
		weft_mark("exit", "status", status, "signal", signal);
	process->exit_cb = (uv_exit_cb)run.callback;
	((uv_exit_cb)run.callback)(process, status, signal);
	weft__hooks_return(&run);
}

/* libuv leaves the arguments to the kernel, in the child. */
static void append_arguments(struct weft__hooks_text *text, char *const arguments[])
{
	char *argument;
	for (int i = 0; arguments && text->size < sizeof(text->bytes); i++) {
		if (!weft__hooks_copy(&argument, &arguments[i], sizeof(argument)) || !argument)
			return;
		weft__hooks_append(text, i ? " " : "");
		weft__hooks_append_copy(text, argument);
	}
}

static WEFT__OWN_FRAME bool start_process(
	uv_process_t *process, const uv_process_options_t *options)
{
	struct weft__hooks_text text = {0};
	weft__hooks_subject_forget(process); /* uv_spawn initializes the handle */
	weft__hooks_append(&text, "process ");
	append_arguments(&text, options->args);
	return start(process, (weft__hooks_callback)options->exit_cb, &text, weft_kind("process"));
}

/* If it fails, the handle is initialized nevertheless, and the program closes it. */
UV_HOOK(uv_spawn)
int UV_NAME(uv_spawn)(uv_loop_t *loop, uv_process_t *process, const uv_process_options_t *options)
{
	if (!UV_RECORD || !options->exit_cb || !start_process(process, options))
		return UV_NEXT(uv_spawn)(loop, process, options);
	uv_process_options_t ours = *options;
	ours.exit_cb = on_exit_of_child;
	weft__hooks_thread.inside = HOOKS_HERE; /* libuv waits for SIGCHLD by a handle of its own */
	int result = UV_NEXT(uv_spawn)(loop, process, &ours);
	weft__hooks_thread.inside = 0;
	return started(process, result);
}
