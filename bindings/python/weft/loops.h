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
	/* After Ctrl-C: a task for all that the loop still runs. Its tasks are cancelled then, which
	 * is not recorded: they are in the trace as they were when the program was interrupted. */
	struct weft_python_entry *cleanup;
	bool is_asleep; /* nothing is left that could wake the loop */
};
extern _Thread_local struct weft_python_running *weft_python_running;

/* True if what the tasks of this thread do is recorded. */
bool weft_python_is_recording(void);

/* True if what the loop is given now is recorded, by a thread that may not run it. */
bool weft_python_loop_is_recorded(PyObject *loop);

/* The running loop's task. */
uint64_t weft_python_loop_id(void);

/* From now on the loop's task runs, or its clean-up. */
void weft_python_loop_runs(void);

/* The task of a loop, created if it has none; NULL if it cannot have one. */
struct weft_python_entry *weft_python_loop_entry(PyObject *loop);

extern struct weft_python_method weft_python_run_forever, weft_python_close, weft_python_on_sigint,
	weft_python_start_serving;

/* For the select() of a class of selectors. */
extern PyMethodDef weft_python_select;

/* `label` is a function that returns the label of this thread's loop, `is_asleep` one that says
 * whether nothing is left that could wake it, `selects` has {class: original method}. */
bool weft_python_loops_init(PyObject *label, PyObject *is_asleep, PyObject *selects);

#endif
