/* SPDX-License-Identifier: ISC
 *
 * GTask: made by the task that begins an operation, run by a thread of GLib's if the program says
 * so, ended where its value is returned, and read where that is taken.
 *
 * GLib's own operations make theirs without a call that is seen here.
 */
#include <stdarg.h>

#include "glib/adapter.h"

static void make(GTask *task, weft__hooks_callback callback)
{
	weft__hooks_subject_forget(task); /* another one had this address */
	int saved = weft__hooks_begin();
	struct weft__hooks_subject *subject = weft__hooks_ask(task, callback, weft_kind("gtask"));
	if (subject) {
		struct weft__hooks_text text = {0};
		weft__hooks_append(&text, "task");
		weft__hooks_append_callback(&text, callback);
		weft__hooks_subject_label(subject, &text);
	}
	weft__hooks_end(saved);
}

HOOK(g_task_new)
GTask *g_task_new(
	gpointer object, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data)
{
	GTask *task = GIO_NEXT(g_task_new)(object, cancellable, callback, data);
	if (HOOKS_RECORD && task)
		make(task, (weft__hooks_callback)callback);
	return task;
}

/* ---- In a thread ---- */

static void on_thread(GTask *task, gpointer object, gpointer data, GCancellable *cancellable)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_find(task);
	GTaskThreadFunc function = (GTaskThreadFunc)subject->second;
	struct weft__hooks_run run =
		weft__hooks_begin_handle(task, weft_enabled(WEFT_LEVEL_INFO) ? "task" : NULL);
	function(task, object, data, cancellable);
	weft__hooks_return(&run);
}

static bool swap(GTask *task, GTaskThreadFunc function)
{
	struct weft__hooks_subject *subject = HOOKS_RECORD ? weft__hooks_subject_find(task) : NULL;
	if (subject)
		subject->second = (weft__hooks_callback)function;
	return subject != NULL;
}

HOOK(g_task_run_in_thread)
void g_task_run_in_thread(GTask *task, GTaskThreadFunc function)
{
	GIO_NEXT(g_task_run_in_thread)(task, swap(task, function) ? on_thread : function);
}

HOOK(g_task_run_in_thread_sync)
void g_task_run_in_thread_sync(GTask *task, GTaskThreadFunc function)
{
	GIO_NEXT(g_task_run_in_thread_sync)(task, swap(task, function) ? on_thread : function);
}

/* ---- Values ---- */

static void end(GTask *task, const char *error)
{
	struct weft__hooks_subject *subject = HOOKS_RECORD ? weft__hooks_subject_find(task) : NULL;
	if (!subject || subject->epoch != weft__hooks_epoch())
		return;
	int saved = weft__hooks_begin();
	if (error)
		weft_fail(subject->task, error);
	else
		weft_resolve(subject->task);
	weft__hooks_end(saved);
}

HOOK(g_task_return_pointer)
void g_task_return_pointer(GTask *task, gpointer value, GDestroyNotify notify)
{
	end(task, NULL);
	GIO_NEXT(g_task_return_pointer)(task, value, notify);
}

HOOK(g_task_return_boolean)
void g_task_return_boolean(GTask *task, gboolean value)
{
	end(task, NULL);
	GIO_NEXT(g_task_return_boolean)(task, value);
}

HOOK(g_task_return_int)
void g_task_return_int(GTask *task, gssize value)
{
	end(task, NULL);
	GIO_NEXT(g_task_return_int)(task, value);
}

HOOK(g_task_return_value)
void g_task_return_value(GTask *task, GValue *value)
{
	end(task, NULL);
	GIO_NEXT(g_task_return_value)(task, value);
}

static void cancel(GTask *task)
{
	struct weft__hooks_subject *subject = HOOKS_RECORD ? weft__hooks_subject_find(task) : NULL;
	if (!subject || subject->epoch != weft__hooks_epoch())
		return;
	int saved = weft__hooks_begin();
	weft_cancel(subject->task);
	weft__hooks_end(saved);
}

/* As the others, it is recorded before the call: the callback may come at once, in another thread.
 */
HOOK(g_task_return_error_if_cancelled)
gboolean g_task_return_error_if_cancelled(GTask *task)
{
	GCancellable *cancellable = task ? GIO_NEXT(g_task_get_cancellable)(task) : NULL;
	bool is_cancelled = cancellable && GIO_NEXT(g_cancellable_is_cancelled)(cancellable);
	if (is_cancelled)
		cancel(task);
	gboolean has_returned = GIO_NEXT(g_task_return_error_if_cancelled)(task);
	if (has_returned && !is_cancelled)
		cancel(task);
	return has_returned;
}

HOOK(g_task_return_error)
void g_task_return_error(GTask *task, GError *error)
{
	end(task, error ? error->message : "no error");
	GIO_NEXT(g_task_return_error)(task, error);
}

HOOK(g_task_return_new_error)
void g_task_return_new_error(GTask *task, GQuark domain, gint code, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	GError *error = GLIB_NEXT(g_error_new_valist)(domain, code, format, values);
	va_end(values);
	end(task, error->message);
	GIO_NEXT(g_task_return_error)(task, error);
}

/* ---- Taking the value ---- */

static void take_task(GTask *task)
{
	struct weft__hooks_subject *subject = HOOKS_RECORD ? weft__hooks_subject_find(task) : NULL;
	if (!subject || subject->epoch != weft__hooks_epoch())
		return;
	int saved = weft__hooks_begin();
	weft_read_later(subject->task);
	weft__hooks_subject_forget(task);
	weft__hooks_end(saved);
}

HOOK(g_task_propagate_pointer)
gpointer g_task_propagate_pointer(GTask *task, GError **error)
{
	take_task(task);
	return GIO_NEXT(g_task_propagate_pointer)(task, error);
}

HOOK(g_task_propagate_boolean)
gboolean g_task_propagate_boolean(GTask *task, GError **error)
{
	take_task(task);
	return GIO_NEXT(g_task_propagate_boolean)(task, error);
}

HOOK(g_task_propagate_int)
gssize g_task_propagate_int(GTask *task, GError **error)
{
	take_task(task);
	return GIO_NEXT(g_task_propagate_int)(task, error);
}

HOOK(g_task_propagate_value)
gboolean g_task_propagate_value(GTask *task, GValue *value, GError **error)
{
	take_task(task);
	return GIO_NEXT(g_task_propagate_value)(task, value, error);
}
