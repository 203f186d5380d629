/* SPDX-License-Identifier: ISC
 *
 * See conditions.h. asyncio.Event stores in its attribute `_value` whether it is set. The type gets
 * a descriptor of this name, which looks at each change, as those of locks do. asyncio.Condition
 * keeps nothing of a notification, so its method notify() is replaced; it gets its attribute
 * `_lock` when it is made.
 */
#include "conditions.h"

#include <time.h>

#include "attributes.h"
#include "dropped.h"
#include "loops.h"
#include "quiet.h"
#include "steps.h"

struct weft_python_conditions weft_python_conditions;

static PyTypeObject *condition_type;
static PyObject *attribute, *waiters_name, *value_name, *lock_name;

static void free_condition(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	struct weft_python_condition *condition = (struct weft_python_condition *)(void *)self;
	Py_XDECREF((PyObject *)condition->entry);
	Py_XDECREF(condition->label);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyType_Slot slots[] = {
	{Py_tp_doc, "What tasks wait for until it is signalled."},
	{Py_tp_dealloc, free_condition},
	{Py_tp_methods, weft_python_copied_as_none},
	{0, NULL},
};
static PyType_Spec spec = {"weft._weft.Condition", sizeof(struct weft_python_condition), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

struct weft_python_condition *weft_python_condition_create(unsigned kind, PyObject *label)
{
	PyObject *made = ((allocfunc)PyType_GetSlot(condition_type, Py_tp_alloc))(condition_type, 0);
	struct weft_python_condition *condition = (struct weft_python_condition *)(void *)made;
	if (!condition) {
		weft_python_drop_error();
		return NULL;
	}
	condition->kind = kind;
	condition->label = Py_XNewRef(label);
	return condition;
}

bool weft_python_has_any(PyObject *object, PyObject *name)
{
	PyObject *container = PyObject_GetAttr(object, name);
	bool has = container && container != Py_None && PyObject_IsTrue(container) == 1;
	Py_XDECREF(container);
	weft_python_drop_error();
	return has;
}

/* ---- Signals and waits ---- */

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void weft_python_condition_signal(struct weft_python_condition *condition, bool has_waiters)
{
	const uint64_t task = weft_python_acting();
	condition->has_signal = !has_waiters;
	if (has_waiters && condition->entry) {
		weft_ffi_signal_only(weft_python_asyncio(), 0, task, condition->entry->id);
	} else if (!has_waiters) {
		condition->signaller = task;
		condition->signalled_ns = now_ns();
	}
}

/* Says which signal was the last before the wait. */
static void write_signal(struct weft_python_condition *condition)
{
	static uint64_t by, before;
	struct weft_category *category = weft_python_asyncio();
	const uint64_t id = condition->entry->id;
	if (condition->signaller != WEFT_TASK_NONE)
		weft_ffi_tag_value(category, 0, id, WEFT_TAG_SIGNALLED_BY,
			sizeof(WEFT_TAG_SIGNALLED_BY) - 1, &by, (int64_t)condition->signaller);
	weft_ffi_tag_value(category, 0, id, WEFT_TAG_SIGNALLED_BEFORE,
		sizeof(WEFT_TAG_SIGNALLED_BEFORE) - 1, &before,
		(int64_t)(now_ns() - condition->signalled_ns));
	condition->has_signal = false;
}

struct weft_python_entry *weft_python_condition_wait(struct weft_python_condition *condition)
{
	if (!condition->entry) {
		condition->entry = weft_python_entry_create(condition->kind);
		if (condition->entry)
			weft_python_entry_label(condition->entry, condition->label);
	}
	if (condition->entry && condition->has_signal)
		write_signal(condition);
	return condition->entry;
}

/* ---- Conditions and events ---- */

/* That of an object with this dictionary, borrowed; NULL: it has none. */
static struct weft_python_condition *find(PyObject *dictionary)
{
	PyObject *found = dictionary ? PyDict_GetItemWithError(dictionary, attribute) : NULL;
	if (!found)
		weft_python_drop_error();
	return found && Py_TYPE(found) == condition_type ? (struct weft_python_condition *)(void *)found
													 : NULL;
}

static struct weft_python_condition *add(PyObject *dictionary, PyObject *label)
{
	struct weft_python_condition *made = weft_python_condition_create(WEFT_KIND_CONDITION, label);
	if (made)
		(void)PyDict_SetItem(dictionary, attribute, (PyObject *)made);
	Py_XDECREF((PyObject *)made); /* the dictionary keeps it */
	weft_python_drop_error();
	return find(dictionary);
}

static bool is_one(PyObject *object)
{
	PyTypeObject *condition = (PyTypeObject *)(void *)weft_python_conditions.condition_type;
	PyTypeObject *event = (PyTypeObject *)(void *)weft_python_conditions.event_type;
	return (condition && PyObject_TypeCheck(object, condition)) ||
		   (event && PyObject_TypeCheck(object, event));
}

struct weft_python_entry *weft_python_condition_wait_for(PyObject *object)
{
	PyObject *dictionary = is_one(object) ? PyObject_GenericGetDict(object, NULL) : NULL;
	struct weft_python_condition *condition = find(dictionary);
	if (dictionary && !condition) /* made before the program was recorded */
		condition = add(dictionary, NULL);
	Py_XDECREF(dictionary);
	weft_python_drop_error();
	return condition ? weft_python_condition_wait(condition) : NULL;
}

static void see_made(PyObject *object, PyObject *dictionary)
{
	PyObject *label = weft_python_call_quietly(weft_python_conditions.label, object);
	(void)add(dictionary, label);
	Py_XDECREF(label);
}

static void see_signal(PyObject *object)
{
	PyObject *dictionary = PyObject_GenericGetDict(object, NULL);
	struct weft_python_condition *condition = find(dictionary);
	if (condition)
		weft_python_condition_signal(condition, weft_python_has_any(object, waiters_name));
	Py_XDECREF(dictionary);
	weft_python_drop_error();
}

static PyObject *notify(
	PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	if (weft_python_is_recording())
		see_signal(object);
	return weft_python_forward(weft_python_notify.original, object, arguments, count, keywords);
}

/* An event is made with the value False, and set when it gets True. */
static void see_value(PyObject *event, PyObject *dictionary, PyObject *before, PyObject *now)
{
	if (!before)
		see_made(event, dictionary);
	else if (before == Py_False && now == Py_True && weft_python_is_recording())
		see_signal(event);
}

static void see_lock(PyObject *condition, PyObject *dictionary, PyObject *before, PyObject *now)
{
	(void)now;
	if (!before)
		see_made(condition, dictionary);
}

static struct weft_python_attribute value_attribute = {&value_name, see_value},
									lock_attribute = {&lock_name, see_lock};

bool weft_python_conditions_init(void)
{
	condition_type = (PyTypeObject *)(void *)PyType_FromSpec(&spec);
	return condition_type && weft_python_intern(&attribute, "_weft_condition") &&
		   weft_python_intern(&waiters_name, "_waiters") &&
		   weft_python_intern(&value_name, "_value") && weft_python_intern(&lock_name, "_lock") &&
		   weft_python_attribute_add(
			   weft_python_conditions.event_type, "_value", &value_attribute) &&
		   weft_python_attribute_add(
			   weft_python_conditions.condition_type, "_lock", &lock_attribute);
}

struct weft_python_method weft_python_notify = {"Condition",
	{"notify", WEFT_PYTHON_FUNCTION(notify), METH_FASTCALL | METH_KEYWORDS,
		"notify($self, /, n=1)\n--\n\nWake up n tasks that wait for this condition."},
	NULL};
