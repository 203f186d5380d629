/* SPDX-License-Identifier: ISC
 *
 * See lengths.h.
 */
#include "lengths.h"

#include "dropped.h"
#include "entry.h"
#include "steps.h"

/* From so many items on, a queue is counted. */
#define LENGTH_MIN 16

PyObject *weft_python_deque_type;

static void add(const struct weft_python_length *length, Py_ssize_t change)
{
	Py_ssize_t size;
	const char *name = PyUnicode_AsUTF8AndSize(length->name, &size);
	if (name)
		weft_ffi_counter_add(weft_python_asyncio(), 0, weft_python_acting(), name, (size_t)size,
			NULL, (int64_t)change);
	weft_python_drop_error();
}

void weft_python_length_see(struct weft_python_length *length, PyObject *items)
{
	if (!length->name || !items ||
		!(PyList_CheckExact(items) || (PyObject *)Py_TYPE(items) == weft_python_deque_type))
		return;
	const Py_ssize_t now = PySequence_Size(items);
	length->is_counted |= now >= LENGTH_MIN;
	if (!length->is_counted || now == length->counted)
		return;
	add(length, now - length->counted);
	length->counted = now;
}

void weft_python_length_finish(struct weft_python_length *length)
{
	if (length->counted)
		add(length, -length->counted);
	Py_XDECREF(length->name);
}
