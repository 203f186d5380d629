/* SPDX-License-Identifier: ISC
 *
 * epoll. It reports the data that the program registered with a descriptor, not the descriptor: a
 * table maps one to the other. Entries are never removed, because epoll reports only registered
 * data, and registering replaces the entry.
 */
#include "io/plain.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "io/hook.h"
#include "io/edge.h"
#include "io/loop.h"

#include "hooks/asked.h"
#include "hooks/vain.h"

enum {
	ENTRIES = 1 << 17,
	PROBES = 8
};

struct registered {
	uint64_t data;
	int epoll; /* and 1: 0 is an empty entry */
	int fd;
};

static struct registered *entries;

__attribute__((constructor(105))) static void begin(void)
{
	if (!getenv("WEFT_ADAPTERS"))
		return;
	void *memory = mmap(NULL, ENTRIES * sizeof(*entries), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	entries = memory == MAP_FAILED ? NULL : memory;
}

static size_t hash(int epoll, uint64_t data)
{
	uint64_t mixed = (data ^ (uint64_t)(unsigned)epoll << 48) * 0x9e3779b97f4a7c15;
	return mixed >> 47; /* 17 bits */
}

static struct registered *find_registered(int epoll, uint64_t data)
{
	size_t home = hash(epoll, data);
	for (size_t i = 0; i < PROBES; i++) {
		struct registered *entry = &entries[(home + i) % ENTRIES];
		if (entry->epoll == epoll + 1 && entry->data == data)
			return entry;
		if (!entry->epoll)
			return NULL;
	}
	return NULL;
}

/* If all entries are taken, the first one's descriptor is not found any more. */
static struct registered *find_entry(int epoll, uint64_t data)
{
	size_t home = hash(epoll, data);
	struct registered *found = find_registered(epoll, data);
	for (size_t i = 0; !found && i < PROBES; i++)
		if (!entries[(home + i) % ENTRIES].epoll)
			found = &entries[(home + i) % ENTRIES];
	return found ? found : &entries[home];
}

/* The number of an instance, unlike its descriptor's, is never used again. 0: unknown. */
static uint32_t instance_of(int epoll)
{
	static uint32_t last;
	struct weft__io_object *object = weft__io_object(epoll);
	if (!object)
		return 0;
	uint32_t known = __atomic_load_n(&object->instance, __ATOMIC_RELAXED);
	if (likely(known))
		return known;
	uint32_t number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	/* Another thread may have given it a number meanwhile. */
	bool is_ours = __atomic_compare_exchange_n(
		&object->instance, &known, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return is_ours ? number : known;
}

static void add_registered(int epoll, int fd, const struct epoll_event *given)
{
	struct epoll_event event;
	if (!weft__hooks_copy(&event, given, sizeof(event)))
		return;
	struct registered *entry = find_entry(epoll, event.data.u64);
	*entry = (struct registered){event.data.u64, epoll + 1, fd};
	struct weft__io_object *object = weft__io_object(fd);
	if (!object)
		return;
	object->epoll = instance_of(epoll);
	weft__io_watched(fd, object, event.events);
	weft__io_edge_armed(object);
}

static void drop(int fd)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (!object)
		return;
	object->epoll = 0;
	weft__io_watched(fd, object, 0);
}

static void change(int epoll, int operation, int fd, const struct epoll_event *event)
{
	if (operation != EPOLL_CTL_DEL)
		add_registered(epoll, fd, event);
	else
		drop(fd);
}

HOOK(epoll_ctl)
int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	int result = NEXT(epoll_ctl)(epoll, operation, fd, event);
	if (HOOKS_RECORD && result == 0 && entries && weft__io_is_programs(__builtin_return_address(0)))
		change(epoll, operation, fd, event);
	return result;
}

HOOKS_ASKED(SYS_epoll_ctl, ask_epoll_ctl)
{
	const long *argument = it->argument;
	long result = weft__hooks_ask(it);
	if (HOOKS_RECORD && result == 0 && entries && weft__io_is_programs(it->caller))
		change((int)argument[0], (int)argument[1], (int)argument[2], weft__hooks_pointer(it, 3));
	return result;
}

