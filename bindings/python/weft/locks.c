/* SPDX-License-Identifier: ISC
 *
 * See locks.h. asyncio.Lock stores in its attribute `_locked` that it is taken or released;
 * weft/asyncio.py has a property of that name, which calls weft_python_lock_changed(). So the
 * lock's own coroutines run as they are, and have the stacks that the program expects.
 */
#include "locks.h"

static PyObject *lock_type, *label_of, *holder_name;

bool weft_python_locks_init(PyObject *type, PyObject *label)
{
	lock_type = type;
	label_of = label;
	holder_name = PyUnicode_InternFromString("_weft_holder");
	return holder_name != NULL;
}

bool weft_python_is_lock(PyObject *object)
{
	return lock_type && PyObject_TypeCheck(object, (PyTypeObject *)(void *)lock_type);
}

/* The task that holds the lock; WEFT_TASK_NONE: none is known. */
static uint64_t holder_of(PyObject *lock)
{
	PyObject *dictionary = PyObject_GenericGetDict(lock, NULL);
	PyObject *found = dictionary ? PyDict_GetItemWithError(dictionary, holder_name) : NULL;
	uint64_t holder =
		found && PyLong_Check(found) ? PyLong_AsUnsignedLongLong(found) : WEFT_TASK_NONE;
	Py_XDECREF(dictionary);
	PyErr_Clear();
	return holder;
}

static void set_holder(PyObject *lock, uint64_t holder)
{
	PyObject *dictionary = PyObject_GenericGetDict(lock, NULL);
	PyObject *number = PyLong_FromUnsignedLongLong(holder);
	if (dictionary && number)
		(void)PyDict_SetItem(dictionary, holder_name, number);
	Py_XDECREF(dictionary);
	Py_XDECREF(number);
	PyErr_Clear();
}

struct weft_python_entry *weft_python_lock_entry(PyObject *lock)
{
	struct weft_python_entry *entry = weft_python_entry_find(lock);
	if (entry || !(entry = weft_python_entry_add(lock, WEFT_KIND_LOCK)))
		return entry;
	PyObject *label = PyObject_CallFunctionObjArgs(label_of, lock, NULL);
	weft_python_entry_label(entry, label);
	Py_XDECREF(label);
	uint64_t holder = holder_of(lock);
	if (holder != WEFT_TASK_NONE)
		weft_ffi_acquire(weft_python_asyncio(), 0, holder, entry->id);
	return entry;
}

PyObject *weft_python_lock_changed(PyObject *module, PyObject *arguments)
{
	PyObject *lock;
	int is_locked;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "Op", &lock, &is_locked))
		return NULL;
	const struct weft_python_entry *entry = weft_python_entry_find(lock);
	uint64_t before = holder_of(lock), task = weft_ffi_current();
	if (entry && is_locked && task != WEFT_TASK_NONE)
		weft_ffi_acquire(weft_python_asyncio(), 0, task, entry->id);
	else if (entry && !is_locked && before != WEFT_TASK_NONE)
		weft_ffi_release(weft_python_asyncio(), 0, WEFT_TASK_CURRENT, entry->id);
	set_holder(lock, is_locked ? task : WEFT_TASK_NONE);
	Py_RETURN_NONE;
}
