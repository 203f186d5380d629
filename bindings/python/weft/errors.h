/* SPDX-License-Identifier: ISC
 *
 * Errors that asyncio reports by the exception handler of a loop, and the end of a time.
 */
#ifndef WEFT_PYTHON_ERRORS_H
#define WEFT_PYTHON_ERRORS_H

#include "methods.h"

/* BaseEventLoop.call_exception_handler */
extern struct weft_python_method weft_python_exception;

/* Timeout._on_timeout */
extern struct weft_python_method weft_python_on_timeout;

#endif