/* ---- Waits ---- */

/* EPOLLIN is POLLIN and so on. */
static void report_some(int epoll, const struct epoll_event events[], int count)
{
	for (int i = 0; i < count; i++) {
		const struct registered *entry = find_registered(epoll, events[i].data.u64);
		if (!entry)
			continue;
		weft__io_ready(entry->fd, events[i].events);
		struct weft__io_object *object = weft__io_known(entry->fd);
		if (object && object->watched & (EPOLLONESHOT | EPOLLET) && events[i].events & EPOLLIN)
			weft__io_edge_reported(entry->fd, object);
	}
}

/* Most waits report few events. */
static void report_events(int epoll, const struct epoll_event *events, int count)
{
	enum {
		FEW = 16
	};
	struct epoll_event copies[FEW];
	weft__io_wait_over();
	for (int i = 0; i < count && entries; i += FEW) {
		int size = count - i < FEW ? count - i : FEW;
		if (!weft__hooks_copy(copies, events + i, (size_t)size * sizeof(*events)))
			break;
		report_some(epoll, copies, size);
	}
	weft__io_wait_end();
}

#define EPOLL_VAIN "epoll_wait with a time-out of 0"

/* `call` waits; `may_sleep` is false if it returns at once. */
#define WAIT(call, may_sleep)                                             \
	__extension__({                                                       \
		const bool weft__may_sleep = may_sleep;                           \
		bool is_recorded = weft__io_is_programs(caller);                  \
		if (is_recorded)                                                  \
			weft__io_wait_begin(weft__may_sleep, instance_of(epoll));     \
		int count = (call);                                               \
		if (is_recorded)                                                  \
			report_events(epoll, events, count);                          \
		if (is_recorded && !weft__may_sleep && count == 0)                \
			weft__hooks_vain(EPOLL_VAIN, weft__io_thread.waits_since_ns); \
		count;                                                            \
	})

WEFT__IO_ENTRY(int, epoll_wait, (int epoll, struct epoll_event *events, int most, int ms),
	(epoll, events, most, ms))
{
	return WAIT(WEFT__IO_NEXT(epoll_wait)(epoll, events, most, ms), ms != 0);
}

WEFT__IO_ENTRY(int, epoll_pwait,
	(int epoll, struct epoll_event *events, int most, int ms, const sigset_t *signals),
	(epoll, events, most, ms, signals))
{
	return WAIT(WEFT__IO_NEXT(epoll_pwait)(epoll, events, most, ms, signals), ms != 0);
}

WEFT__IO_ENTRY(int, epoll_pwait2,
	(int epoll, struct epoll_event *events, int most, const struct timespec *time,
		const sigset_t *signals),
	(epoll, events, most, time, signals))
{
	return WAIT(
		WEFT__IO_NEXT(epoll_pwait2)(epoll, events, most, time, signals), weft__io_may_sleep(time));
}

/* ---- Waits by syscall() ---- */

static long ask_to_wait(const struct weft__hooks_asked *it, bool may_sleep)
{
	const void *caller = it->caller;
	const int epoll = (int)it->argument[0];
	const struct epoll_event *events = weft__hooks_pointer(it, 1);
	return HOOKS_RECORD ? WAIT((int)weft__hooks_ask(it), may_sleep) : weft__hooks_ask(it);
}

#ifdef SYS_epoll_wait
HOOKS_ASKED(SYS_epoll_wait, ask_epoll_wait)
{
	return ask_to_wait(it, (int)it->argument[3] != 0);
}
#endif

HOOKS_ASKED(SYS_epoll_pwait, ask_epoll_pwait)
{
	return ask_to_wait(it, (int)it->argument[3] != 0);
}

#ifdef SYS_epoll_pwait2
HOOKS_ASKED(SYS_epoll_pwait2, ask_epoll_pwait2)
{
	return ask_to_wait(it, weft__io_may_sleep(weft__hooks_pointer(it, 3)));
}
#endif
