/* SPDX-License-Identifier: ISC
 *
 * poll and select, and their variants.
 */
#include "io/plain.h"

#include <errno.h>
#include <poll.h>
#include <sys/select.h>

#include "io/hook.h"
#include "io/loop.h"

int __poll_chk(struct pollfd *polled, nfds_t size, int ms, size_t room);
int __ppoll_chk(struct pollfd *polled, nfds_t size, const struct timespec *time,
	const sigset_t *signals, size_t room);

/* ---- Waits for one descriptor ---- */

/* One call of poll or select. */
struct polling {
	/* The wait for `fd` alone. Without a waiter, the call is a round of a loop instead. */
	struct weft__hooks_wait alone;
	int fd;
	bool is_answer; /* `alone` is for the answer to what the task has just written */
	bool is_look;   /* the call only tests a client's connection, and does not wait */
};

static struct polling begin_alone(int fd, unsigned events, bool may_sleep)
{
	struct polling polling = {.alone = {.waiter = WEFT_TASK_NONE}, .fd = fd};
	if (weft__io_has_asked()) {
		polling.alone = weft__io_wait_for_answer(fd);
		polling.is_answer = polling.alone.waiter != WEFT_TASK_NONE;
	}
	if (may_sleep && !polling.is_answer)
		polling.alone = weft__io_wait_alone(fd, events);
	return polling;
}

static bool is_alone(const struct polling *polling)
{
	return polling->alone.waiter != WEFT_TASK_NONE;
}

/* `events`: 0 after a time-out. Errors and hang-ups count as input: the program reads them. */
static void end_alone(const struct polling *polling, unsigned events)
{
	if (!polling->is_answer) {
		if (events & (POLLERR | POLLHUP))
			events |= POLLIN;
		weft__io_wait_alone_end(&polling->alone, polling->fd, events);
		return;
	}
	int saved = weft__hooks_begin();
	if (events)
		weft__hooks_wait_got(&polling->alone);
	else
		weft__hooks_wait_ended(&polling->alone);
	weft__hooks_end(saved);
}

/* ---- poll ---- */

/* True for a descriptor by which another thread may wake this one: an eventfd, or one of a pair of
 * sockets. */
static bool wakes(int fd)
{
	const struct weft__io_object *object = weft__io_known(fd);
	return object && (object->type == WEFT__IO_EVENT || object->type == WEFT__IO_UNIX) &&
		   !weft__io_is_client(fd);
}

/* The descriptor for which the call waits alone: the only one; or a client's connection, if the
 * other one wakes the thread. NULL if there is no such descriptor. */
static const struct pollfd *only_polled(const struct pollfd *polled, nfds_t size)
{
	if (size == 1)
		return polled;
	for (int i = 0; size == 2 && i < 2; i++)
		if (weft__io_is_client(polled[i].fd) && wakes(polled[1 - i].fd))
			return &polled[i];
	return NULL;
}

static struct polling begin_poll(const struct pollfd *polled, nfds_t size, bool may_sleep)
{
	struct polling polling = {.alone = {.waiter = WEFT_TASK_NONE}};
	const struct pollfd *only = only_polled(polled, size);
	if (only)
		polling = begin_alone(only->fd, (unsigned)only->events, may_sleep);
	polling.is_look = only && !may_sleep && weft__io_is_client(only->fd);
	if (is_alone(&polling) || polling.is_look)
		return polling;
	if (weft__io_has_asked())
		for (nfds_t i = 0; i < size; i++)
			weft__io_expect(polled[i].fd, (unsigned)polled[i].events);
	weft__io_wait_begin(may_sleep);
	return polling;
}

static void end_poll(
	const struct polling *polling, const struct pollfd *polled, nfds_t size, int count)
{
	const struct pollfd *only = polled;
	while (is_alone(polling) && only < polled + size - 1 && only->fd != polling->fd)
		only++;
	if (is_alone(polling))
		end_alone(polling, count > 0 ? (unsigned)only->revents : 0);
	if (polling->is_look || (is_alone(polling) && count <= (only->revents != 0)))
		return;
	weft__io_wait_over();
	for (nfds_t i = 0; i < size && count > 0; i++) {
		if (!polled[i].revents)
			continue;
		count--;
		weft__io_ready(polled[i].fd, (unsigned)polled[i].revents);
	}
	weft__io_wait_end();
}

#define POLL(call, may_sleep)                                   \
	__extension__({                                             \
		bool is_recorded = weft__io_is_wait(caller, may_sleep); \
		struct polling polling;                                 \
		if (is_recorded)                                        \
			polling = begin_poll(polled, size, may_sleep);      \
		int count = (call);                                     \
		if (is_recorded)                                        \
			end_poll(&polling, polled, size, count);            \
		count;                                                  \
	})

