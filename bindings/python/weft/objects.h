/* SPDX-License-Identifier: ISC
 *
 * The types of the module: weft.Category, weft.Name, weft.Mark.
 */
#ifndef WEFT_PYTHON_OBJECTS_H
#define WEFT_PYTHON_OBJECTS_H

#include "arguments.h"

/* Adds the types to the module. */
bool weft_python_objects_init(PyObject *module);

/* The handle of a weft.Category, NULL for None. False: an exception is set. */
bool weft_python_category(PyObject *object, struct weft_category **ret);

/* The text of a weft.Name; false without an exception if the object has another type. */
bool weft_python_name_text(PyObject *object, struct weft_python_text *ret);

/* A new weft.Name; `text` is a str. */
PyObject *weft_python_name_create(PyObject *text);

/* The weft.Name of a str, the same one in each call, as a borrowed reference; NULL without an
 * exception if there are too many. */
PyObject *weft_python_name_of(PyObject *text);

#endif
