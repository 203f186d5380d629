/* SPDX-License-Identifier: ISC
 *
 * Python's stable ABI: one extension module for all versions of Python from 3.11 on.
 */
#ifndef WEFT_PYTHON_PYTHON_H
#define WEFT_PYTHON_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <stdbool.h>
#include <weft/weft_ffi.h>

/* METH_FASTCALL | METH_KEYWORDS: Python has no public name for this type before 3.13. */
typedef PyObject *weft_python_function(
	PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);

/* For a PyMethodDef: all its functions have this type, its flags tell which one is meant. */
#define WEFT_PYTHON_FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

#endif
