/* SPDX-License-Identifier: ISC
 *
 * Objects that a program makes once and records with often. Each keeps the 8 bytes in which
 * libweft remembers the number of the text, so that an event has that number instead of the text.
 */
#include "objects.h"

#define NAMES_MAX 4096

struct category {
	PyObject_HEAD struct weft_category *handle;
};

struct name {
	PyObject_HEAD uint64_t cache;
	PyObject *text; /* str */
};

struct mark {
	PyObject_HEAD uint64_t cache;
	PyObject *names; /* bytes: the mark's name and those of its values, with a NUL in between */
	Py_ssize_t count;
	PyObject *category; /* a weft.Category or None */
	struct weft_python_call call;
};

static PyTypeObject *category_type, *name_type, *mark_type;
static PyObject *names; /* {str: weft.Name} */

/* Heap types are referenced by their objects. */
static void free_object(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static PyObject *allocate(PyTypeObject *type)
{
	return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

/* ---- Categories ---- */

static PyObject *category_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	static char *parameters[] = {"name", "description", NULL};
	const char *name, *description = "";
	Py_ssize_t name_size, description_size = 0;
	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "s#|s#", parameters, &name, &name_size,
			&description, &description_size))
		return NULL;
	PyObject *self = allocate(type);
	if (self)
		((struct category *)(void *)self)->handle =
			weft_ffi_category(name, (size_t)name_size, description, (size_t)description_size);
	return self;
}

bool weft_python_category(PyObject *object, struct weft_category **ret)
{
	if (object != Py_None && !PyObject_TypeCheck(object, category_type)) {
		PyErr_Format(
			PyExc_TypeError, "category is a weft.Category or None, not %R", Py_TYPE(object));
		return false;
	}
	*ret = object == Py_None ? NULL : ((struct category *)(void *)object)->handle;
	return true;
}

static PyType_Slot category_slots[] = {
	{Py_tp_doc,
		"Category(name, description='')\n--\n\n"
		"A part of the program whose level can be set apart, for example by `weft ctl`. The same "
		"name gives the same category; after 64 names it is the category \"program\"."},
	{Py_tp_new, category_new},
	{Py_tp_dealloc, free_object},
	{0, NULL},
};
static PyType_Spec category_spec = {
	"weft.Category", sizeof(struct category), 0, Py_TPFLAGS_DEFAULT, category_slots};

/* ---- Names ---- */

PyObject *weft_python_name_create(PyObject *text)
{
	PyObject *self = allocate(name_type);
	if (self)
		((struct name *)(void *)self)->text = Py_NewRef(text);
	return self;
}

static PyObject *name_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	static char *parameters[] = {"text", NULL};
	PyObject *text;
	(void)type;
	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "U", parameters, &text))
		return NULL;
	return weft_python_name_create(text);
}

static void name_free(PyObject *self)
{
	Py_CLEAR(((struct name *)(void *)self)->text);
	free_object(self);
}

static PyObject *name_str(PyObject *self)
{
	return Py_NewRef(((struct name *)(void *)self)->text);
}

bool weft_python_name_text(PyObject *object, struct weft_python_text *ret)
{
	struct name *name = (struct name *)(void *)object;
	if (Py_TYPE(object) != name_type)
		return false;
	if (!weft_python_text_init(ret, name->text)) {
		PyErr_Clear();
		*ret = (struct weft_python_text){.bytes = ""};
	}
	/* A text with replaced characters has the same content each time, so it may have a cache, too.
	 */
	ret->cache = &name->cache;
	return true;
}

PyObject *weft_python_name_of(PyObject *text)
{
	PyObject *known = PyDict_GetItemWithError(names, text);
	if (known || PyErr_Occurred() || PyDict_Size(names) >= NAMES_MAX)
		return known;
	PyObject *name = weft_python_name_create(text);
	if (name && PyDict_SetItem(names, text, name) == 0)
		known = name; /* the dictionary keeps it */
	Py_XDECREF(name);
	return known;
}

static PyType_Slot name_slots[] = {
	{Py_tp_doc,
		"Name(text)\n--\n\n"
		"A text that is recorded often: it is stored once, and its events have its number. Can "
		"be used wherever a text is wanted."},
	{Py_tp_new, name_new},
	{Py_tp_dealloc, name_free},
	{Py_tp_str, name_str},
	{0, NULL},
};
static PyType_Spec name_spec = {
	"weft.Name", sizeof(struct name), 0, Py_TPFLAGS_DEFAULT, name_slots};

