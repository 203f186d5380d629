/* SPDX-License-Identifier: ISC
 *
 * Threads that this process has created and not joined: the function that each one runs, and the
 * tasks of those that can still be joined.
 */
#ifndef WEFT_ADAPTERS_THREAD_BIRTHS_H
#define WEFT_ADAPTERS_THREAD_BIRTHS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hooks/hooks.h"

/* A thread has one until it has ended and was joined, or was detached. */
struct weft__thread_birth {
	/* The function of the new thread: one of the two. */
	void *(*function)(void *);
	int (*c11_function)(void *);
	void *argument;
	struct weft__hooks_alive alive; /* valid in the process `epoch` */
	uint32_t epoch;
	bool is_unnamed;  /* the task has no label yet */
	pthread_t thread; /* valid while `is_joinable` */
	uint32_t is_joinable;
	uint32_t claims; /* the thread has one, and the right to join it is one; 0: free */
};

/* NULL: there are too many threads. */
struct weft__thread_birth *weft__thread_birth_take(void);

/* One claim less. */
void weft__thread_birth_let_go(struct weft__thread_birth *birth);

/* The thread with that handle, if it can be joined. NULL: unknown. */
struct weft__thread_birth *weft__thread_birth_of(pthread_t thread);

#endif
