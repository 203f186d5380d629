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
	PyObject *lock_acquire, *semaphore_acquire; /* codes, or NULL */
	PyObject *label;                            /* called with a new lock, returns its label */
};
extern struct weft_python_locks weft_python_locks;

/* Adds attributes to the types. */
bool weft_python_locks_init(void);

bool weft_python_is_lock(PyObject *object);

/* True if the code is that of a coroutine that takes a lock. A task of it, as wait_for() makes one,
 * takes the lock for its creator. */
bool weft_python_is_acquire(PyObject *code);

/* True if the waiter waits for those that hold the lock. False for a semaphore that tasks release
 * for others, so that nobody knows who holds it. */
bool weft_python_lock_has_holders(PyObject *lock, uint64_t waiter);

/* The entry of a lock for which a task begins to wait. NULL: it cannot be recorded. */
struct weft_python_entry *weft_python_lock_entry(PyObject *lock);

/* The future for which a task waits is that of a lock, or none. */
void weft_python_lock_awaited(struct weft_python_entry *future, PyObject *lock);

/* A step of the task begins, which the future woke. */
void weft_python_lock_got(struct weft_python_entry *task, const struct weft_python_entry *future);

/* The task is about to end: a lock that it still holds is recorded. */
void weft_python_locks_see_end(struct weft_python_entry *task);

#endif
