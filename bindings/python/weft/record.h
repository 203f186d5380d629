/* SPDX-License-Identifier: ISC
 *
 * The recording functions of the module. Each binds its arguments and calls the function of
 * weft_ffi.h that has its name.
 */
#ifndef WEFT_PYTHON_RECORD_H
#define WEFT_PYTHON_RECORD_H

#include "arguments.h"

/* Tables, each ending with an empty row. */
extern PyMethodDef weft_python_of_contexts[], weft_python_of_metrics[], weft_python_of_tasks[],
	weft_python_of_texts[], weft_python_of_threads[];

/* Begins a function; PASSED are its arguments. */
#define FUNCTION(name)            \
	static PyObject *call_##name( \
		PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
#define PASSED ((void)module, (struct weft_python_passed){arguments, count, keywords})

/* A row of a table, for a function with the parameters that all recording functions have. */
#define RECORDS(name, parameters, meaning)                                               \
	{                                                                                    \
#name, WEFT_PYTHON_FUNCTION(call_##name), METH_FASTCALL | METH_KEYWORDS,         \
			#name "(" parameters "task=CURRENT, category=None, level=0)\n--\n\n" meaning \
	}

#endif
