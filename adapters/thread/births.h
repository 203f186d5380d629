/* SPDX-License-Identifier: ISC
 *
 * Threads that this process has created and not joined: the function that each one runs, and the
 * tasks of those that can still be joined.
 *
 * The program's pthread_t variable is never read: the new thread may have freed it before
 * pthread_create returns. So a thread registers its own handle when it begins, and a caller that
 * has a handle already waits for that moment.
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
	/* The thread has it, too, until it is named, which may be before it begins. */
	char creators_name[16];
	bool is_detached; /* created so */
	pthread_t thread; /* set when the thread begins */
	uint32_t state;   /* births.c */
	uint32_t claims;  /* of its creator, of the thread, and the right to join it; 0: free */
};

/* With the claims of the creator and of the thread. NULL: there are too many threads. */
struct weft__thread_birth *weft__thread_birth_take(void);

/* One claim less. */
void weft__thread_birth_let_go(struct weft__thread_birth *birth);

/* pthread_create has returned, or has failed: the creator's claim ends. */
void weft__thread_birth_created(struct weft__thread_birth *birth);
void weft__thread_birth_failed(struct weft__thread_birth *birth);

/* The calling thread is that one. From here on its handle is known, unless it is detached. */
void weft__thread_birth_begins(struct weft__thread_birth *birth);

/* It has ended: its claim ends. */
void weft__thread_birth_ends(struct weft__thread_birth *birth);

/* The thread with that handle, if it can be joined. NULL: unknown. */
struct weft__thread_birth *weft__thread_birth_of(pthread_t thread);

/* The same for a living thread: waits for it to begin, if it is still being created. */
struct weft__thread_birth *weft__thread_birth_await(pthread_t thread);

/* The thread can no longer be joined. */
void weft__thread_birth_forget(pthread_t thread);

#endif