WEFT__IO_ENTRY(int, poll, (struct pollfd * polled, nfds_t size, int ms), (polled, size, ms))
{
	return POLL(WEFT__IO_NEXT(poll)(polled, size, ms), ms != 0);
}

WEFT__IO_ENTRY(int, __poll_chk, (struct pollfd * polled, nfds_t size, int ms, size_t room),
	(polled, size, ms, room))
{
	return POLL(WEFT__IO_NEXT(__poll_chk)(polled, size, ms, room), ms != 0);
}

static bool may_sleep(const struct timespec *time)
{
	return !time || time->tv_sec || time->tv_nsec;
}

WEFT__IO_ENTRY(int, ppoll,
	(struct pollfd * polled, nfds_t size, const struct timespec *time, const sigset_t *signals),
	(polled, size, time, signals))
{
	return POLL(WEFT__IO_NEXT(ppoll)(polled, size, time, signals), may_sleep(time));
}

WEFT__IO_ENTRY(int, __ppoll_chk,
	(struct pollfd * polled, nfds_t size, const struct timespec *time, const sigset_t *signals,
		size_t room),
	(polled, size, time, signals, room))
{
	return POLL(WEFT__IO_NEXT(__ppoll_chk)(polled, size, time, signals, room), may_sleep(time));
}

/* ---- select ---- */

/* Like FD_ISSET, but `fd` may be above FD_SETSIZE: programs allocate larger sets for such numbers.
 * NULL is an empty set. */
static bool has(const fd_set *set, int fd)
{
	const unsigned long *words = (const unsigned long *)(const void *)set;
	const int bits = 8 * (int)sizeof(*words);
	return set && (words[fd / bits] >> (fd % bits) & 1);
}

static unsigned events_of(int fd, const fd_set *in, const fd_set *out)
{
	return (has(in, fd) ? POLLIN : 0u) | (has(out, fd) ? POLLOUT : 0u);
}

/* The only descriptor in the sets, if it is in `in`; else -1. */
static int only_reader(int size, const fd_set *in, const fd_set *out, const fd_set *other)
{
	int found = -1;
	for (int fd = 0; fd < size; fd++) {
		if (has(out, fd) || has(other, fd) || (has(in, fd) && found >= 0))
			return -1;
		if (has(in, fd))
			found = fd;
	}
	return found;
}

static struct polling begin_select(
	int size, const fd_set *in, const fd_set *out, const fd_set *other, bool sleeps)
{
	struct polling polling = {.alone = {.waiter = WEFT_TASK_NONE}};
	int only = only_reader(size, in, out, other);
	if (only >= 0)
		polling = begin_alone(only, POLLIN, sleeps);
	if (is_alone(&polling))
		return polling;
	if (weft__io_has_asked())
		for (int fd = 0; fd < size; fd++)
			weft__io_expect(fd, events_of(fd, in, out));
	weft__io_wait_begin(sleeps);
	return polling;
}

static void end_select(
	const struct polling *polling, int size, const fd_set *in, const fd_set *out, int count)
{
	if (is_alone(polling)) {
		end_alone(polling, count > 0 ? POLLIN : 0);
		return;
	}
	weft__io_wait_over();
	for (int fd = 0; fd < size && count > 0; fd++)
		if (events_of(fd, in, out))
			weft__io_ready(fd, events_of(fd, in, out));
	weft__io_wait_end();
}

#define SELECT(call, sleeps)                                      \
	__extension__({                                               \
		bool is_recorded = weft__io_is_wait(caller, sleeps);      \
		struct polling polling;                                   \
		if (is_recorded)                                          \
			polling = begin_select(size, in, out, other, sleeps); \
		int count = (call);                                       \
		if (is_recorded)                                          \
			end_select(&polling, size, in, out, count);           \
		count;                                                    \
	})

WEFT__IO_ENTRY(int, select,
	(int size, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		struct timeval *restrict time),
	(size, in, out, other, time))
{
	bool sleeps = !time || time->tv_sec || time->tv_usec;
	return SELECT(WEFT__IO_NEXT(select)(size, in, out, other, time), sleeps);
}

WEFT__IO_ENTRY(int, pselect,
	(int size, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		const struct timespec *restrict time, const sigset_t *restrict signals),
	(size, in, out, other, time, signals))
{
	return SELECT(WEFT__IO_NEXT(pselect)(size, in, out, other, time, signals), may_sleep(time));
}
