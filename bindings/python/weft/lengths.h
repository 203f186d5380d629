/* SPDX-License-Identifier: ISC
 *
 * How many items there are in queues without a bound: a counter for all queues that the same line
 * of the program makes. Queues that are always short have none.
 */
#ifndef WEFT_PYTHON_LENGTHS_H
#define WEFT_PYTHON_LENGTHS_H

#include "python.h"

struct weft_python_length {
	PyObject *name; /* str; NULL: it is not counted */
	Py_ssize_t counted;
	bool is_counted;
};

/* collections.deque */
extern PyObject *weft_python_deque_type;

/* Called after each change with the object that has the items. What is neither a list nor a deque
 * is not counted: its length is the program's code. */
void weft_python_length_see(struct weft_python_length *length, PyObject *items);

/* The queue is freed with the items that are in it. */
void weft_python_length_finish(struct weft_python_length *length);

#endif
