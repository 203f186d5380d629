/* SPDX-License-Identifier: ISC
 *
 * See holders.h.
 */
#include "holders.h"

#include <string.h>

#include "attributes.h"
#include "dropped.h"
#include "methods.h"

static PyTypeObject *holders_type;
static PyObject *attribute;

static void free_holders(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	struct weft_python_holders *holders = (struct weft_python_holders *)(void *)self;
	PyMem_Free(holders->tasks);
	Py_XDECREF((PyObject *)holders->entry);
	Py_XDECREF(holders->label);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyType_Slot slots[] = {
	{Py_tp_doc, "The tasks that hold a lock."},
	{Py_tp_dealloc, free_holders},
	{Py_tp_methods, weft_python_copied_as_none},
	{0, NULL},
};
static PyType_Spec spec = {"weft._weft.Holders", sizeof(struct weft_python_holders), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

bool weft_python_holders_init(void)
{
	holders_type = (PyTypeObject *)(void *)PyType_FromSpec(&spec);
	return holders_type && weft_python_intern(&attribute, "_weft_holders");
}

/* A copy of a lock's dictionary has another object's holders, or none. */
static struct weft_python_holders *find_in(PyObject *dictionary)
{
	PyObject *found = PyDict_GetItemWithError(dictionary, attribute);
	if (!found)
		weft_python_drop_error();
	return found && Py_TYPE(found) == holders_type ? (struct weft_python_holders *)(void *)found
												   : NULL;
}

struct weft_python_holders *weft_python_holders_find(PyObject *lock)
{
	PyObject *dictionary = PyObject_GenericGetDict(lock, NULL);
	struct weft_python_holders *found = dictionary ? find_in(dictionary) : NULL;
	Py_XDECREF(dictionary);
	weft_python_drop_error();
	return found;
}

struct weft_python_holders *weft_python_holders_create(unsigned kind)
{
	PyObject *made = ((allocfunc)PyType_GetSlot(holders_type, Py_tp_alloc))(holders_type, 0);
	struct weft_python_holders *holders = (struct weft_python_holders *)(void *)made;
	if (holders)
		holders->kind = kind;
	else
		weft_python_drop_error();
	return holders;
}

struct weft_python_holders *weft_python_holders_of(PyObject *dictionary, unsigned kind)
{
	struct weft_python_holders *found = find_in(dictionary);
	if (found)
		return found;
	struct weft_python_holders *made = weft_python_holders_create(kind);
	bool added = made && PyDict_SetItem(dictionary, attribute, (PyObject *)made) == 0;
	Py_XDECREF((PyObject *)made); /* the dictionary keeps it */
	weft_python_drop_error();
	return added ? made : NULL;
}

struct weft_python_entry *weft_python_holders_entry(struct weft_python_holders *holders)
{
	struct weft_python_entry *entry = holders->entry;
	if (entry || !(entry = holders->entry = weft_python_entry_create(holders->kind)))
		return entry;
	weft_python_entry_label(entry, holders->label);
	for (size_t i = 0; i < holders->count; i++)
		if (holders->tasks[i] != WEFT_TASK_NONE)
			weft_ffi_acquire(weft_python_asyncio(), 0, holders->tasks[i], entry->id);
	return entry;
}

static bool reserve(struct weft_python_holders *holders)
{
	size_t room = holders->room ? 2 * holders->room : 4;
	uint64_t *tasks = holders->count < holders->room
						  ? holders->tasks
						  : PyMem_Realloc(holders->tasks, room * sizeof(*tasks));
	if (!tasks)
		return false;
	if (holders->count == holders->room)
		holders->room = room;
	holders->tasks = tasks;
	return true;
}

void weft_python_holders_add(struct weft_python_holders *holders, uint64_t task)
{
	if (reserve(holders))
		holders->tasks[holders->count++] = task;
	else
		holders->are_unknown = true;
}

/* One more than the index of the task's latest hold; 0: it has none. */
static size_t find_last(const struct weft_python_holders *holders, uint64_t task)
{
	size_t i = holders->count;
	while (i > 0 && holders->tasks[i - 1] != task)
		i--;
	return i;
}

bool weft_python_holders_have(const struct weft_python_holders *holders, uint64_t task)
{
	return find_last(holders, task) > 0;
}

bool weft_python_holders_remove(struct weft_python_holders *holders, uint64_t task)
{
	size_t i = find_last(holders, task);
	if (i == 0)
		return false;
	memmove(
		&holders->tasks[i - 1], &holders->tasks[i], (holders->count - i) * sizeof(*holders->tasks));
	holders->count--;
	return true;
}

void weft_python_holders_keep(struct weft_python_holders *holders, struct weft_python_entry *task)
{
	const struct weft_python_holders *kept = (struct weft_python_holders *)(void *)task->held;
	if (kept == holders || task->stands_for != task->id ||
		(kept && weft_python_holders_have(kept, task->id)))
		return;
	Py_XDECREF(task->held);
	task->held = Py_NewRef(&holders->ob_base);
}

void weft_python_holders_forget(struct weft_python_holders *holders)
{
	for (size_t i = 0; holders->entry && i < holders->count; i++)
		if (holders->tasks[i] != WEFT_TASK_NONE)
			weft_ffi_release(weft_python_asyncio(), 0, holders->tasks[i], holders->entry->id);
	holders->count = 0;
	holders->are_unknown = true;
}
