/* SPDX-License-Identifier: ISC
 *
 * Records what tasks and futures do, from the callbacks that a loop is given and runs.
 */
#ifndef WEFT_PYTHON_STEPS_H
#define WEFT_PYTHON_STEPS_H

#include "methods.h"

extern struct weft_python_method weft_python_run, weft_python_call_soon;

/* The task that holds what is taken now: the one that runs, or that for which it runs. */
uint64_t weft_python_acting(void);

/* `step` and `wakeup` are callbacks of any task. */
bool weft_python_steps_init(PyObject *step, PyObject *wakeup);

#endif
