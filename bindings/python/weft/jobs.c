/* SPDX-License-Identifier: ISC
 *
 * Jobs of thread pools, and garbage collections.
 */
#include "jobs.h"

#include <limits.h>
#include <time.h>

#include "dropped.h"
#include "entry.h"
#include "holders.h"
#include "quiet.h"
#include "results.h"

/* Shorter garbage collections are left out: there are many, of some microseconds. */
#define GC_MIN_NS 100000

static PyObject *label_of_job, *label_of_pool, *future_name, *pool_name, *threads_name;
static long pending;                     /* jobs that have not ended */
static _Thread_local PyObject *executor; /* to which this thread submits a job now, or NULL */
static _Thread_local bool runs_job;

bool weft_python_jobs_pending(void)
{
	return pending > 0;
}

bool weft_python_runs_job(void)
{
	return runs_job;
}

/* ---- Pools ---- */

/* An executor has as many threads as this at most; 0: unknown. */
static long threads_of(PyObject *pool)
{
	PyObject *count = PyObject_GetAttr(pool, threads_name);
	long threads = count && PyLong_Check(count) ? PyLong_AsLong(count) : 0;
	Py_XDECREF(count);
	weft_python_drop_error();
	return threads;
}

/* The jobs that run in the executor, borrowed; NULL: it cannot be recorded. */
static struct weft_python_holders *holders_of(PyObject *pool)
{
	PyObject *dictionary = PyObject_GenericGetDict(pool, NULL);
	struct weft_python_holders *holders =
		dictionary ? weft_python_holders_of(dictionary, WEFT_KIND_POOL) : NULL;
	if (holders && !holders->label)
		holders->label = weft_python_call_quietly(label_of_pool, pool);
	Py_XDECREF(dictionary);
	weft_python_drop_error();
	return holders;
}

/* The job waits for a thread if all have one. It keeps the pool's holders. */
static void wait_for_thread(PyObject *job, const struct weft_python_entry *entry)
{
	PyObject *dictionary = PyObject_GenericGetDict(job, NULL);
	struct weft_python_holders *holders = holders_of(executor);
	const struct weft_python_entry *pool = NULL;
	if (holders && dictionary && PyDict_SetItem(dictionary, pool_name, (PyObject *)holders) == 0 &&
		holders->wanted++ >= (size_t)threads_of(executor))
		pool = weft_python_holders_entry(holders);
	if (pool)
		weft_ffi_try_read(weft_python_asyncio(), 0, entry->id, pool->id);
	Py_XDECREF(dictionary);
	weft_python_drop_error();
}

/* The holders of the job's pool: a new reference, or NULL. */
static struct weft_python_holders *pool_of(PyObject *job)
{
	PyObject *dictionary = PyObject_GenericGetDict(job, NULL);
	PyObject *found = dictionary ? PyDict_GetItemWithError(dictionary, pool_name) : NULL;
	Py_XINCREF(found);
	Py_XDECREF(dictionary);
	weft_python_drop_error();
	return (struct weft_python_holders *)(void *)found;
}

static void take_thread(struct weft_python_holders *pool, uint64_t job)
{
	if (!pool)
		return;
	weft_python_holders_add(pool, job);
	if (pool->entry)
		weft_ffi_acquire(weft_python_asyncio(), 0, job, pool->entry->id);
}

static void give_thread(struct weft_python_holders *pool, uint64_t job)
{
	if (!pool)
		return;
	pool->wanted--;
	(void)weft_python_holders_remove(pool, job);
	if (pool->entry)
		weft_ffi_release(weft_python_asyncio(), 0, job, pool->entry->id);
	Py_DECREF(&pool->ob_base);
}

static PyObject *submit(
	PyObject *pool, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	PyObject *before = executor;
	executor = pool;
	PyObject *future =
		weft_python_forward(weft_python_submit.original, pool, arguments, count, keywords);
	executor = before;
	return future;
}

/* ---- Jobs ---- */

static void add_job(PyObject *job, PyObject *future)
{
	struct weft_python_entry *entry = weft_python_entry_add(job, WEFT_KIND_TASK);
	PyObject *label = entry ? weft_python_call_quietly(label_of_job, job) : NULL;
	weft_python_drop_error();
	if (label)
		weft_python_entry_label(entry, label);
	Py_XDECREF(label);
	if (entry && future)
		weft_python_result_waits_for(future, entry);
	if (entry && executor)
		wait_for_thread(job, entry);
}

static PyObject *job_init(
	PyObject *job, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	PyObject *result =
		weft_python_forward(weft_python_job_init.original, job, arguments, count, keywords);
	pending += result != NULL;
	if (result && weft_ffi_is_enabled(weft_python_asyncio(), 0))
		add_job(job, count ? arguments[0] : NULL);
	return result;
}

static PyObject *run_job(PyObject *job)
{
	struct weft_python_entry *entry = weft_ffi_is_recording() ? weft_python_entry_find(job) : NULL;
	PyObject *type, *value, *traceback;
	if (!entry)
		return PyObject_CallFunctionObjArgs(weft_python_job_run.original, job, NULL);
	struct weft_python_holders *pool = pool_of(job);
	uint64_t before = weft_ffi_current();
	Py_INCREF(&entry->ob_base);
	weft_ffi_switch(entry->id);
	take_thread(pool, entry->id);
	PyObject *result = PyObject_CallFunctionObjArgs(weft_python_job_run.original, job, NULL);
	PyErr_Fetch(&type, &value, &traceback);
	PyObject *future = PyObject_GetAttr(job, future_name);
	give_thread(pool, entry->id);
	if (future)
		weft_python_entry_end(entry, future);
	Py_XDECREF(future);
	Py_DECREF(&entry->ob_base);
	weft_python_drop_error();
	PyErr_Restore(type, value, traceback);
	weft_ffi_switch(before);
	return result;
}

static PyObject *job_run(PyObject *job, PyObject *nothing)
{
	bool before = runs_job;
	(void)nothing;
	runs_job = true;
	PyObject *result = run_job(job);
	runs_job = before;
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

bool weft_python_jobs_init(PyObject *label, PyObject *pool, bool has_jobs)
{
	pending = has_jobs ? LONG_MAX / 2 : 0; /* their number is unknown, so it never becomes 0 */
	label_of_job = Py_NewRef(label);
	label_of_pool = Py_NewRef(pool);
	return weft_python_intern(&future_name, "future") &&
		   weft_python_intern(&pool_name, "_weft_pool") &&
		   weft_python_intern(&threads_name, "_max_workers");
}

struct weft_python_method weft_python_submit = {"ThreadPoolExecutor",
	{"submit", WEFT_PYTHON_FUNCTION(submit), METH_FASTCALL | METH_KEYWORDS,
		"submit($self, fn, /, *args, **kwargs)\n--\n\nSchedules a call, and returns its future."},
	NULL};

struct weft_python_method weft_python_job_init = {"WorkItem",
	{"__init__", WEFT_PYTHON_FUNCTION(job_init), METH_FASTCALL | METH_KEYWORDS, NULL}, NULL};
struct weft_python_method weft_python_job_run = {
	"WorkItem", {"run", job_run, METH_NOARGS, NULL}, NULL};
