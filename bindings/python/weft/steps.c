/* SPDX-License-Identifier: ISC
 *
 * The callbacks that a loop runs: steps of tasks, and others.
 *
 * A task's step and its wake-up are objects that asyncio gives to _call_soon. Nothing else tells
 * when a future ends: but a future calls _call_soon for each of its callbacks right then, in the
 * task that ends it, and a future that a task waits for has one.
 */
#include "steps.h"

#include <string.h>

#include "dropped.h"
#include "entry.h"
#include "errors.h"
#include "locks.h"
#include "loops.h"
#include "results.h"
#include "wait.h"

static PyObject *step_type; /* of callbacks that are a task's step */
static PyCFunction wakeup;  /* the function of callbacks that are a task's wake-up */
static PyObject *callback_name, *arguments_name, *self_name, *waiter_name, *coroutine_name,
	*qualified_name, *code_name, *get_name;

/* ---- Tasks ---- */

/* The task whose step or wake-up this callback is: a new reference, or NULL. */
static PyObject *task_of(PyObject *callback)
{
	PyObject *task = NULL;
	if ((PyObject *)Py_TYPE(callback) == step_type)
		task = PyObject_GetAttr(callback, self_name);
	else if (PyCFunction_CheckExact(callback) && PyCFunction_GetFunction(callback) == wakeup)
		task = Py_XNewRef(PyCFunction_GetSelf(callback));
	if (!task)
		weft_python_drop_error();
	return task;
}

uint64_t weft_python_acting(void)
{
	return weft_python_running && weft_python_running->step ? weft_python_running->step->stands_for
															: weft_ffi_current();
}

static struct weft_python_entry *entry_of_task(PyObject *task)
{
	struct weft_python_entry *entry = weft_python_entry_find(task);
	return entry ? entry : weft_python_entry_add(task, WEFT_KIND_TASK);
}

/* Creates the entry of a task that was just made. If its coroutine takes a lock or an item, it does
 * so for the task that made it, as that of a wait_for() does. */
static void add_task(PyObject *task)
{
	struct weft_python_entry *entry = weft_python_entry_add(task, WEFT_KIND_TASK);
	PyObject *coroutine = entry ? PyObject_GetAttr(task, coroutine_name) : NULL;
	PyObject *code = coroutine ? PyObject_GetAttr(coroutine, code_name) : NULL;
	if (weft_python_wait_takes(code))
		entry->stands_for = weft_python_acting();
	if (entry && weft_python_running && weft_python_running->result)
		weft_python_result_waits_for(weft_python_running->result, entry);
	Py_XDECREF(coroutine);
	Py_XDECREF(code);
	weft_python_drop_error();
}

/* "name (coroutine)", or "coroutine (Task-1)" if nobody gave it a name; if the program says where
 * the coroutine begins, "name at crawl:12" or "coroutine at crawl:12". */
static PyObject *describe_task(PyObject *task)
{
	PyObject *name = PyObject_CallMethodObjArgs(task, get_name, NULL);
	PyObject *coroutine = PyObject_GetAttr(task, coroutine_name);
	PyObject *qualified = coroutine ? PyObject_GetAttr(coroutine, qualified_name) : NULL;
	PyObject *code = qualified ? PyObject_GetAttr(coroutine, code_name) : NULL;
	PyObject *text = NULL;
	const char *bytes = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
	weft_python_drop_error();
	if (bytes && qualified && PyUnicode_Check(qualified)) {
		const bool is_number = strncmp(bytes, "Task-", 5) == 0;
		PyObject *first = is_number ? qualified : name, *second = is_number ? name : qualified;
		text = code ? weft_python_wait_add_beginning(first, code) : NULL;
		text = text ? text : PyUnicode_FromFormat("%U (%U)", first, second);
	} else if (bytes) {
		text = Py_NewRef(name);
	}
	Py_XDECREF(name);
	Py_XDECREF(coroutine);
	Py_XDECREF(qualified);
	Py_XDECREF(code);
	return text;
}

/* Labels a task at its first step, when its creator has given it its name. */
static void label_task(struct weft_python_entry *entry, PyObject *task)
{
	PyObject *label = weft_ffi_is_enabled(weft_python_asyncio(), 0) ? describe_task(task) : NULL;
	weft_python_entry_label(entry, label);
	Py_XDECREF(label);
}

