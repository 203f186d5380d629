/* SPDX-License-Identifier: ISC
 *
 * See attributes.h.
 */
#include "attributes.h"

#include "dropped.h"

static void set_missing(PyObject *object, PyObject *name)
{
	PyObject *type = PyType_GetName(Py_TYPE(object));
	if (type)
		PyErr_Format(PyExc_AttributeError, "'%U' object has no attribute '%U'", type, name);
	Py_XDECREF(type);
}

static PyObject *get(PyObject *object, void *closure)
{
	PyObject *name = *((const struct weft_python_attribute *)closure)->name;
	PyObject *dictionary = PyObject_GenericGetDict(object, NULL);
	PyObject *value = dictionary ? PyDict_GetItemWithError(dictionary, name) : NULL;
	Py_XINCREF(value);
	Py_XDECREF(dictionary);
	if (!value && !PyErr_Occurred())
		set_missing(object, name);
	return value;
}

static int set(PyObject *object, PyObject *value, void *closure)
{
	const struct weft_python_attribute *attribute = closure;
	PyObject *dictionary = PyObject_GenericGetDict(object, NULL);
	if (!dictionary)
		return -1;
	PyObject *before = Py_XNewRef(PyDict_GetItemWithError(dictionary, *attribute->name));
	int error = value    ? PyDict_SetItem(dictionary, *attribute->name, value)
				: before ? PyDict_DelItem(dictionary, *attribute->name)
						 : -1;
	if (error && !PyErr_Occurred())
		set_missing(object, *attribute->name);
	if (!error && value)
		attribute->changed(object, dictionary, before, value);
	if (!error)
		weft_python_drop_error();
	Py_XDECREF(before);
	Py_DECREF(dictionary);
	return error;
}

static PyObject *reduce(PyObject *self, PyObject *nothing)
{
	(void)self, (void)nothing;
	return Py_BuildValue("(O())", Py_TYPE(Py_None));
}

PyMethodDef weft_python_copied_as_none[] = {
	{"__reduce__", reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

bool weft_python_attribute_add(
	PyObject *type, const char *name, struct weft_python_attribute *attribute)
{
	/* The descriptor keeps the definition. */
	PyGetSetDef *definition = type ? PyMem_Calloc(1, sizeof(*definition)) : NULL;
	if (!type)
		return true;
	if (!definition)
		return PyErr_NoMemory(), false;
	*definition = (PyGetSetDef){name, get, set, NULL, attribute};
	PyObject *descriptor = PyDescr_NewGetSet((PyTypeObject *)(void *)type, definition);
	bool added = descriptor && !PyObject_SetAttrString(type, name, descriptor);
	Py_XDECREF(descriptor);
	return added;
}
