/* SPDX-License-Identifier: ISC
 *
 * Jobs of concurrent.futures.ThreadPoolExecutor, which asyncio.to_thread() uses, and garbage
 * collections. An executor becomes a task of the trace, a pool, when a job first waits for a
 * thread; it is held by the jobs that run.
 */
#ifndef WEFT_PYTHON_JOBS_H
#define WEFT_PYTHON_JOBS_H

#include "methods.h"

extern struct weft_python_method weft_python_submit, weft_python_job_init, weft_python_job_run;

/* True if this thread runs a job. */
bool weft_python_runs_job(void);

/* True if jobs wait for a thread or run. */
bool weft_python_jobs_pending(void);

/* `label` is a function that returns the label of a job, `label_of_pool` that of an executor.
 * `has_jobs`: pools may have some already, which were not seen. */
bool weft_python_jobs_init(PyObject *label, PyObject *label_of_pool, bool has_jobs);

/* A new function for gc.callbacks. */
PyObject *weft_python_collector(void);

#endif
