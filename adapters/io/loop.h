/* SPDX-License-Identifier: ISC
 *
 * Loops of a program that wait for several descriptors.
 *
 *     wait            the thread is idle
 *     return of it    its own task runs; descriptors that are ready are marked
 *     first use       the task of a ready descriptor runs, until the next one's first use or the
 * next wait
 *
 * If a task writes to a descriptor, and the loop then waits for its input, the task has asked
 * something: it waits for that descriptor's task, until that is used.
 */
#ifndef WEFT_ADAPTERS_IO_LOOP_H
#define WEFT_ADAPTERS_IO_LOOP_H

#include <poll.h>
#include <time.h>

#include "io/descriptors.h"

enum {
	WEFT__IO_ASKED = 4,
	WEFT__IO_EDGES = 8
};

struct weft__io_thread {
	uint64_t round;          /* number of the thread's last wait, unique in the process; 0: none */
	uint64_t running;        /* the descriptor's task that was let run last */
	uint32_t epoch;          /* of the process in which these are valid */
	uint32_t epoll;          /* the number of the instance in which it last waited; 0: none */
	bool is_idle;            /* in a wait that may sleep */
	uint64_t waits_since_ns; /* the begin of its last wait, also of one that may not sleep */
	uint64_t
		blocked_since;   /* weft_now() when a task of the program began to wait; 0: it does not */
	unsigned edge_count; /* descriptors of the last wait, see edge.h */
	int edges[WEFT__IO_EDGES];
	uint64_t answered; /* source for which the thread's own task waited, if this wait reported it */
	unsigned asked_count;
	struct weft__io_asked {
		uint64_t task;
		int fd;
		unsigned wants;   /* POLLIN or POLLOUT */
		bool is_expected; /* the present wait includes it */
	} asked[WEFT__IO_ASKED];
};

extern __thread struct weft__io_thread weft__io_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* True if the call that `caller` makes is not recorded by another adapter (caller.c). */
bool weft__io_is_programs(const void *caller);
/* The same, for poll and select. */
bool weft__io_is_wait(const void *caller, bool may_sleep);

/* The object becomes a task, as far as it can be named by now. In a task of a program that records
 * itself it does not: the program has tasks of its own for what it waits for. `to`: see
 * weft__io_task_to. */
void weft__io_begin_task(
	int fd, struct weft__io_object *object, const struct sockaddr *to, socklen_t size);

/* True if the current task may wait for the object's task: it exists already, or may begin. */
bool weft__io_may_wait_for(const struct weft__io_object *object);

/* An epoll instance waits for these events of the object. */
void weft__io_watched(int fd, struct weft__io_object *object, uint32_t events);

/* False if a wait with that time returns at once. NULL is no limit. */
bool weft__io_may_sleep(const struct timespec *time);

/* Around a wait that may sleep. After the first one, in this order: the wait, weft__io_wait_over,
 * weft__io_ready for each descriptor, weft__io_wait_end. `epoll`: the number of the instance, or
 * 0. */
void weft__io_wait_begin(bool may_sleep, uint32_t epoll);
void weft__io_wait_over(void);
void weft__io_ready(int fd, unsigned events);
void weft__io_wait_end(void);

/* The present wait includes a descriptor, and these events. Call it before weft__io_wait_begin if
 * weft__io_has_asked. */
static inline bool weft__io_has_asked(void)
{
	return weft__io_thread.asked_count != 0;
}
void weft__io_expect(int fd, unsigned events);

/* The current task has written to the descriptor, or has begun to connect it. */
void weft__io_ask(int fd, unsigned wants);

/* The descriptor has been read: nobody waits for it any more. */
void weft__io_answered(int fd);

/* A descriptor's task that waits for another descriptor alone, to which it has just written: it is
 * inside of a function that asks and returns with the answer. The wait is that task's, which goes
 * on. Its `waiter` is WEFT_TASK_NONE if that is not so. */
void weft__io_wait_for_answer(struct weft__hooks_wait *ret, int fd);

/* A wait for one pipe, terminal or connection alone is no round of a loop but a part of what the
 * current task does, as a read that blocks is. `waiter` is WEFT_TASK_NONE if the descriptor is
 * something else. `events`: POLLIN, POLLOUT. */
void weft__io_wait_alone(struct weft__hooks_wait *ret, int fd, unsigned events);
/* True for a connection that this process has made, and which is a task. */
bool weft__io_is_client(int fd);
/* It is over, with the events that were reported; 0: none. After that, the descriptor counts as
 * used, so that its read does not wait. */
void weft__io_wait_alone_end(const struct weft__hooks_wait *wait, int fd, unsigned events);

/* The thread uses a descriptor: POLLIN or POLLOUT. errno stays. */
void weft__io_activate(int fd, struct weft__io_descriptor *descriptor);
static inline void weft__io_use(int fd, unsigned how)
{
	struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	if (descriptor && descriptor->round == weft__io_thread.round && (descriptor->ready & how))
		weft__io_activate(fd, descriptor);
}

/* True if the thread's last wait reported the descriptor, so that a read will hardly block. A reply
 * may: nothing was reported about writing. */
static inline bool weft__io_is_ready(int fd)
{
	const struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	return descriptor && weft__io_thread.round && descriptor->used == weft__io_thread.round &&
		   !(descriptor->ready & WEFT__IO_GUESSED);
}

/* The thread writes to a descriptor. If it has read it in this round, and serves the other side,
 * that is its reply: its task goes on, also if the loop has let other tasks run since. */
void weft__io_continue(int fd);
static inline void weft__io_reply(int fd)
{
	const struct weft__io_descriptor *descriptor = weft__io_descriptor(fd);
	if (descriptor && weft__io_thread.round && descriptor->used == weft__io_thread.round)
		weft__io_continue(fd);
}

/* A descriptor that has just been accepted counts as ready: programs often try to read it at once.
 */
void weft__io_accepted(int fd);

#endif
