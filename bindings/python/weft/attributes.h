/* SPDX-License-Identifier: ISC
 *
 * Attributes of the standard library's objects whose changes are looked at: a descriptor of the
 * attribute's name in the type, which keeps the value where it was, in the object's dictionary. So
 * the methods that change it run as they are.
 */
#ifndef WEFT_PYTHON_ATTRIBUTES_H
#define WEFT_PYTHON_ATTRIBUTES_H

#include "python.h"

struct weft_python_attribute {
	PyObject **name; /* a variable that has the attribute's name */
	/* Called after each change with the object's dictionary and two borrowed values. `before` is
	 * NULL when the object is made. May leave an exception. */
	void (*changed)(PyObject *object, PyObject *dictionary, PyObject *before, PyObject *now);
};

/* `type` is NULL if the type has no such attribute: then it does nothing. `name` is not copied. */
bool weft_python_attribute_add(
	PyObject *type, const char *name, struct weft_python_attribute *attribute);

/* Methods of the types whose objects are in dictionaries of the program's: its objects can be
 * copied by copy.deepcopy() and pickle as if these were None. */
extern PyMethodDef weft_python_copied_as_none[];

#endif
