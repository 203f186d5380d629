/* SPDX-License-Identifier: ISC
 *
 * Entries are in the dictionaries of their objects, which the futures written in C have, too. That
 * is faster than a table of weak references, and needs no callback when an object is freed.
 */
#include "entry.h"

#include "dropped.h"
#include "objects.h"
#include "quiet.h"

unsigned weft_python_interrupts;
PyObject *weft_python_cancelled_error, *weft_python_location_of_error;

static PyTypeObject *entry_type;
static struct weft_category *category;
static PyObject *attribute, *state_name, *exception_name, *args_name;

struct weft_category *weft_python_asyncio(void)
{
	return category;
}

static void entry_free(PyObject *self)
{
	struct weft_python_entry *entry = (struct weft_python_entry *)(void *)self;
	PyTypeObject *type = Py_TYPE(self);
	if (!entry->has_ended && entry->interrupts == weft_python_interrupts)
		weft_ffi_close(category, 0, WEFT_TASK_CURRENT, entry->id);
	Py_XDECREF(entry->held);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyType_Slot entry_slots[] = {
	{Py_tp_doc, "The id of the task that stands for an object in the trace."},
	{Py_tp_dealloc, entry_free},
	{0, NULL},
};
static PyType_Spec entry_spec = {"weft._weft.Entry", sizeof(struct weft_python_entry), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, entry_slots};

bool weft_python_entries_init(void)
{
	static const char name[] = "asyncio", description[] = "tasks and futures of asyncio";
	category = weft_ffi_category(name, sizeof(name) - 1, description, sizeof(description) - 1);
	entry_type = (PyTypeObject *)(void *)PyType_FromSpec(&entry_spec);
	attribute = PyUnicode_InternFromString("_weft");
	state_name = PyUnicode_InternFromString("_state");
	exception_name = PyUnicode_InternFromString("_exception");
	args_name = PyUnicode_InternFromString("args");
	return entry_type && attribute && state_name && exception_name && args_name;
}

struct weft_python_entry *weft_python_entry_find(PyObject *object)
{
	PyObject *dictionary = PyObject_GenericGetDict(object, NULL);
	PyObject *found = dictionary ? PyDict_GetItemWithError(dictionary, attribute) : NULL;
	Py_XDECREF(dictionary);
	if (!found)
		weft_python_drop_error();
	return found && Py_TYPE(found) == entry_type ? (struct weft_python_entry *)(void *)found : NULL;
}

static struct weft_python_entry *allocate(void)
{
	PyObject *made = ((allocfunc)PyType_GetSlot(entry_type, Py_tp_alloc))(entry_type, 0);
	struct weft_python_entry *entry = (struct weft_python_entry *)(void *)made;
	if (!entry) {
		weft_python_drop_error();
		return NULL;
	}
	entry->waiter = WEFT_TASK_NONE;
	entry->has_ended = true; /* until it is created */
	return entry;
}

static void create(struct weft_python_entry *entry, unsigned kind)
{
	entry->id = weft_ffi_create(category, 0, WEFT_TASK_CURRENT, (uint16_t)kind);
	entry->stands_for = entry->id;
	entry->interrupts = weft_python_interrupts;
	entry->has_ended = false;
}

struct weft_python_entry *weft_python_entry_create(unsigned kind)
{
	struct weft_python_entry *entry = allocate();
	if (entry)
		create(entry, kind);
	return entry;
}

struct weft_python_entry *weft_python_entry_add(PyObject *object, unsigned kind)
{
	PyObject *dictionary = PyObject_GenericGetDict(object, NULL);
	struct weft_python_entry *entry = dictionary ? allocate() : NULL;
	bool added = entry && PyDict_SetItem(dictionary, attribute, &entry->ob_base) == 0;
	if (added)
		create(entry, kind);
	Py_XDECREF((PyObject *)entry); /* the dictionary keeps it */
	Py_XDECREF(dictionary);
	weft_python_drop_error();
	return added ? entry : NULL;
}

void weft_python_entry_label(struct weft_python_entry *entry, PyObject *label)
{
	struct weft_python_text text;
	entry->has_label = true;
	if (label && weft_python_text_init(&text, label)) {
		weft_ffi_label(category, 0, entry->id, text.bytes, text.size, text.cache);
		weft_python_text_finish(&text);
	}
	weft_python_drop_error();
}

static bool is_state(PyObject *state, const char *name)
{
	return PyUnicode_Check(state) && PyUnicode_CompareWithASCIIString(state, name) == 0;
}

/* "ValueError: text at crawl:12". Only a text that is the exception's first argument, so that no
 * method of the program is called. */
static PyObject *describe(PyObject *exception)
{
	PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(exception), "__name__");
	PyObject *args = PyObject_GetAttr(exception, args_name);
	PyObject *first =
		args && PyTuple_Check(args) && PyTuple_Size(args) ? PyTuple_GetItem(args, 0) : NULL;
	PyObject *text = NULL;
	PyObject *location = weft_python_call_quietly(weft_python_location_of_error, exception);
	weft_python_drop_error();
	if (name && first && PyUnicode_CheckExact(first))
		text = PyUnicode_FromFormat("%U: %U%V", name, first, location, "");
	else if (name)
		text = PyUnicode_FromFormat("%U%V", name, location, "");
	Py_XDECREF(location);
	Py_XDECREF(name);
	Py_XDECREF(args);
	return text;
}