/* The task stopped at an `await`, or ended. */
static void leave_step(struct weft_python_entry *entry, PyObject *task)
{
	PyObject *future = PyObject_GetAttr(task, waiter_name);
	if (!future || future == Py_None) {
		weft_python_drop_error();
		weft_python_locks_see_end(entry);
		weft_python_entry_end(entry, task);
	} else if (weft_ffi_is_enabled(weft_python_asyncio(), 0)) {
		struct weft_python_entry *source = weft_python_entry_find(future);
		if (!source)
			source = weft_python_wait_add(task, future);
		if (source) {
			weft_ffi_try_read(weft_python_asyncio(), 0, entry->id, source->id);
			weft_python_entry_end(source, future); /* if the task was cancelled meanwhile */
		}
	}
	Py_XDECREF(future);
}

/* The first of a callback's arguments, if it is a future: borrowed, or NULL. */
static PyObject *future_among(PyObject *arguments)
{
	PyObject *first = arguments && PyTuple_Check(arguments) && PyTuple_Size(arguments)
						  ? PyTuple_GetItem(arguments, 0)
						  : NULL;
	return first && weft_python_is_future(first) ? first : NULL;
}

static void enter_step(
	struct weft_python_entry *entry, PyObject *task, PyObject *handle, bool is_wakeup)
{
	PyObject *arguments = is_wakeup ? PyObject_GetAttr(handle, arguments_name) : NULL;
	PyObject *future = future_among(arguments);
	struct weft_python_entry *source = future ? weft_python_entry_find(future) : NULL;
	if (!entry->has_label)
		label_task(entry, task);
	if (source)
		weft_ffi_read(weft_python_asyncio(), 0, entry->id, source->id);
	else
		weft_ffi_switch(entry->id);
	if (source)
		weft_python_lock_got(entry, source);
	Py_XDECREF(arguments);
	weft_python_drop_error();
}

/* ---- Callbacks ---- */

static PyObject *run_step(PyObject *handle, PyObject *callback, PyObject *task)
{
	PyObject *type, *value, *traceback;
	struct weft_python_entry *entry = entry_of_task(task);
	if (entry) {
		Py_INCREF(&entry->ob_base);
		enter_step(entry, task, handle, (PyObject *)Py_TYPE(callback) != step_type);
	}
	weft_python_running->step = entry;
	PyObject *result = PyObject_CallFunctionObjArgs(weft_python_run.original, handle, NULL);
	PyErr_Fetch(&type, &value, &traceback);
	weft_python_running->step = NULL;
	if (entry && weft_python_is_recording())
		leave_step(entry, task);
	if (entry)
		Py_DECREF(&entry->ob_base);
	weft_python_drop_error();
	PyErr_Restore(type, value, traceback);
	weft_python_loop_runs();
	return result;
}

/* A callback that ends a future when another one has ended: the former runs, as a task that reads
 * the latter. Returns its entry, with a reference. */
static struct weft_python_entry *enter_join(PyObject *handle, PyObject *callback)
{
	PyObject *arguments = PyObject_GetAttr(handle, arguments_name);
	PyObject *source = future_among(arguments);
	PyObject *target = source ? weft_python_wait_ended_by(callback) : NULL;
	struct weft_python_entry *found = source ? weft_python_entry_find(source) : NULL;
	struct weft_python_entry *joined =
		target && weft_python_is_future(target) ? weft_python_entry_find(target) : NULL;
	if (callback == weft_python_waits.release_waiter)
		weft_python_running->timing_out = found; /* its own argument is the future that it ends */
	if (!found || !joined || joined->has_ended)
		joined = NULL;
	else
		weft_ffi_read(weft_python_asyncio(), 0, joined->id, found->id);
	if (joined)
		Py_INCREF(&joined->ob_base);
	Py_XDECREF(target);
	Py_XDECREF(arguments);
	weft_python_drop_error();
	return joined;
}

static PyObject *run_other(PyObject *handle, PyObject *callback)
{
	struct weft_python_entry *joined = enter_join(handle, callback);
	weft_python_running->result = weft_python_result_of(callback);
	PyObject *result = PyObject_CallFunctionObjArgs(weft_python_run.original, handle, NULL);
	weft_python_running->timing_out = NULL;
	Py_CLEAR(weft_python_running->result);
	if (joined) {
		weft_python_loop_runs();
		Py_DECREF(&joined->ob_base);
	}
	return result;
}

