/* SPDX-License-Identifier: ISC
 *
 * See errors.h. A task that is freed while it waits has failed: nothing can end it any more. An
 * exception that nobody retrieves is a remark on its task. Other errors, as those of callbacks, are
 * tasks that fail; so is a coroutine that is freed before anything has awaited it, and a call that
 * the documentation of asyncio forbids: from another thread than the loop's, or for another loop.
 */
#include "errors.h"

#include <string.h>

#include "dropped.h"
#include "entry.h"
#include "loops.h"
#include "quiet.h"

struct weft_python_misuses weft_python_misuses;

static PyObject *message_of_unawaited, *warn_original;

static bool begins_with(PyObject *text, const char *begin)
{
	const char *bytes = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
	return bytes && strncmp(bytes, begin, strlen(begin)) == 0;
}

static bool is_unretrieved(PyObject *message)
{
	return begins_with(message, "Task exception was never") ||
		   begins_with(message, "Future exception was never");
}

static void note_unretrieved(const struct weft_python_entry *entry)
{
	static const char text[] = "nobody has retrieved its exception";
	static uint64_t cache;
	weft_ffi_note(weft_python_asyncio(), 0, entry->id, text, sizeof(text) - 1, &cache);
}

static void add_failure(PyObject *message, PyObject *exception)
{
	struct weft_python_entry *entry = weft_python_entry_create(WEFT_KIND_TASK);
	if (!entry)
		return;
	weft_python_entry_label(entry, message);
	weft_python_entry_fail_by(entry, exception);
	Py_DECREF(&entry->ob_base);
}

static void see_error(PyObject *context)
{
	PyObject *message = PyDict_GetItemString(context, "message");
	PyObject *exception = PyDict_GetItemString(context, "exception");
	PyObject *task = PyDict_GetItemString(context, "task");
	PyObject *future = PyDict_GetItemString(context, "future");
	struct weft_python_entry *entry =
		task || future ? weft_python_entry_find(task ? task : future) : NULL;
	if (begins_with(message, "Task was destroyed")) {
		PyObject *text = PyUnicode_FromString("destroyed while it was pending");
		if (entry)
			weft_python_entry_fail(entry, text);
		Py_XDECREF(text);
	} else if (is_unretrieved(message)) {
		if (entry)
			note_unretrieved(entry);
	} else if (message && exception) {
		add_failure(message, exception);
	}
}

static PyObject *call_exception_handler(PyObject *loop, PyObject *context)
{
	PyObject *type, *value, *traceback;
	PyErr_Fetch(&type, &value, &traceback);
	if (PyDict_Check(context) && weft_python_loop_is_recorded(loop))
		see_error(context);
	weft_python_drop_error();
	PyErr_Restore(type, value, traceback);
	return PyObject_CallFunctionObjArgs(weft_python_exception.original, loop, context, NULL);
}

static void note_unawaited(PyObject *coroutine)
{
	PyObject *name = PyObject_GetAttrString(coroutine, "__qualname__");
	PyObject *message = name ? weft_python_call_quietly(message_of_unawaited, coroutine) : NULL;
	struct weft_python_entry *entry = message ? weft_python_entry_create(WEFT_KIND_TASK) : NULL;
	if (entry) {
		weft_python_entry_label(entry, name);
		weft_python_entry_fail(entry, message);
		Py_DECREF(&entry->ob_base);
	}
	Py_XDECREF(message);
	Py_XDECREF(name);
	weft_python_drop_error();
}

/* The interpreter calls it from the place where the coroutine is freed, and the warning is for the
 * innermost frame of Python there. */
static PyObject *warn_unawaited(PyObject *nothing, PyObject *coroutine)
{
	PyObject *type, *value, *traceback;
	(void)nothing;
	PyErr_Fetch(&type, &value, &traceback);
	if (weft_python_is_recording())
		note_unawaited(coroutine);
	PyErr_Restore(type, value, traceback);
	return PyObject_CallFunctionObjArgs(warn_original, coroutine, NULL);
}

/* ---- Calls that asyncio forbids ---- */

