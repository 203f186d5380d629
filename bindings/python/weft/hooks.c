/* SPDX-License-Identifier: ISC
 *
 * Methods of asyncio that a loop calls in each round are replaced by functions that record and call
 * them. They are written in C, so they are in no traceback and in no stack that the program looks
 * at; no object of the program is wrapped or has another type.
 *
 *     Handle._run           a callback runs: a step of a task, or something else
 *     _call_soon            a callback is made ready: the future that has it has just ended
 *     select                the loop is idle
 *     run_forever, close    the loop itself
 *     Runner._on_sigint     Ctrl-C
 *     submit, _WorkItem     a job of a thread pool
 *     _on_timeout           the time of asyncio.timeout() is up
 *     _get_loop             a lock of another loop is used
 *     call_exception_handler  an error that no task handles
 *     _warn_unawaited_coroutine  a coroutine is freed that nothing has awaited
 *     Condition.notify      a task signals
 *     Queue.get_nowait      a task takes an item of a queue
 *     Future.result         a thread blocks until a future of concurrent.futures is done
 */
#include "conditions.h"
#include "dropped.h"
#include "entry.h"
#include "errors.h"
#include "jobs.h"
#include "lengths.h"
#include "locks.h"
#include "loops.h"
#include "queues.h"
#include "results.h"
#include "steps.h"
#include "wait.h"

PyObject *weft_python_forward(PyObject *method, PyObject *self, PyObject *const *arguments,
	Py_ssize_t count, PyObject *keywords)
{
	Py_ssize_t names = keywords ? PyTuple_Size(keywords) : 0;
	PyObject *tuple = PyTuple_New(count + 1), *dictionary = names ? PyDict_New() : NULL,
			 *result = NULL;
	if (!tuple || (names && !dictionary))
		goto out;
	PyTuple_SetItem(tuple, 0, Py_NewRef(self));
	for (Py_ssize_t i = 0; i < count; i++)
		PyTuple_SetItem(tuple, i + 1, Py_NewRef(arguments[i]));
	for (Py_ssize_t i = 0; i < names; i++)
		if (PyDict_SetItem(dictionary, PyTuple_GetItem(keywords, i), arguments[count + i]))
			goto out;
	result = PyObject_Call(method, tuple, dictionary);
out:
	Py_XDECREF(tuple);
	Py_XDECREF(dictionary);
	return result;
}

bool weft_python_intern(PyObject **ret, const char *text)
{
	*ret = PyUnicode_InternFromString(text);
	return *ret != NULL;
}

static bool set_method(PyObject *type, PyMethodDef *definition)
{
	PyObject *method = PyDescr_NewMethod((PyTypeObject *)(void *)type, definition);
	bool set = method && PyObject_SetAttrString(type, definition->ml_name, method) == 0;
	Py_XDECREF(method);
	return set;
}

static struct weft_python_method *const methods[] = {&weft_python_run, &weft_python_call_soon,
	&weft_python_run_forever, &weft_python_close, &weft_python_on_sigint,
	&weft_python_start_serving, &weft_python_exception, &weft_python_on_timeout,
	&weft_python_get_loop, &weft_python_result, &weft_python_notify, &weft_python_get_nowait};
static struct weft_python_method *const methods_of_pools[] = {
	&weft_python_submit, &weft_python_job_init, &weft_python_job_run};

static bool replace_methods(
	PyObject *objects, struct weft_python_method *const replaced[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		PyObject *type = PyDict_GetItemString(objects, replaced[i]->type);
		replaced[i]->original =
			type ? PyObject_GetAttrString(type, replaced[i]->definition.ml_name) : NULL;
		if (!replaced[i]->original || !set_method(type, &replaced[i]->definition))
			return false;
	}
	return true;
}

/* `selects` is {class: original method}. */
static bool replace_selects(PyObject *selects)
{
	PyObject *type, *original;
	Py_ssize_t position = 0;
	while (PyDict_Next(selects, &position, &type, &original))
		if (!set_method(type, &weft_python_select))
			return false;
	return true;
}

/* An object of the dict, with a reference that is kept; None is NULL. */
static bool take_object(PyObject *objects, const char *name, PyObject **ret)
{
	PyObject *object = PyDict_GetItemString(objects, name);
	if (!object)
		return PyErr_Format(PyExc_KeyError, "%s", name), false;
	*ret = object == Py_None ? NULL : Py_NewRef(object);
	return true;
}

