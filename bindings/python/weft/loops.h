/* SPDX-License-Identifier: ISC
 *
 * Event loops: each is a task, which runs whatever belongs to no other task, and is idle while it
 * selects.
 */
#ifndef WEFT_PYTHON_LOOPS_H
#define WEFT_PYTHON_LOOPS_H

#include "methods.h"

/* The event loop that runs on this thread; NULL if none does. */
struct weft_python_running {
	PyObject *loop, *selector;
	struct weft_python_entry *entry;      /* NULL: not yet */
	struct weft_python_entry *timing_out; /* the future that a timer ends now */
	PyObject *result;                     /* the future of which a callback makes the task now */
	struct weft_python_entry *step;       /* the task of which a step runs now */
};
extern _Thread_local struct weft_python_running *weft_python_running;

/* The running loop's task. */
uint64_t weft_python_loop_id(void);

/* The task of a loop, created if it has none; NULL if it cannot have one. */
struct weft_python_entry *weft_python_loop_entry(PyObject *loop);

extern struct weft_python_method weft_python_run_forever, weft_python_close;

/* For the select() of a class of selectors. */
extern PyMethodDef weft_python_select;

/* `label` is a function that returns the label of this thread's loop, `selects` has {class:
 * original method}. */
bool weft_python_loops_init(PyObject *label, PyObject *selects);

#endif
