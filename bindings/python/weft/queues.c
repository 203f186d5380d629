/* SPDX-License-Identifier: ISC
 *
 * See queues.h. asyncio.Queue counts in its attribute `_unfinished_tasks` the items that were put
 * and of which no task has said that it is done: a descriptor of this name sees both. Its method
 * get_nowait(), which get() calls, is replaced.
 */
#include "queues.h"

#include "attributes.h"
#include "conditions.h"
#include "dropped.h"
#include "holders.h"
#include "lengths.h"
#include "loops.h"
#include "quiet.h"
#include "steps.h"

/* Items of a queue that is no pool are got, and never put back: this many are no longer counted. */
#define HOLDS_MAX 256

struct weft_python_queues weft_python_queues;

/* In the dictionary of a queue. */
struct queue {
	PyObject_HEAD struct weft_python_condition *items, *room;
	struct weft_python_holders *pool;       /* tasks that have got an item and not put it back */
	struct weft_python_holders *unfinished; /* that have got an item and are not done */
	bool is_pool;                           /* tasks put back what they have got */
	bool is_counted;                        /* tasks say that they are done */
	struct weft_python_length length;
};

static PyTypeObject *queue_type;
static PyObject *attribute, *unfinished_name, *getters_name, *putters_name, *empty_name,
	*finished_name, *items_name;