/* ---- Marks ---- */

/* The str objects in UTF-8, with a NUL in between. */
static PyObject *join(PyObject *texts)
{
	PyObject *nul = PyUnicode_FromStringAndSize("\0", 1);
	PyObject *joined = nul ? PyUnicode_Join(nul, texts) : NULL;
	PyObject *bytes = joined ? PyUnicode_AsEncodedString(joined, "utf-8", "replace") : NULL;
	Py_XDECREF(nul);
	Py_XDECREF(joined);
	return bytes;
}

static PyObject *mark_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	static char *parameters[] = {"category", "level", NULL};
	struct weft_category *handle;
	PyObject *category = Py_None, *nothing = PyTuple_New(0);
	unsigned level = 0;
	Py_ssize_t count = PyTuple_Size(arguments) - 1;
	bool valid = nothing && PyArg_ParseTupleAndKeywords(
								nothing, keywords, "|$OI", parameters, &category, &level);
	Py_XDECREF(nothing);
	if (!valid || !weft_python_category(category, &handle))
		return NULL;
	if (count < 0 || count > WEFT_PYTHON_VALUES_MAX)
		return PyErr_Format(PyExc_TypeError, "Mark() has a name, and names of at most %d values",
			WEFT_PYTHON_VALUES_MAX);
	PyObject *joined = join(arguments);
	struct mark *self = joined ? (struct mark *)(void *)allocate(type) : NULL;
	if (!self) {
		Py_XDECREF(joined);
		return NULL;
	}
	self->names = joined;
	self->count = count;
	self->category = Py_NewRef(category);
	self->call = (struct weft_python_call){WEFT_TASK_CURRENT, handle, level};
	return (PyObject *)self;
}

static void mark_free(PyObject *object)
{
	struct mark *self = (struct mark *)(void *)object;
	Py_CLEAR(self->names);
	Py_CLEAR(self->category);
	free_object(object);
}

static bool mark_task(PyObject *keywords, uint64_t *ret)
{
	PyObject *task = keywords ? PyDict_GetItemString(keywords, "task") : NULL;
	if (keywords && PyDict_Size(keywords) != (task != NULL)) {
		PyErr_SetString(PyExc_TypeError, "a mark has no keyword but task");
		return false;
	}
	return !task || weft_python_task(task, ret);
}

static PyObject *mark_call(PyObject *object, PyObject *arguments, PyObject *keywords)
{
	struct mark *self = (struct mark *)(void *)object;
	struct weft_python_values values;
	uint64_t task = self->call.task;
	char *bytes;
	Py_ssize_t size;
	if (PyTuple_Size(arguments) != self->count)
		return PyErr_Format(PyExc_TypeError, "this mark has %zd values, got %zd", self->count,
			PyTuple_Size(arguments));
	if (!mark_task(keywords, &task))
		return NULL;
	if (!weft_ffi_is_enabled(self->call.category, self->call.level))
		Py_RETURN_NONE;
	if (PyBytes_AsStringAndSize(self->names, &bytes, &size) ||
		!weft_python_values_init(&values, arguments))
		return NULL;
	weft_ffi_mark(self->call.category, self->call.level, task, bytes, (size_t)size, &self->cache,
		values.count, values.values);
	weft_python_values_finish(&values);
	Py_RETURN_NONE;
}

static PyType_Slot mark_slots[] = {
	{Py_tp_doc, "Mark(name, *names_of_values, category=None, level=0)\n--\n\n"
				"A moment with values: request = Mark('request', 'bytes', 'path'), then "
				"request(512, '/index'), or request(512, '/index', task=id)."},
	{Py_tp_new, mark_new},
	{Py_tp_dealloc, mark_free},
	{Py_tp_call, mark_call},
	{0, NULL},
};
static PyType_Spec mark_spec = {
	"weft.Mark", sizeof(struct mark), 0, Py_TPFLAGS_DEFAULT, mark_slots};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
	PyTypeObject *type = (PyTypeObject *)(void *)PyType_FromSpec(spec);
	if (type && PyModule_AddType(module, type))
		Py_CLEAR(type);
	return type;
}

bool weft_python_objects_init(PyObject *module)
{
	names = PyDict_New();
	category_type = add_type(module, &category_spec);
	name_type = add_type(module, &name_spec);
	mark_type = add_type(module, &mark_spec);
	return names && category_type && name_type && mark_type;
}
