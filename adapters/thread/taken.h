/* SPDX-License-Identifier: ISC
 *
 * Locks of Python. They are semaphores, mostly released by the thread that took them.
 *
 * Python tries each lock while it has its global lock, and releases the global lock before it
 * waits. If a try succeeds, the thread that took the lock is remembered. If it fails, the code that
 * Python executes is looked at, which says how the program uses the lock. If Python then waits, the
 * task of the lock is named after that code. If the program uses it as a lock, the task is of the
 * kind lock, and the thread that took it is its holder.
 */
#ifndef WEFT_ADAPTERS_THREAD_TAKEN_H
#define WEFT_ADAPTERS_THREAD_TAKEN_H

#include <semaphore.h>

#include "thread/held.h"

#include "hooks/python.h"

/* Python has tried to take the semaphore. Call it only while recording. */
void weft__thread_tried(const sem_t *semaphore, bool is_taken);

/* A thread releases the semaphore; the semaphore is destroyed. */
void weft__thread_given(const sem_t *semaphore);
void weft__thread_taken_forget(const sem_t *semaphore);

struct weft__thread_taken {
	int by;          /* the number of the thread that took it at once; 0: unknown */
	uint64_t thread; /* the task of the thread whose end is awaited; else WEFT_TASK_NONE */
	bool is_lock;    /* the thread that takes it releases it */
};

/* The calling thread has to wait for the semaphore. If Python waits for a lock, the lock gets a
 * task with its name. */
void weft__thread_taken_wait(struct weft__thread_taken *ret, const sem_t *semaphore);

/* True if waits for it are those for a lock. */
bool weft__thread_taken_is_lock(const sem_t *semaphore);

#endif
