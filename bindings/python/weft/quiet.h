/* SPDX-License-Identifier: ISC
 *
 * Functions of _hooks.py run without the program's functions for tracing and profiling.
 */
#ifndef WEFT_PYTHON_QUIET_H
#define WEFT_PYTHON_QUIET_H

#include "python.h"

/* The thread's state, for the end. */
PyThreadState *weft_python_quiet_begin(void);
void weft_python_quiet_end(PyThreadState *thread);

/* Calls it with this argument, or with none; NULL and an exception. */
PyObject *weft_python_call_quietly(PyObject *function, PyObject *argument);

#endif