/* The message is a new reference, or NULL. */
static void add_misuse(PyObject *message)
{
	PyObject *label = message ? weft_python_call_quietly(weft_python_misuses.label, NULL) : NULL;
	struct weft_python_entry *entry = label ? weft_python_entry_create(WEFT_KIND_TASK) : NULL;
	if (entry) {
		weft_python_entry_label(entry, label);
		weft_python_entry_fail(entry, message);
		Py_DECREF(&entry->ob_base);
	}
	Py_XDECREF(label);
	Py_XDECREF(message);
	weft_python_drop_error();
}

/* True if another thread runs the loop. */
static bool is_run_elsewhere(PyObject *loop)
{
	PyObject *thread = PyObject_GetAttrString(loop, "_thread_id");
	const bool runs = thread && PyLong_Check(thread);
	const bool is = runs && PyLong_AsUnsignedLong(thread) != PyThread_get_thread_ident();
	Py_XDECREF(thread);
	weft_python_drop_error();
	return is;
}

/* call_soon_threadsafe() uses _call_soon() as well. */
static bool is_called_by_call_soon(void)
{
	PyFrameObject *frame = PyEval_GetFrame();
	PyObject *code = frame ? (PyObject *)(void *)PyFrame_GetCode(frame) : NULL;
	Py_XDECREF(code);
	return code && code == weft_python_misuses.call_soon;
}

void weft_python_see_caller(PyObject *loop)
{
	const bool is_own = weft_python_running && weft_python_running->loop == loop;
	if (!is_own && is_called_by_call_soon() && is_run_elsewhere(loop))
		add_misuse(weft_python_call_quietly(weft_python_misuses.message_of_stranger, NULL));
}

/* A lock, an event or a queue of asyncio belongs to the loop in which it was first waited for. */
static PyObject *get_loop(PyObject *object, PyObject *nothing)
{
	PyObject *type, *value, *traceback;
	PyObject *loop = PyObject_CallFunctionObjArgs(weft_python_get_loop.original, object, NULL);
	(void)nothing;
	if (loop || !weft_python_is_recording() || !PyErr_ExceptionMatches(PyExc_RuntimeError))
		return loop;
	PyErr_Fetch(&type, &value, &traceback);
	PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
	add_misuse(name ? PyUnicode_FromFormat("the %U belongs to another event loop", name) : NULL);
	Py_XDECREF(name);
	PyErr_Restore(type, value, traceback);
	return NULL;
}

bool weft_python_errors_init(PyObject *warnings, PyObject *message)
{
	static PyMethodDef definition = {"_warn_unawaited_coroutine", warn_unawaited, METH_O, NULL};
	message_of_unawaited = message;
	warn_original = PyObject_GetAttrString(warnings, definition.ml_name);
	if (!warn_original) {
		PyErr_Clear(); /* a later Python may have no such function */
		return true;
	}
	PyObject *function = PyCFunction_New(&definition, NULL);
	bool set = function && PyObject_SetAttrString(warnings, definition.ml_name, function) == 0;
	Py_XDECREF(function);
	return set;
}

/* The future for which the task waits ends because of the time. */
static PyObject *on_timeout(PyObject *timeout, PyObject *nothing)
{
	PyObject *task = weft_python_running ? PyObject_GetAttrString(timeout, "_task") : NULL;
	PyObject *future = task ? PyObject_GetAttrString(task, "_fut_waiter") : NULL;
	(void)nothing;
	if (future && future != Py_None)
		weft_python_running->timing_out = weft_python_entry_find(future);
	Py_XDECREF(task);
	Py_XDECREF(future);
	weft_python_drop_error();
	PyObject *result = PyObject_CallFunctionObjArgs(weft_python_on_timeout.original, timeout, NULL);
	if (weft_python_running)
		weft_python_running->timing_out = NULL;
	return result;
}

struct weft_python_method weft_python_exception = {"BaseEventLoop",
	{"call_exception_handler", call_exception_handler, METH_O,
		"call_exception_handler($self, context)\n--\n\nCall the current exception handler."},
	NULL};
struct weft_python_method weft_python_get_loop = {
	"LoopBound", {"_get_loop", get_loop, METH_NOARGS, NULL}, NULL};
struct weft_python_method weft_python_on_timeout = {
	"Timeout", {"_on_timeout", on_timeout, METH_NOARGS, NULL}, NULL};
