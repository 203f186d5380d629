/* SPDX-License-Identifier: ISC
 *
 * See locks.h. asyncio.Lock stores in its attribute `_locked` that it is taken or released,
 * asyncio.Semaphore in `_value` how often it can be taken. The types get descriptors of these
 * names, which look at each change. So the coroutines of a lock run as they are, and have the
 * stacks that the program expects.
 *
 * A semaphore that is released while a task waits for it is taken for that task right away, by
 * _wake_up_next().
 *
 * A program may take a semaphore in one task and release it in another one, or in a callback. Then
 * the task that took it does not hold it, and no holders are told from then on.
 */
#include "locks.h"

#include "attributes.h"
#include "holders.h"
#include "loops.h"
#include "methods.h"
#include "quiet.h"
#include "steps.h"
#include "wait.h"

struct weft_python_locks weft_python_locks;

static PyObject *locked_name, *value_name, *waiters_name, *done_name;

static bool is_semaphore(PyObject *object)
{
	PyTypeObject *type = (PyTypeObject *)(void *)weft_python_locks.semaphore_type;
	return type && PyObject_TypeCheck(object, type);
}

static bool is_lock(PyObject *object)
{
	PyTypeObject *type = (PyTypeObject *)(void *)weft_python_locks.lock_type;
	return (type && PyObject_TypeCheck(object, type)) || is_semaphore(object);
}

/* True if the waiter waits for those that hold the lock. False for a semaphore that tasks release
 * for others, so that nobody knows who holds it. */
static bool has_holders(PyObject *lock, uint64_t waiter)
{
	const struct weft_python_holders *holders = weft_python_holders_find(lock);
	if (!is_semaphore(lock))
		return true;
	for (size_t i = 0; holders && i < holders->count; i++)
		if (holders->tasks[i] != waiter)
			return true;
	return false;
}

static unsigned kind_of(PyObject *lock)
{
	return is_semaphore(lock) ? WEFT_KIND_POOL : WEFT_KIND_LOCK;
}

static struct weft_python_entry *entry_of(PyObject *lock)
{
	PyObject *dictionary = PyObject_GenericGetDict(lock, NULL);
	struct weft_python_holders *holders =
		dictionary ? weft_python_holders_of(dictionary, kind_of(lock)) : NULL;
	Py_XDECREF(dictionary);
	return holders ? weft_python_holders_entry(holders) : NULL;
}

/* ---- Tasks that hold ---- */

struct weft_python_entry *weft_python_lock_wait(struct weft_python_entry *future, PyObject *lock)
{
	struct weft_python_holders *holders = weft_python_holders_find(lock);
	if (holders && !future->held)
		future->held = Py_NewRef(&holders->ob_base);
	return is_lock(lock) && has_holders(lock, future->waiter) ? entry_of(lock) : NULL;
}

void weft_python_lock_got(struct weft_python_entry *task, const struct weft_python_entry *future)
{
	struct weft_python_holders *holders = (struct weft_python_holders *)(void *)future->held;
	if (holders && weft_python_holders_have(holders, task->id))
		weft_python_holders_keep(holders, task);
}

void weft_python_locks_see_end(struct weft_python_entry *task)
{
	struct weft_python_holders *holders = (struct weft_python_holders *)(void *)task->held;
	if (holders && weft_python_holders_have(holders, task->id))
		(void)weft_python_holders_entry(holders);
}

/* ---- Changes ---- */

/* True while _wake_up_next() runs. */
static bool is_waking(void)
{
	PyFrameObject *frame = PyEval_GetFrame();
	PyObject *code = frame ? (PyObject *)(void *)PyFrame_GetCode(frame) : NULL;
	Py_XDECREF(code);
	return code && code == weft_python_locks.wake_up_next;
}

static bool is_done(PyObject *future)
{
	PyObject *done = PyObject_CallMethodObjArgs(future, done_name, NULL);
	bool is = done && PyObject_IsTrue(done) == 1;
	Py_XDECREF(done);
	return is;
}