static void free_queue(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	struct queue *queue = (struct queue *)(void *)self;
	Py_XDECREF((PyObject *)queue->items);
	Py_XDECREF((PyObject *)queue->room);
	Py_XDECREF((PyObject *)queue->pool);
	Py_XDECREF((PyObject *)queue->unfinished);
	weft_python_length_finish(&queue->length);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyType_Slot slots[] = {
	{Py_tp_doc, "What tasks wait for of a queue."},
	{Py_tp_dealloc, free_queue},
	{Py_tp_methods, weft_python_copied_as_none},
	{0, NULL},
};
static PyType_Spec spec = {"weft._weft.Queue", sizeof(struct queue), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

/* ---- Queues ---- */

/* Borrowed. NULL: nothing, as of a queue that was made before the program was recorded. */
static struct queue *find(PyObject *dictionary)
{
	PyObject *found = dictionary ? PyDict_GetItemWithError(dictionary, attribute) : NULL;
	if (!found)
		weft_python_drop_error();
	return found && Py_TYPE(found) == queue_type ? (struct queue *)(void *)found : NULL;
}

/* Fills a new one. `labels` is a tuple of strings, or NULL. */
static bool fill(struct queue *queue, PyObject *labels)
{
	PyObject *label[5] = {NULL};
	for (Py_ssize_t i = 0; labels && PyTuple_Check(labels) && i < 5 && i < PyTuple_Size(labels);
		 i++)
		label[i] = PyTuple_GetItem(labels, i);
	queue->items = weft_python_condition_create(WEFT_KIND_CHANNEL, label[0]);
	queue->room = weft_python_condition_create(WEFT_KIND_CHANNEL, label[1]);
	queue->pool = weft_python_holders_create(WEFT_KIND_POOL);
	queue->unfinished = weft_python_holders_create(WEFT_KIND_POOL);
	if (!queue->items || !queue->room || !queue->pool || !queue->unfinished)
		return false;
	queue->pool->label = Py_XNewRef(label[2]);
	queue->unfinished->label = Py_XNewRef(label[3]);
	queue->length.name = label[4] == Py_None ? NULL : Py_XNewRef(label[4]);
	return true;
}

static void see_made(PyObject *object, PyObject *dictionary)
{
	PyObject *labels = weft_python_call_quietly(weft_python_queues.label, object);
	PyObject *made = ((allocfunc)PyType_GetSlot(queue_type, Py_tp_alloc))(queue_type, 0);
	if (made && fill((struct queue *)(void *)made, labels))
		(void)PyDict_SetItem(dictionary, attribute, made);
	Py_XDECREF(made); /* the dictionary keeps it */
	Py_XDECREF(labels);
}

/* ---- Changes ---- */

static void add_hold(struct weft_python_holders *holders, uint64_t task, bool is_kept)
{
	struct weft_python_entry *step = weft_python_running ? weft_python_running->step : NULL;
	if (holders->are_unknown)
		return;
	if (holders->count >= HOLDS_MAX) {
		weft_python_holders_forget(holders);
		return;
	}
	weft_python_holders_add(holders, task);
	if (is_kept && step && step->id == task)
		weft_python_holders_keep(holders, step);
	if (holders->entry && task != WEFT_TASK_NONE)
		weft_ffi_acquire(weft_python_asyncio(), 0, task, holders->entry->id);
}

/* True if the task had a hold. If others have all of them, it is unknown who has what. */
static bool end_hold(struct weft_python_holders *holders, uint64_t task)
{
	if (holders->are_unknown)
		return false;
	bool was_held = weft_python_holders_remove(holders, task);
	if (was_held && holders->entry && task != WEFT_TASK_NONE)
		weft_ffi_release(weft_python_asyncio(), 0, task, holders->entry->id);
	else if (!was_held && holders->count)
		weft_python_holders_forget(holders);
	return was_held;
}

/* The tasks that wait for an item have, as it turns out, waited for the pool. */
static void wait_for_pool(PyObject *object, struct weft_python_holders *pool)
{
	PyObject *getters = PyObject_GetAttr(object, getters_name), *getter;
	PyObject *iterator = getters ? PyObject_GetIter(getters) : NULL;
	const struct weft_python_entry *entry = iterator ? weft_python_holders_entry(pool) : NULL;
	while (entry && (getter = PyIter_Next(iterator)) != NULL) {
		const struct weft_python_entry *future = weft_python_entry_find(getter);
		if (future && !future->has_ended)
			weft_ffi_try_read(weft_python_asyncio(), 0, future->id, entry->id);
		Py_DECREF(getter);
	}
	Py_XDECREF(iterator);
	Py_XDECREF(getters);
	weft_python_drop_error();
}

static void see_length(PyObject *object, struct queue *queue)
{
	PyObject *items = queue->length.name ? PyObject_GetAttr(object, items_name) : NULL;
	weft_python_length_see(&queue->length, items);
	Py_XDECREF(items);
	weft_python_drop_error();
}

static void see_put(PyObject *object, struct queue *queue)
{
	bool was_pool = queue->is_pool, is_awaited = weft_python_has_any(object, getters_name);
	queue->is_pool |= end_hold(queue->pool, weft_python_acting());
	if (queue->is_pool && !was_pool && is_awaited)
		wait_for_pool(object, queue->pool);
	weft_python_condition_signal(queue->items, is_awaited);
	see_length(object, queue);
}

static void see_got(struct queue *queue)
{
	const uint64_t task = weft_python_acting();
	add_hold(queue->pool, task, queue->is_pool);
	add_hold(queue->unfinished, task, queue->is_counted);
}

static void see_unfinished(PyObject *object, PyObject *dictionary, PyObject *before, PyObject *now)
{
	struct queue *queue = before ? find(dictionary) : NULL;
	long change = before && PyLong_Check(before) && PyLong_Check(now)
					  ? PyLong_AsLong(now) - PyLong_AsLong(before)
					  : 0;
	if (!before)
		see_made(object, dictionary);
	if (!queue || !weft_python_is_recording())
		return;
	if (change == 1) {
		see_put(object, queue);
	} else if (change == -1) {
		queue->is_counted = true;
		(void)end_hold(queue->unfinished, weft_python_acting());
	}
}

/* True if a task waits for room, and gets it by the call that is about to be made. */
static bool makes_room(PyObject *object)
{
	if (!weft_python_has_any(object, putters_name))
		return false;
	PyObject *is_empty = PyObject_CallMethodObjArgs(object, empty_name, NULL);
	bool is = is_empty && PyObject_IsTrue(is_empty) == 0;
	Py_XDECREF(is_empty);
	weft_python_drop_error();
	return is;
}

static PyObject *get_nowait(PyObject *object, PyObject *nothing)
{
	PyObject *dictionary =
		weft_python_is_recording() ? PyObject_GenericGetDict(object, NULL) : NULL;
	struct queue *queue = (struct queue *)(void *)Py_XNewRef((PyObject *)find(dictionary));
	(void)nothing;
	Py_XDECREF(dictionary);
	weft_python_drop_error();
	bool is_awaited = queue && makes_room(object);
	if (is_awaited)
		weft_python_condition_signal(queue->room, true);
	PyObject *item = PyObject_CallFunctionObjArgs(weft_python_get_nowait.original, object, NULL);
	if (item && queue) {
		see_got(queue);
		see_length(object, queue);
		if (!is_awaited)
			weft_python_condition_signal(queue->room, false);
		weft_python_drop_error();
	}
	Py_XDECREF((PyObject *)queue);
	return item;
}

/* ---- Waits ---- */

/* True if the waiter waits for other tasks. */
static bool is_held(const struct weft_python_holders *holders, uint64_t waiter)
{
	for (size_t i = 0; !holders->are_unknown && i < holders->count; i++)
		if (holders->tasks[i] != waiter)
			return true;
	return false;
}

static struct weft_python_entry *source_of(
	struct queue *queue, enum weft_python_queue_wait wait, uint64_t waiter)
{
	switch (wait) {
	case WEFT_PYTHON_GET:
		return queue->is_pool && is_held(queue->pool, waiter)
				   ? weft_python_holders_entry(queue->pool)
				   : weft_python_condition_wait(queue->items);
	case WEFT_PYTHON_PUT:
		return weft_python_condition_wait(queue->room);
	case WEFT_PYTHON_JOIN:
		queue->is_counted = true;
		return queue->unfinished->are_unknown ? NULL : weft_python_holders_entry(queue->unfinished);
	}
	return NULL;
}

/* The event that is set when all items are done. */
static struct weft_python_entry *wait_for_event(PyObject *queue)
{
	PyObject *event = PyObject_GetAttr(queue, finished_name);
	struct weft_python_entry *source = event ? weft_python_condition_wait_for(event) : NULL;
	Py_XDECREF(event);
	return source;
}

struct weft_python_entry *weft_python_queue_wait(
	PyObject *queue, enum weft_python_queue_wait wait, uint64_t waiter)
{
	PyTypeObject *type = (PyTypeObject *)(void *)weft_python_queues.type;
	PyObject *dictionary =
		type && PyObject_TypeCheck(queue, type) ? PyObject_GenericGetDict(queue, NULL) : NULL;
	struct queue *found = find(dictionary);
	struct weft_python_entry *source = found ? source_of(found, wait, waiter) : NULL;
	if (found && !source && wait == WEFT_PYTHON_JOIN)
		source = wait_for_event(queue);
	Py_XDECREF(dictionary);
	weft_python_drop_error();
	return source;
}

static struct weft_python_attribute unfinished_attribute = {&unfinished_name, see_unfinished};

bool weft_python_queues_init(void)
{
	queue_type = (PyTypeObject *)(void *)PyType_FromSpec(&spec);
	return queue_type && weft_python_intern(&attribute, "_weft_queue") &&
		   weft_python_intern(&unfinished_name, "_unfinished_tasks") &&
		   weft_python_intern(&getters_name, "_getters") &&
		   weft_python_intern(&putters_name, "_putters") &&
		   weft_python_intern(&empty_name, "empty") &&
		   weft_python_intern(&finished_name, "_finished") &&
		   weft_python_intern(&items_name, "_queue") &&
		   weft_python_attribute_add(
			   weft_python_queues.type, "_unfinished_tasks", &unfinished_attribute);
}

struct weft_python_method weft_python_get_nowait = {"Queue",
	{"get_nowait", get_nowait, METH_NOARGS,
		"get_nowait($self, /)\n--\n\nRemove and return an item from the queue."},
	NULL};
