/* SPDX-License-Identifier: ISC
 *
 * Locks of Python: semaphores that the thread gives back which has taken them, for the most part.
 *
 * Python tries each lock, with its global lock, before it waits without that. Who took a lock at
 * once is remembered; and when a try fails, what Python executes then, which says how the program
 * uses the lock. If it waits, the lock's task is named by that, and is of the kind lock, with the
 * thread that took it as holder, where the program uses it as a lock.
 */
#ifndef WEFT_ADAPTERS_THREAD_TAKEN_H
#define WEFT_ADAPTERS_THREAD_TAKEN_H

#include <semaphore.h>

#include "thread/held.h"

#include "hooks/python.h"

/* Python has tried to take the semaphore. While recording. */
void weft__thread_tried(const sem_t *semaphore, bool is_taken);

/* A thread gives the semaphore back; and it is destroyed. */
void weft__thread_given(const sem_t *semaphore);
void weft__thread_taken_forget(const sem_t *semaphore);

struct weft__thread_taken {
	int by;          /* the number of the thread that took it at once; 0: unknown */
	uint64_t thread; /* the task of the thread whose end is awaited; else WEFT_TASK_NONE */
	bool is_lock;    /* who takes it gives it back */
};

/* The calling thread has to wait for the semaphore: if Python waits for a lock, that gets a task
 * with the name. */
void weft__thread_taken_wait(struct weft__thread_taken *ret, const sem_t *semaphore);

/* True if waits for it are those for a lock. */
bool weft__thread_taken_is_lock(const sem_t *semaphore);

#endif
