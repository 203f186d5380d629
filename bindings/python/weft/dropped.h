/* SPDX-License-Identifier: ISC
 *
 * Errors inside of a hook, of which the program must not know; but for those that are its own.
 */
#ifndef WEFT_PYTHON_DROPPED_H
#define WEFT_PYTHON_DROPPED_H

#include "python.h"

/* The function of this name in the module _signal: that of signal is in Python, and could be
 * interrupted. */
extern PyObject *weft_python_getsignal;

/* Clears an error of a hook, if there is one. A handler of a signal may have raised it, while the
 * hook ran code of Python, as Ctrl-C raises KeyboardInterrupt: then it is raised again, in the
 * program, right after the hook has returned. */
void weft_python_drop_error(void);

#endif