static PyObject *handle_run(PyObject *handle, PyObject *nothing)
{
	(void)nothing;
	if (!weft_python_running || !weft_python_is_recording())
		return PyObject_CallFunctionObjArgs(weft_python_run.original, handle, NULL);
	PyObject *callback = PyObject_GetAttr(handle, callback_name);
	PyObject *task = callback ? task_of(callback) : NULL;
	PyObject *result;
	weft_python_drop_error();
	if (task)
		result = run_step(handle, callback, task);
	else if (callback)
		result = run_other(handle, callback);
	else
		result = PyObject_CallFunctionObjArgs(weft_python_run.original, handle, NULL);
	Py_XDECREF(task);
	Py_XDECREF(callback);
	return result;
}

/* True for the callback that copies the state of a future. */
static bool copies_state(PyObject *callback)
{
	if ((PyObject *)Py_TYPE(callback) != weft_python_waits.function_type)
		return false;
	PyObject *code = PyObject_GetAttrString(callback, "__code__");
	Py_XDECREF(code);
	return code && code == weft_python_waits.set_state;
}

static void end_future(PyObject *future)
{
	struct weft_python_entry *entry = weft_python_entry_find(future);
	if (entry && !entry->has_ended && weft_python_running &&
		weft_python_running->timing_out == entry) {
		weft_ffi_time_out(weft_python_asyncio(), 0, WEFT_TASK_CURRENT, entry->id);
		entry->has_ended = true;
	} else if (entry) {
		weft_python_locks_see_end(entry);
		weft_python_entry_end(entry, future);
	}
}

/* A thread that runs no loop gives a future of asyncio the value of one of concurrent.futures. */
static void see_copied(PyObject *callback, PyObject *arguments)
{
	struct weft_python_entry *entry = weft_python_entry_find(PyTuple_GetItem(arguments, 0));
	if (entry && PyTuple_Size(arguments) == 2 && copies_state(callback))
		weft_python_entry_end(entry, PyTuple_GetItem(arguments, 1));
}

/* The callback may be the first step of a new task, or that of a future that has just ended. */
static void see_scheduled(PyObject *loop, PyObject *callback, PyObject *arguments)
{
	weft_python_see_caller(loop);
	PyObject *task = task_of(callback), *future = future_among(arguments);
	PyObject *result = future || task ? NULL : weft_python_result_of(callback);
	if (result)
		weft_python_result_waits_for(result, weft_python_loop_entry(loop));
	if (future) {
		if (!weft_python_running)
			see_copied(callback, arguments);
		end_future(future);
	} else if (task && !weft_python_entry_find(task)) {
		weft_python_loop_entry(loop); /* so that it comes before its tasks */
		add_task(task);
	}
	Py_XDECREF(result);
	Py_XDECREF(task);
	weft_python_drop_error();
}

static PyObject *call_soon(
	PyObject *loop, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	PyObject *handle =
		count == 3 && !keywords
			? PyObject_CallFunctionObjArgs(weft_python_call_soon.original, loop, arguments[0],
				  arguments[1], arguments[2], NULL)
			: weft_python_forward(weft_python_call_soon.original, loop, arguments, count, keywords);
	if (handle && count >= 2 && weft_python_loop_is_recorded(loop))
		see_scheduled(loop, arguments[0], arguments[1]);
	return handle;
}

bool weft_python_steps_init(PyObject *step, PyObject *wakeup_callback)
{
	if (!PyCFunction_CheckExact(wakeup_callback)) {
		PyErr_SetString(
			PyExc_RuntimeError, "tasks of this Python have wake-ups of an unknown type");
		return false;
	}
	step_type = Py_NewRef((PyObject *)Py_TYPE(step));
	wakeup = PyCFunction_GetFunction(wakeup_callback);
	return weft_python_intern(&callback_name, "_callback") &&
		   weft_python_intern(&arguments_name, "_args") &&
		   weft_python_intern(&self_name, "__self__") &&
		   weft_python_intern(&waiter_name, "_fut_waiter") &&
		   weft_python_intern(&coroutine_name, "_coro") &&
		   weft_python_intern(&qualified_name, "__qualname__") &&
		   weft_python_intern(&code_name, "cr_code") && weft_python_intern(&get_name, "get_name");
}

struct weft_python_method weft_python_run = {
	"Handle", {"_run", handle_run, METH_NOARGS, NULL}, NULL};
struct weft_python_method weft_python_call_soon = {"BaseEventLoop",
	{"_call_soon", WEFT_PYTHON_FUNCTION(call_soon), METH_FASTCALL | METH_KEYWORDS, NULL}, NULL};