/* The task whose future _wake_up_next() is about to resolve: the first one that is not done. */
static uint64_t woken_task(PyObject *waiters)
{
	uint64_t task = WEFT_TASK_NONE;
	bool found = false;
	PyObject *future, *iterator = PyObject_GetIter(waiters);
	while (iterator && !found && (future = PyIter_Next(iterator)) != NULL) {
		const struct weft_python_entry *entry = weft_python_entry_find(future);
		found = !is_done(future);
		if (found && entry)
			task = entry->waiter;
		Py_DECREF(future);
	}
	Py_XDECREF(iterator);
	return task;
}

/* The task that takes the lock now. */
static uint64_t taker(PyObject *lock, PyObject *dictionary)
{
	PyObject *waiters =
		is_semaphore(lock) ? PyDict_GetItemWithError(dictionary, waiters_name) : NULL;
	if (waiters && waiters != Py_None && PyObject_IsTrue(waiters) == 1 && is_waking())
		return woken_task(waiters);
	return weft_python_acting();
}

static void take_lock(PyObject *lock, PyObject *dictionary, struct weft_python_holders *holders)
{
	uint64_t task = taker(lock, dictionary);
	struct weft_python_entry *step = weft_python_running ? weft_python_running->step : NULL;
	if (!is_semaphore(lock))
		holders->count = 0; /* a lock has one holder */
	weft_python_holders_add(holders, task);
	if (step && step->id == task)
		weft_python_holders_keep(holders, step);
	if (holders->entry && task != WEFT_TASK_NONE)
		weft_ffi_acquire(weft_python_asyncio(), 0, task, holders->entry->id);
}

static void give(PyObject *lock, struct weft_python_holders *holders)
{
	uint64_t task = weft_python_acting();
	bool is_recorded = weft_python_holders_remove(holders, task);
	if (!is_recorded && weft_python_holders_remove(holders, WEFT_TASK_NONE))
		return;
	if (!is_recorded && holders->count == 1) {
		holders->count = 0;
		is_recorded = true;
	}
	if (is_recorded && holders->entry)
		weft_ffi_release(weft_python_asyncio(), 0, task, holders->entry->id);
	else if (!is_recorded && is_semaphore(lock))
		weft_python_holders_forget(holders); /* several may have taken it, or nobody */
}

/* 1: it was taken, -1: given back. 0: neither. */
static int change_of(PyObject *lock, PyObject *before, PyObject *now)
{
	if (!is_semaphore(lock))
		return (PyObject_IsTrue(now) == 1) - (PyObject_IsTrue(before) == 1);
	long change =
		PyLong_Check(before) && PyLong_Check(now) ? PyLong_AsLong(before) - PyLong_AsLong(now) : 0;
	return change == 1 || change == -1 ? (int)change : 0;
}

static void see_change(PyObject *lock, PyObject *dictionary, int change)
{
	struct weft_python_holders *holders = weft_python_holders_of(dictionary, kind_of(lock));
	if (holders && !holders->are_unknown && change > 0)
		take_lock(lock, dictionary, holders);
	else if (holders && !holders->are_unknown)
		give(lock, holders);
}

static void see_made(PyObject *lock, PyObject *dictionary)
{
	struct weft_python_holders *holders = weft_python_holders_of(dictionary, kind_of(lock));
	if (holders && !holders->label)
		holders->label = weft_python_call_quietly(weft_python_locks.label, lock);
}

static void see_value(PyObject *lock, PyObject *dictionary, PyObject *before, PyObject *now)
{
	int change = before ? change_of(lock, before, now) : 0;
	if (!before)
		see_made(lock, dictionary);
	else if (change && weft_python_is_recording())
		see_change(lock, dictionary, change);
}

static struct weft_python_attribute locked_attribute = {&locked_name, see_value},
									value_attribute = {&value_name, see_value};

bool weft_python_locks_init(void)
{
	return weft_python_holders_init() && weft_python_intern(&locked_name, "_locked") &&
		   weft_python_intern(&value_name, "_value") &&
		   weft_python_intern(&waiters_name, "_waiters") &&
		   weft_python_intern(&done_name, "done") &&
		   weft_python_attribute_add(weft_python_locks.lock_type, "_locked", &locked_attribute) &&
		   weft_python_attribute_add(weft_python_locks.semaphore_type, "_value", &value_attribute);
}