void weft_python_entry_fail(struct weft_python_entry *entry, PyObject *message)
{
	struct weft_python_text text = {.bytes = ""};
	if (!entry->has_ended && message && weft_python_text_init(&text, message)) {
		weft_ffi_fail(category, 0, WEFT_TASK_CURRENT, entry->id, text.bytes, text.size);
		weft_python_text_finish(&text);
		entry->has_ended = true;
	}
	weft_python_drop_error();
}

void weft_python_entry_fail_by(struct weft_python_entry *entry, PyObject *exception)
{
	PyObject *description = describe(exception);
	weft_python_entry_fail(entry, description);
	Py_XDECREF(description);
}

static bool is_cancel(PyObject *exception)
{
	PyObject *type = (PyObject *)Py_TYPE(exception);
	return type == PyExc_KeyboardInterrupt || type == weft_python_cancelled_error;
}

/* sys.exit(0) or sys.exit(): the program ends as it should. */
static bool is_success(PyObject *exception)
{
	if (exception == Py_None)
		return true;
	if ((PyObject *)Py_TYPE(exception) != PyExc_SystemExit)
		return false;
	PyObject *code = PyObject_GetAttrString(exception, "code");
	bool is = code && (code == Py_None || (PyLong_Check(code) && PyObject_IsTrue(code) == 0));
	Py_XDECREF(code);
	weft_python_drop_error();
	return is;
}

static void end_as(struct weft_python_entry *entry, PyObject *state, PyObject *future)
{
	/* Not future.exception(): asyncio would then not report that nobody asked for it. */
	PyObject *exception =
		is_state(state, "FINISHED") ? PyObject_GetAttr(future, exception_name) : NULL;
	if (!exception || is_cancel(exception))
		weft_ffi_cancel(category, 0, WEFT_TASK_CURRENT, entry->id);
	else if (is_success(exception))
		weft_ffi_resolve(category, 0, WEFT_TASK_CURRENT, entry->id);
	else
		weft_python_entry_fail_by(entry, exception);
	entry->has_ended = true;
	Py_XDECREF(exception);
}

void weft_python_entry_end(struct weft_python_entry *entry, PyObject *future)
{
	if (entry->has_ended)
		return;
	PyObject *state = PyObject_GetAttr(future, state_name);
	if (state && !is_state(state, "PENDING") && !is_state(state, "RUNNING"))
		end_as(entry, state, future);
	Py_XDECREF(state);
	weft_python_drop_error();
}
