/* SPDX-License-Identifier: ISC
 *
 * Locks, conditions and semaphores for which a thread has waited: each has a task.
 *
 * An object that nobody waits for is not here, and costs its functions one load and a test.
 */
#ifndef WEFT_ADAPTERS_THREAD_OBJECTS_H
#define WEFT_ADAPTERS_THREAD_OBJECTS_H

#include <stddef.h>
#include <time.h>

#define WEFT_CATEGORY thread
#include "hooks/counts.h"

struct weft__thread_object {
	const void *address;
	struct weft__hooks_alive alive; /* valid in the process `epoch` */
	uint32_t epoch;
	uint32_t waiters;
	uint64_t holder;          /* of a lock: the task that is known to hold it */
	uint64_t waiter;          /* the task that began to wait last */
	uint64_t key;             /* of one that processes share (shared.c); 0: not known yet */
	int other;                /* the thread that is said to hold it, of another process; 0: none */
	weft_metric waited, held; /* of a lock */
	uint64_t held_since_ns;   /* by the task that had waited for it; 0: unknown */
};

/* How many threads wait for, or are known to hold, an object with that hash. */
extern uint32_t weft__thread_busy[1024];

static inline uint32_t *weft__thread_busy_count(const void *address)
{
	uintptr_t bits = (uintptr_t)address;
	return &weft__thread_busy[(bits >> 4 ^ bits >> 14) % 1024];
}

/* True if the functions of that object have something to record. */
static inline bool weft__thread_is_busy(const void *address)
{
	return unlikely(__atomic_load_n(weft__thread_busy_count(address), __ATOMIC_RELAXED) != 0);
}

/* The name of a new object: "lock requests", or "lock in serve_client" by its caller if the
 * object itself has no name. */
struct weft__thread_origin {
	const char *word;
	const void *caller;
	uint16_t kind;
	bool is_private; /* a lock that no other process can have */
};

/* Reads a number as libc would: at a wrong address the program must end by the same signal. On
 * x86-64 an address that no memory can have gives SIGBUS if it is in rbp or rsp, else SIGSEGV. */
static inline long weft__thread_nanoseconds(const struct timespec *time)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	long ns;
	__asm__("mov %c2(%1), %0"
			: "=r"(ns)
			: "a"(time), "i"(offsetof(struct timespec, tv_nsec)), "m"(*time));
	return ns;
#else
	return time->tv_nsec;
#endif
}

/* glibc refuses other times and clocks before it looks at a semaphore, lock or condition, which may
 * be at a wrong address then: the call must go to it as it is. */
static inline bool weft__thread_is_valid_time(clockid_t clock, const struct timespec *until)
{
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return false;
	long ns = weft__thread_nanoseconds(until);
	return ns >= 0 && ns < 1000000000;
}

/* The object at that address, made if there is none. NULL: there are too many, or another thread
 * keeps the table. While recording. */
struct weft__thread_object *weft__thread_object(
	const void *address, const struct weft__thread_origin *origin);

/* The same, with a name that is known. */
struct weft__thread_object *weft__thread_object_named(
	const void *address, uint16_t kind, const struct weft__hooks_text *name);

/* The same, but NULL if there is none. */
struct weft__thread_object *weft__thread_object_known(const void *address);

/* The object is about to be destroyed: another may have its address later. Not while recording. */
void weft__thread_destroyed(const void *address);

/* A thread waits for the object, and no longer does: in between, no other object gets its memory.
 */
void weft__thread_object_enter(struct weft__thread_object *object);
void weft__thread_object_leave(struct weft__thread_object *object);

/* Counts a waiter or a known holder. */
void weft__thread_busy_add(const void *address, int change);

/* The current task waits for the object until it is woken; and the wait is over. Both while
 * recording. */
struct weft__hooks_wait weft__thread_wait_begin(
	struct weft__thread_object *object, const char *call);
/* Before a wait begins that may end without a thread of the process, see WEFT_TAG_LIMITED. */
static inline void weft__thread_wait_limited(const struct weft__thread_object *object)
{
	weft_tag_value_as(object->alive.task, WEFT_TAG_LIMITED, 1);
}
void weft__thread_wait_end(
	struct weft__thread_object *object, const struct weft__hooks_wait *wait, bool is_woken);

/* A thread was cancelled when it was blocked on that task, which may be an object's. */
void weft__thread_wait_left(uint64_t task);

/* The current task wakes tasks that wait for the object. False if there are none. While recording.
 */
bool weft__thread_wake(const void *address);

/* handlers.c: the program handles other signals than SIGINT. A handler may post a semaphore. */
extern bool weft__thread_has_handlers;

/* mutex.c: the calling thread is about to release the mutex. */
void weft__thread_mutex_released(const void *mutex);

#endif
