/* SPDX-License-Identifier: ISC
 *
 * Errors that asyncio reports by the exception handler of a loop, coroutines that are never
 * awaited, and the end of a time.
 */
#ifndef WEFT_PYTHON_ERRORS_H
#define WEFT_PYTHON_ERRORS_H

#include "methods.h"

/* BaseEventLoop.call_exception_handler */
extern struct weft_python_method weft_python_exception;

/* Timeout._on_timeout */
extern struct weft_python_method weft_python_on_timeout;

/* Sees the interpreter's warning of a coroutine that was never awaited. `message(coroutine)` says
 * it as the message of a task that failed. */
bool weft_python_errors_init(PyObject *warnings, PyObject *message);

#endif