static bool take_waits(PyObject *objects)
{
	struct weft_python_waits *waits = &weft_python_waits;
	return take_object(objects, "coroutine_type", &waits->coroutine_type) &&
		   take_object(objects, "generator_type", &waits->generator_type) &&
		   take_object(objects, "async_generator_type", &waits->async_generator_type) &&
		   take_object(objects, "send_type", &waits->send_type) &&
		   take_object(objects, "close_type", &waits->close_type) &&
		   take_object(objects, "function_type", &waits->function_type) &&
		   take_object(objects, "method_type", &waits->method_type) &&
		   take_object(objects, "partial_type", &waits->partial_type) &&
		   take_object(objects, "future_type", &waits->future_type) &&
		   take_object(objects, "gather_type", &waits->gather_type) &&
		   take_object(objects, "folder", &waits->folder) &&
		   take_object(objects, "closures", &waits->closures) &&
		   take_object(objects, "locals", &waits->locals) &&
		   take_object(objects, "resources", &waits->resources) &&
		   take_object(objects, "check_cancel", &waits->check_cancel) &&
		   take_object(objects, "leaves_inner", &waits->leaves_inner) &&
		   take_object(objects, "cancelled_error", &weft_python_cancelled_error) &&
		   take_object(objects, "location_of_error", &weft_python_location_of_error) &&
		   take_object(objects, "sleep", &waits->sleep) &&
		   take_object(objects, "cancel_and_wait", &waits->cancel_and_wait) &&
		   take_object(objects, "getsignal", &weft_python_getsignal) &&
		   take_object(objects, "release_waiter", &waits->release_waiter) &&
		   take_object(objects, "task_group_done", &waits->task_group_done) &&
		   take_object(objects, "set_state", &waits->set_state);
}

static bool take_locks(PyObject *objects)
{
	struct weft_python_locks *locks = &weft_python_locks;
	return take_object(objects, "lock_type", &locks->lock_type) &&
		   take_object(objects, "semaphore_type", &locks->semaphore_type) &&
		   take_object(objects, "wake_up_next", &locks->wake_up_next) &&
		   take_object(objects, "label_of_lock", &locks->label);
}

static bool take_conditions(PyObject *objects)
{
	return take_object(objects, "condition_type", &weft_python_conditions.condition_type) &&
		   take_object(objects, "event_type", &weft_python_conditions.event_type) &&
		   take_object(objects, "label_of_condition", &weft_python_conditions.label) &&
		   take_object(objects, "queue_type", &weft_python_queues.type) &&
		   take_object(objects, "labels_of_queue", &weft_python_queues.label) &&
		   take_object(objects, "deque_type", &weft_python_deque_type) &&
		   weft_python_conditions_init() && weft_python_queues_init();
}

static bool take_misuses(PyObject *objects)
{
	return take_object(objects, "call_soon", &weft_python_misuses.call_soon) &&
		   take_object(objects, "label_of_misuse", &weft_python_misuses.label) &&
		   take_object(objects, "message_of_stranger", &weft_python_misuses.message_of_stranger);
}

static bool init(PyObject *objects, PyObject **ret_selects)
{
	PyObject *step, *wakeup, *loop, *asleep, *threadsafe, *result, *warnings, *unawaited;
	return weft_python_entries_init() && weft_python_waits_init() && take_waits(objects) &&
		   take_object(objects, "step", &step) && take_object(objects, "wakeup", &wakeup) &&
		   take_object(objects, "label_of_loop", &loop) &&
		   take_object(objects, "is_asleep", &asleep) &&
		   take_object(objects, "threadsafe", &threadsafe) &&
		   take_object(objects, "label_of_result", &result) &&
		   take_object(objects, "warnings", &warnings) &&
		   take_object(objects, "message_of_unawaited", &unawaited) &&
		   weft_python_results_init(threadsafe, result) && take_locks(objects) &&
		   weft_python_locks_init() && take_conditions(objects) && take_misuses(objects) &&
		   take_object(objects, "selects", ret_selects) && weft_python_steps_init(step, wakeup) &&
		   weft_python_loops_init(loop, asleep, *ret_selects) &&
		   weft_python_errors_init(warnings, unawaited);
}

PyObject *weft_python_hook(PyObject *module, PyObject *objects)
{
	PyObject *selects;
	(void)module;
	if (!init(objects, &selects) ||
		!replace_methods(objects, methods, sizeof(methods) / sizeof(*methods)) ||
		!replace_selects(selects))
		return NULL;
	return weft_python_collector();
}

PyObject *weft_python_hook_pools(PyObject *module, PyObject *objects)
{
	PyObject *job, *pool, *has_jobs;
	(void)module;
	if (!take_object(objects, "label_of_job", &job) ||
		!take_object(objects, "label_of_pool", &pool) ||
		!take_object(objects, "has_jobs", &has_jobs) ||
		!weft_python_jobs_init(job, pool, has_jobs == Py_True) ||
		!replace_methods(
			objects, methods_of_pools, sizeof(methods_of_pools) / sizeof(*methods_of_pools)))
		return NULL;
	Py_RETURN_NONE;
}
