/* SPDX-License-Identifier: ISC
 *
 * poll and select, and their variants.
 */
#include "io/plain.h"

#include <errno.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/uio.h>

#include "io/hook.h"
#include "io/loop.h"

#include "hooks/asked.h"
#include "hooks/vain.h"

int __poll_chk(struct pollfd *polled, nfds_t size, int ms, size_t room);
int __ppoll_chk(struct pollfd *polled, nfds_t size, const struct timespec *time,
	const sigset_t *signals, size_t room);

/* ---- Waits for one descriptor ---- */

/* One call of poll or select. */
struct polling {
	bool is_recorded;
	/* The wait for `fd` alone. Without a waiter, the call is a round of a loop instead. */
	struct weft__hooks_wait alone;
	int fd;
	bool is_answer;    /* `alone` is for the answer to what the task has just written */
	bool is_look;      /* the call only tests a client's connection, and does not wait */
	uint64_t began_ns; /* of a call that may not sleep; else 0 */
};

static void begin_alone(struct polling *ret, int fd, unsigned events, bool may_sleep)
{
	ret->fd = fd;
	if (weft__io_has_asked()) {
		weft__io_wait_for_answer(&ret->alone, fd);
		ret->is_answer = ret->alone.waiter != WEFT_TASK_NONE;
	}
	if (may_sleep && !ret->is_answer)
		weft__io_wait_alone(&ret->alone, fd, events);
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

enum {
	FEW = 16,  /* entries that are copied at a time */
	ALONE = 2, /* calls with more are rounds of a loop */
};

/* True for a descriptor by which another thread may wake this one: an eventfd, or one of a pair of
 * sockets. */
static bool wakes(int fd)
{
	const struct weft__io_object *object = weft__io_known(fd);
	return object && (object->type == WEFT__IO_EVENT || object->type == WEFT__IO_UNIX) &&
		   !weft__io_is_client(fd);
}

/* The index of the descriptor for which the call waits alone: the only one; or a client's
 * connection, if the other one wakes the thread. -1: there is no such descriptor. */
static int only_polled(const struct pollfd *polled, nfds_t size)
{
	if (size == 1)
		return 0;
	for (int i = 0; size == 2 && i < 2; i++)
		if (weft__io_is_client(polled[i].fd) && wakes(polled[1 - i].fd))
			return i;
	return -1;
}

/* Copies the entries from `at` on. Returns how many; 0: there are no more, or they cannot be read.
 */
static nfds_t copy_polled(
	struct pollfd copies[FEW], const struct pollfd *polled, nfds_t size, nfds_t at)
{
	nfds_t count = size - at < FEW ? size - at : FEW;
	bool is_copied = at < size && at < WEFT__IO_DESCRIPTORS &&
					 weft__hooks_copy(copies, polled + at, count * sizeof(*polled));
	return is_copied ? count : 0;
}

static __attribute__((noinline)) void expect_polled(const struct pollfd *polled, nfds_t size)
{
	struct pollfd copies[FEW];
	for (nfds_t at = 0, count; (count = copy_polled(copies, polled, size, at)); at += count)
		for (nfds_t i = 0; i < count; i++)
			weft__io_expect(copies[i].fd, (unsigned)copies[i].events);
}

static void begin_poll(
	struct polling *ret, const struct pollfd *polled, nfds_t size, bool may_sleep)
{
	struct pollfd copies[ALONE];
	*ret = (struct polling){.is_recorded = true,
		.alone = {.waiter = WEFT_TASK_NONE},
		.began_ns = may_sleep ? 0 : weft__hooks_now_ns()};
	if (size > 0 && size <= ALONE) {
		ret->is_recorded = weft__hooks_copy(copies, polled, size * sizeof(*polled));
		if (!ret->is_recorded)
			return;
		int only = only_polled(copies, size);
		if (only >= 0)
			begin_alone(ret, copies[only].fd, (unsigned)copies[only].events, may_sleep);
		ret->is_look = only >= 0 && !may_sleep && weft__io_is_client(copies[only].fd);
	}
	if (is_alone(ret) || ret->is_look)
		return;
	if (weft__io_has_asked())
		expect_polled(polled, size);
	weft__io_wait_begin(may_sleep, 0);
}

/* Returns true if it has reported the only one. */
static bool end_alone_polled(
	const struct polling *polling, const struct pollfd *polled, nfds_t size, int count)
{
	struct pollfd copies[ALONE];
	unsigned events = 0;
	if (count > 0 && weft__hooks_copy(copies, polled, size * sizeof(*polled)))
		events = (unsigned)copies[copies[0].fd != polling->fd && size == ALONE].revents;
	end_alone(polling, events);
	return count <= (events != 0);
}

static __attribute__((noinline)) void report_polled(
	const struct pollfd *polled, nfds_t size, int left)
{
	struct pollfd copies[FEW];
	for (nfds_t at = 0, count; left > 0 && (count = copy_polled(copies, polled, size, at));
		 at += count)
		for (nfds_t i = 0; i < count && left > 0; i++) {
			if (!copies[i].revents)
				continue;
			left--;
			weft__io_ready(copies[i].fd, (unsigned)copies[i].revents);
		}
}

static void end_poll(
	const struct polling *polling, const struct pollfd *polled, nfds_t size, int count)
{
	if (polling->is_look || (is_alone(polling) && end_alone_polled(polling, polled, size, count)))
		return;
	weft__io_wait_over();
	report_polled(polled, size, count);
	weft__io_wait_end();
	if (polling->began_ns && count == 0)
		weft__hooks_vain("poll with a time-out of 0", polling->began_ns);
}

#define POLL(call, may_sleep)                                    \
	__extension__({                                              \
		bool weft__may_sleep = may_sleep;                        \
		struct polling polling = {.is_recorded = false};         \
		if (weft__io_is_wait(caller, weft__may_sleep))           \
			begin_poll(&polling, polled, size, weft__may_sleep); \
		int count = (call);                                      \
		if (polling.is_recorded)                                 \
			end_poll(&polling, polled, size, count);             \
		count;                                                   \
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

WEFT__IO_ENTRY(int, ppoll,
	(struct pollfd * polled, nfds_t size, const struct timespec *time, const sigset_t *signals),
	(polled, size, time, signals))
{
	return POLL(WEFT__IO_NEXT(ppoll)(polled, size, time, signals), weft__io_may_sleep(time));
}

WEFT__IO_ENTRY(int, __ppoll_chk,
	(struct pollfd * polled, nfds_t size, const struct timespec *time, const sigset_t *signals,
		size_t room),
	(polled, size, time, signals, room))
{
	return POLL(
		WEFT__IO_NEXT(__ppoll_chk)(polled, size, time, signals, room), weft__io_may_sleep(time));
}

static long ask_to_poll(const struct weft__hooks_asked *it, bool may_sleep)
{
	const void *caller = it->caller;
	const struct pollfd *polled = weft__hooks_pointer(it, 0);
	const nfds_t size = (unsigned)it->argument[1];
	return HOOKS_RECORD ? POLL((int)weft__hooks_ask(it), may_sleep) : weft__hooks_ask(it);
}

#ifdef SYS_poll
HOOKS_ASKED(SYS_poll, ask_poll)
{
	return ask_to_poll(it, (int)it->argument[2] != 0);
}
#endif

HOOKS_ASKED(SYS_ppoll, ask_ppoll)
{
	return ask_to_poll(it, weft__io_may_sleep(weft__hooks_pointer(it, 2)));
}

/* ---- select ---- */

enum {
	WORDS = 8, /* of each set that are copied at a time: 512 descriptors */
	WORD_BITS = 8 * (int)sizeof(unsigned long),
};

/* The arguments of a call. A set may be NULL, which is an empty one, and may have more than
 * FD_SETSIZE descriptors: programs allocate larger sets for such numbers. */
struct selected {
	int size;
	const void *sets[3]; /* in, out, other */
};

/* A part of the sets: `words` from the descriptor `first` on. `sets`: NULL or in `bytes`. */
struct selected_part {
	int first, end;
	const unsigned long *sets[3];
	unsigned long bytes[3 * WORDS];
};

/* False: there are no more, or they cannot be read. The kernel ignores numbers above the process's
 * limit. */
static bool copy_selected(struct selected_part *ret, const struct selected *from, int first)
{
	struct iovec parts[3];
	int most = from->size < WEFT__IO_DESCRIPTORS ? from->size : WEFT__IO_DESCRIPTORS;
	if (first >= most)
		return false;
	size_t words = (size_t)(most - first + WORD_BITS - 1) / WORD_BITS, count = 0;
	words = words < WORDS ? words : WORDS;
	ret->first = first;
	ret->end = most - first < (int)words * WORD_BITS ? most : first + (int)words * WORD_BITS;
	for (int i = 0; i < 3; i++) {
		ret->sets[i] = from->sets[i] ? ret->bytes + count * words : NULL;
		if (from->sets[i])
			parts[count++] =
				(struct iovec){(char *)(uintptr_t)from->sets[i] + first / 8, words * sizeof(long)};
	}
	return count && weft__hooks_copy_parts(ret->bytes, parts, count);
}

static bool has(const struct selected_part *part, int set, int fd)
{
	int bit = fd - part->first;
	return part->sets[set] && (part->sets[set][bit / WORD_BITS] >> (bit % WORD_BITS) & 1);
}

static unsigned events_of(const struct selected_part *part, int fd)
{
	return (has(part, 0, fd) ? POLLIN : 0u) | (has(part, 1, fd) ? POLLOUT : 0u);
}

/* The only descriptor in the sets, if it is in the first one; else -1. */
static __attribute__((noinline)) int only_reader(const struct selected *selected)
{
	struct selected_part part;
	int found = -1;
	for (int at = 0; copy_selected(&part, selected, at); at = part.end)
		for (int fd = part.first; fd < part.end; fd++) {
			if (has(&part, 1, fd) || has(&part, 2, fd) || (has(&part, 0, fd) && found >= 0))
				return -1;
			if (has(&part, 0, fd))
				found = fd;
		}
	return found;
}

static __attribute__((noinline)) void expect_selected(const struct selected *selected)
{
	struct selected_part part;
	for (int at = 0; copy_selected(&part, selected, at); at = part.end)
		for (int fd = part.first; fd < part.end; fd++)
			weft__io_expect(fd, events_of(&part, fd));
}

static __attribute__((noinline)) void report_selected(const struct selected *selected)
{
	struct selected_part part;
	for (int at = 0; copy_selected(&part, selected, at); at = part.end)
		for (int fd = part.first; fd < part.end; fd++)
			if (events_of(&part, fd))
				weft__io_ready(fd, events_of(&part, fd));
}

static void begin_select(struct polling *ret, const struct selected *selected, bool sleeps)
{
	*ret = (struct polling){.is_recorded = true,
		.alone = {.waiter = WEFT_TASK_NONE},
		.began_ns = sleeps ? 0 : weft__hooks_now_ns()};
	int only = only_reader(selected);
	if (only >= 0)
		begin_alone(ret, only, POLLIN, sleeps);
	if (is_alone(ret))
		return;
	if (weft__io_has_asked())
		expect_selected(selected);
	weft__io_wait_begin(sleeps, 0);
}

static void end_select(const struct polling *polling, const struct selected *selected, int count)
{
	if (is_alone(polling)) {
		end_alone(polling, count > 0 ? POLLIN : 0);
		return;
	}
	weft__io_wait_over();
	if (count > 0)
		report_selected(selected);
	weft__io_wait_end();
	if (polling->began_ns && count == 0)
		weft__hooks_vain("select with a time-out of 0", polling->began_ns);
}

#define SELECT(call, sleeps)                                 \
	__extension__({                                          \
		bool weft__sleeps = sleeps;                          \
		struct selected selected = {size, {in, out, other}}; \
		struct polling polling = {.is_recorded = false};     \
		if (weft__io_is_wait(caller, weft__sleeps))          \
			begin_select(&polling, &selected, weft__sleeps); \
		int count = (call);                                  \
		if (polling.is_recorded)                             \
			end_select(&polling, &selected, count);          \
		count;                                               \
	})

/* As weft__io_may_sleep. */
static bool may_sleep(const struct timeval *time)
{
	struct timeval copy;
	return !time || (weft__hooks_copy(&copy, time, sizeof(copy)) && (copy.tv_sec || copy.tv_usec));
}

WEFT__IO_ENTRY(int, select,
	(int size, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		struct timeval *restrict time),
	(size, in, out, other, time))
{
	return SELECT(WEFT__IO_NEXT(select)(size, in, out, other, time), may_sleep(time));
}

WEFT__IO_ENTRY(int, pselect,
	(int size, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		const struct timespec *restrict time, const sigset_t *restrict signals),
	(size, in, out, other, time, signals))
{
	return SELECT(
		WEFT__IO_NEXT(pselect)(size, in, out, other, time, signals), weft__io_may_sleep(time));
}

#ifdef __LP64__
static long ask_to_select(const struct weft__hooks_asked *it, bool sleeps)
{
	const void *caller = it->caller;
	const int size = (int)it->argument[0];
	const void *in = weft__hooks_pointer(it, 1), *out = weft__hooks_pointer(it, 2),
			   *other = weft__hooks_pointer(it, 3);
	return HOOKS_RECORD ? SELECT((int)weft__hooks_ask(it), sleeps) : weft__hooks_ask(it);
}

#ifdef SYS_select
HOOKS_ASKED(SYS_select, ask_select)
{
	return ask_to_select(it, may_sleep(weft__hooks_pointer(it, 4)));
}
#endif

HOOKS_ASKED(SYS_pselect6, ask_pselect)
{
	return ask_to_select(it, weft__io_may_sleep(weft__hooks_pointer(it, 4)));
}
#endif
