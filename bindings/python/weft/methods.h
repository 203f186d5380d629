/* SPDX-License-Identifier: ISC
 *
 * Methods of the standard library that are replaced by functions in C.
 */
#ifndef WEFT_PYTHON_METHODS_H
#define WEFT_PYTHON_METHODS_H

#include "python.h"

/* A method and the function that replaces it. */
struct weft_python_method {
	const char *type; /* the key of its class in the dict of weft/_hooks.py */
	PyMethodDef definition;
	PyObject *original;
};

/* Calls the method with a call's arguments. */
PyObject *weft_python_forward(PyObject *method, PyObject *self, PyObject *const *arguments,
	Py_ssize_t count, PyObject *keywords);

/* A str for the name of an attribute. */
bool weft_python_intern(PyObject **ret, const char *text);

/* _hook(objects): replaces the methods; `objects` is a dict that weft/_hooks.py makes. Returns a
 * callback for the garbage collector. */
PyObject *weft_python_hook(PyObject *module, PyObject *objects);

/* _hook_pools(objects): the same for thread pools. */
PyObject *weft_python_hook_pools(PyObject *module, PyObject *objects);

#endif
