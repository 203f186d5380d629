/* SPDX-License-Identifier: ISC
 *
 * Errors that asyncio reports by the exception handler of a loop, coroutines that are never
 * awaited, calls that asyncio forbids, and the end of a time.
 */
#ifndef WEFT_PYTHON_ERRORS_H
#define WEFT_PYTHON_ERRORS_H

#include "methods.h"

/* BaseEventLoop.call_exception_handler */
extern struct weft_python_method weft_python_exception;

/* Timeout._on_timeout */
extern struct weft_python_method weft_python_on_timeout;

/* _LoopBoundMixin._get_loop */
extern struct weft_python_method weft_python_get_loop;

/* A call that asyncio forbids fails: functions of _hooks.py make its label, and the message if the
 * thread is not the loop's. And the code of BaseEventLoop.call_soon. */
struct weft_python_misuses {
	PyObject *label, *message_of_stranger, *call_soon;
};
extern struct weft_python_misuses weft_python_misuses;

/* The loop is given a callback. It is not woken if another thread than its own does that by
 * call_soon(), as a future does that ends. */
void weft_python_see_caller(PyObject *loop);

/* Sees the interpreter's warning of a coroutine that was never awaited. `message(coroutine)` says
 * it as the message of a task that failed. */
bool weft_python_errors_init(PyObject *warnings, PyObject *message);

#endif
