/* SPDX-License-Identifier: ISC
 *
 * Loops that block: a callback or task calls result() of a future that another loop, or its own
 * one, has to resolve. Nothing else runs on that loop meanwhile, so if it is its own, it waits for
 * ever. So does a job of a full thread pool that calls result() of another job of that pool.
 *
 *     main ─▶ result() ─▶ event loop ─▶ main
 */
#ifndef WEFT_PYTHON_RESULTS_H
#define WEFT_PYTHON_RESULTS_H

#include "methods.h"

struct weft_python_entry;

/* concurrent.futures.Future.result */
extern struct weft_python_method weft_python_result;

/* `code`: that of the callback by which run_coroutine_threadsafe() makes its task, or NULL.
 * `label`: called in result(), returns a label for the wait. */
bool weft_python_results_init(PyObject *code, PyObject *label);

/* The future of run_coroutine_threadsafe() for which this callback makes the task: a new reference;
 * NULL for other callbacks. */
PyObject *weft_python_result_of(PyObject *callback);

/* The task, job or loop for which a future of concurrent.futures waits: a new reference, or NULL.
 */
struct weft_python_entry *weft_python_result_source(PyObject *future);

/* From now on the future waits for this task or loop. */
void weft_python_result_waits_for(PyObject *future, const struct weft_python_entry *source);

#endif
