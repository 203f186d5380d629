/* SPDX-License-Identifier: ISC
 *
 * Jobs of thread pools, and garbage collections.
 */
#include "jobs.h"

#include <time.h>

#include "entry.h"

/* Shorter garbage collections are left out: there are many, of some microseconds. */
#define GC_MIN_NS 100000

static PyObject *label_of_job, *future_name;
static long pending; /* jobs that have not ended */

bool weft_python_jobs_pending(void)
{
	return pending > 0;
}

static PyObject *job_init(
	PyObject *job, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	PyObject *result =
		weft_python_forward(weft_python_job_init.original, job, arguments, count, keywords);
	pending += result != NULL;
	if (!result || !weft_ffi_is_enabled(weft_python_asyncio(), 0))
		return result;
	struct weft_python_entry *entry = weft_python_entry_add(job, WEFT_KIND_TASK);
	PyObject *label = entry ? PyObject_CallFunctionObjArgs(label_of_job, job, NULL) : NULL;
	PyErr_Clear();
	if (label)
		weft_python_entry_label(entry, label);
	Py_XDECREF(label);
	return result;
}

static PyObject *run_job(PyObject *job)
{
	struct weft_python_entry *entry = weft_ffi_is_recording() ? weft_python_entry_find(job) : NULL;
	PyObject *type, *value, *traceback;
	if (!entry)
		return PyObject_CallFunctionObjArgs(weft_python_job_run.original, job, NULL);
	uint64_t before = weft_ffi_current();
	Py_INCREF(&entry->ob_base);
	weft_ffi_switch(entry->id);
	PyObject *result = PyObject_CallFunctionObjArgs(weft_python_job_run.original, job, NULL);
	PyErr_Fetch(&type, &value, &traceback);
	PyObject *future = PyObject_GetAttr(job, future_name);
	if (future)
		weft_python_entry_end(entry, future);
	Py_XDECREF(future);
	Py_DECREF(&entry->ob_base);
	PyErr_Clear();
	PyErr_Restore(type, value, traceback);
	weft_ffi_switch(before);
	return result;
}

static PyObject *job_run(PyObject *job, PyObject *nothing)
{
	(void)nothing;
	PyObject *result = run_job(job);
	pending--;
	return result;
}

/* ---- Garbage collection ---- */

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* gc.callbacks: (phase, info) */
static PyObject *collected(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
	static _Thread_local uint64_t begin;
	(void)module;
	if (count < 1 || !PyUnicode_Check(arguments[0]))
		Py_RETURN_NONE;
	if (PyUnicode_CompareWithASCIIString(arguments[0], "start") == 0) {
		begin = now_ns();
	} else if (begin) {
		uint64_t duration = now_ns() - begin;
		begin = 0;
		if (duration >= GC_MIN_NS)
			weft_ffi_gc(duration);
	}
	Py_RETURN_NONE;
}

static PyMethodDef collected_definition = {
	"collected", WEFT_PYTHON_FUNCTION(collected), METH_FASTCALL, NULL};

PyObject *weft_python_collector(void)
{
	return PyCFunction_New(&collected_definition, NULL);
}

bool weft_python_jobs_init(PyObject *label)
{
	label_of_job = Py_NewRef(label);
	return weft_python_intern(&future_name, "future");
}

struct weft_python_method weft_python_job_init = {"WorkItem",
	{"__init__", WEFT_PYTHON_FUNCTION(job_init), METH_FASTCALL | METH_KEYWORDS, NULL}, NULL};
struct weft_python_method weft_python_job_run = {
	"WorkItem", {"run", job_run, METH_NOARGS, NULL}, NULL};
