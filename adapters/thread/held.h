/* SPDX-License-Identifier: ISC
 *
 * Locks that a thread holds: mutexes, and locks of writers.
 */
#ifndef WEFT_ADAPTERS_THREAD_HELD_H
#define WEFT_ADAPTERS_THREAD_HELD_H

#include "thread/objects.h"

/* A thread that waits for a lock. */
struct weft__thread_waiting {
	struct weft__thread_object *lock; /* NULL: nothing is recorded */
	struct weft__hooks_wait wait;
	uint64_t began_ns;
};

/* The lock is not free. `owner`: the number of the thread that holds it, 0 if that is unknown. */
void weft__thread_lock_wait(const void *address, int owner,
	const struct weft__thread_origin *origin, bool is_timed, struct weft__thread_waiting *ret_it);

/* The wait is over. `holds`: the task has the lock now, alone. */
void weft__thread_lock_got(const struct weft__thread_waiting *it, bool holds);

/* The current task is about to give the lock back. */
void weft__thread_lock_release(const void *address);

/* Ends the hold of the lock, whichever thread gives it back. */
void weft__thread_lock_release_of_any(const void *address);

/* Finds the metrics of a new lock of that name. */
void weft__thread_find_lock_metrics(
	struct weft__thread_object *lock, const struct weft__hooks_text *name);

static inline void weft__thread_lock_release_if_busy(const void *address)
{
	if (weft__thread_is_busy(address) && HOOKS_RECORD)
		weft__thread_lock_release(address);
}

#endif
