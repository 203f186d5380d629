/* SPDX-License-Identifier: ISC
 *
 * Locks and semaphores of asyncio: one becomes a task of the trace when a task first waits for it.
 * Until then only its holders are remembered, so that locks for which nobody waits are no events.
 */
#ifndef WEFT_PYTHON_LOCKS_H
#define WEFT_PYTHON_LOCKS_H

#include "entry.h"

/* Objects of Python, from weft/asyncio.py. */
struct weft_python_locks {
	PyObject *lock_type, *semaphore_type; /* NULL: they are not recorded */
	PyObject *wake_up_next;               /* the code of the semaphore's method of that name */
	PyObject *label;                      /* called with a new lock, returns its label */
};
extern struct weft_python_locks weft_python_locks;

/* Adds attributes to the types. */
bool weft_python_locks_init(void);

/* The future for which a task waits is that of a lock. Returns the lock's entry if it waits for
 * other tasks, else NULL. */
struct weft_python_entry *weft_python_lock_wait(struct weft_python_entry *future, PyObject *lock);

/* A step of the task begins, which the future woke. */
void weft_python_lock_got(struct weft_python_entry *task, const struct weft_python_entry *future);

/* The task is about to end: a lock that it still holds is recorded. */
void weft_python_locks_see_end(struct weft_python_entry *task);

#endif
