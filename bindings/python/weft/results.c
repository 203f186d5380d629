/* SPDX-License-Identifier: ISC
 *
 * See results.h. A future remembers in its dictionary what it waits for: the loop, until that has
 * made the task, and then the task; or the job of a thread pool. Events are written only by a
 * thread that runs a loop or a job, since other threads may block.
 *
 * While the thread blocks, it has no current task, so that what adapters record of the call is not
 * taken for another wait of the caller.
 */
#include "results.h"

#include "dropped.h"
#include "entry.h"
#include "jobs.h"
#include "loops.h"
#include "quiet.h"
#include "wait.h"

static PyObject *threadsafe_code, *label_of_result, *source_name, *state_name;

bool weft_python_results_init(PyObject *code, PyObject *label)
{
	threadsafe_code = code;
	label_of_result = label;
	return weft_python_intern(&source_name, "_weft_source") &&
		   weft_python_intern(&state_name, "_state");
}

PyObject *weft_python_result_of(PyObject *callback)
{
	if ((PyObject *)Py_TYPE(callback) != weft_python_waits.function_type)
		return NULL;
	PyObject *code = PyObject_GetAttrString(callback, "__code__");
	bool is_one = code && code == threadsafe_code;
	Py_XDECREF(code);
	weft_python_drop_error();
	return is_one ? weft_python_wait_ended_by(callback) : NULL;
}

void weft_python_result_waits_for(PyObject *future, const struct weft_python_entry *source)
{
	PyObject *dictionary = PyObject_GenericGetDict(future, NULL);
	if (dictionary && source)
		(void)PyDict_SetItem(dictionary, source_name, (PyObject *)(uintptr_t)source);
	Py_XDECREF(dictionary);
	weft_python_drop_error();
}

/* An object of the future's dictionary: a new reference, or NULL. */
static PyObject *get(PyObject *future, PyObject *name)
{
	PyObject *dictionary = PyObject_GenericGetDict(future, NULL);
	PyObject *found = dictionary ? Py_XNewRef(PyDict_GetItemWithError(dictionary, name)) : NULL;
	Py_XDECREF(dictionary);
	weft_python_drop_error();
	return found;
}

struct weft_python_entry *weft_python_result_source(PyObject *future)
{
	return (struct weft_python_entry *)(void *)get(future, source_name);
}

static bool is_pending(PyObject *future)
{
	PyObject *state = get(future, state_name);
	bool is = state && PyUnicode_Check(state) &&
			  (PyUnicode_CompareWithASCIIString(state, "PENDING") == 0 ||
				  PyUnicode_CompareWithASCIIString(state, "RUNNING") == 0);
	Py_XDECREF(state);
	return is;
}

/* Returns the join, a new reference; NULL: it cannot be recorded. */
static struct weft_python_entry *begin_wait(const struct weft_python_entry *source, uint64_t task)
{
	struct weft_category *category = weft_python_asyncio();
	struct weft_python_entry *join = weft_python_entry_create(WEFT_KIND_JOIN);
	PyObject *label = join ? weft_python_call_quietly(label_of_result, NULL) : NULL;
	if (!join)
		return NULL;
	weft_python_entry_label(join, label);
	Py_XDECREF(label);
	weft_ffi_try_read(category, 0, join->id, source->id);
	weft_ffi_try_read(category, 0, task, join->id);
	if (weft_python_running)
		weft_ffi_try_read(category, 0, weft_python_loop_id(), task);
	return join;
}

/* The join reads the task that the loop has made, and the caller goes on. */
static void end_wait(PyObject *future, struct weft_python_entry *join, uint64_t task)
{
	struct weft_python_entry *source = weft_python_result_source(future);
	if (!is_pending(future) && source)
		weft_ffi_read(weft_python_asyncio(), 0, join->id, source->id);
	weft_python_entry_end(join, future);
	if (join->has_ended)
		weft_ffi_read(weft_python_asyncio(), 0, task, join->id);
	else
		weft_ffi_switch(task); /* the call has timed out */
	Py_XDECREF((PyObject *)source);
}

static PyObject *block(PyObject *future, struct weft_python_entry *join, uint64_t task,
	PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	static uint64_t cache;
	static const char reason[] = "Future.result";
	PyObject *type, *value, *traceback;
	weft_ffi_switch(WEFT_TASK_NONE);
	weft_ffi_band_begin(WEFT_BAND_IDLE, reason, sizeof(reason) - 1, &cache);
	PyObject *result =
		weft_python_forward(weft_python_result.original, future, arguments, count, keywords);
	weft_ffi_band_end(WEFT_BAND_IDLE, reason, sizeof(reason) - 1, &cache);
	PyErr_Fetch(&type, &value, &traceback);
	end_wait(future, join, task);
	weft_python_drop_error();
	PyErr_Restore(type, value, traceback);
	return result;
}

static PyObject *future_result(
	PyObject *future, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	bool may_block = (weft_python_running || weft_python_runs_job()) &&
					 weft_python_is_recording() && is_pending(future);
	struct weft_python_entry *source = may_block ? weft_python_result_source(future) : NULL;
	uint64_t task = source ? weft_ffi_current() : WEFT_TASK_NONE;
	struct weft_python_entry *join = task != WEFT_TASK_NONE ? begin_wait(source, task) : NULL;
	PyObject *result =
		join ? block(future, join, task, arguments, count, keywords)
			 : weft_python_forward(weft_python_result.original, future, arguments, count, keywords);
	Py_XDECREF((PyObject *)join);
	Py_XDECREF((PyObject *)source);
	return result;
}

struct weft_python_method weft_python_result = {"ConcurrentFuture",
	{"result", WEFT_PYTHON_FUNCTION(future_result), METH_FASTCALL | METH_KEYWORDS,
		"Return the result of the call that the future represents."},
	NULL};
