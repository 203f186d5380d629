/* SPDX-License-Identifier: ISC
 *
 * A table of objects by address, without locks: an entry is taken by storing its address, and
 * stays.
 *
 * Threads that come to an object at the same time may both make its task; one of these is kept, and
 * the other is closed at once.
 */
#include "thread/objects.h"

#include "hooks/used.h"

#define OBJECTS 4096 /* a power of two */
#define PROBE   64

uint32_t weft__thread_busy[1024];

static struct weft__thread_object objects[OBJECTS];
static uint64_t used[WEFT__HOOKS_USED(OBJECTS)];

static struct weft__thread_object *entry_of(const void *address, bool make)
{
	uintptr_t bits = (uintptr_t)address;
	size_t first = bits >> 3 ^ bits >> 15;
	for (size_t i = 0; i < PROBE; i++) {
		struct weft__thread_object *it = &objects[(first + i) % OBJECTS];
		const void *is = __atomic_load_n(&it->address, __ATOMIC_ACQUIRE);
		if (is == address)
			return it;
		if (is)
			continue;
		if (!make)
			return NULL;
		if (__atomic_compare_exchange_n(
				&it->address, &is, address, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
			is == address)
			return it;
	}
	return NULL;
}

static void make_name(
	struct weft__hooks_text *text, const void *address, const struct weft__thread_origin *origin)
{
	weft__hooks_append(text, origin->word);
	struct weft__hooks_text unused = {0};
	bool is_named = weft__hooks_append_symbol(&unused, address);
	weft__hooks_append(text, is_named ? " " : " in ");
	weft__hooks_append_symbol(text, is_named ? address : origin->caller);
}

/* The task of a new object, or of one whose task belongs to the parent process. */
static void make_task(struct weft__thread_object *it, const struct weft__thread_origin *origin)
{
	uint32_t epoch = weft__hooks_epoch();
	struct weft__hooks_text name = {0};
	struct weft__hooks_alive alive;
	make_name(&name, it->address, origin);
	weft__hooks_create(&alive, WEFT_TASK_NONE, origin->kind, &name);
	it->holder = it->waiter = WEFT_TASK_NONE;
	it->waiters = 0;
	it->alive = alive;
	__atomic_store_n(&it->epoch, epoch, __ATOMIC_RELEASE);
	weft__hooks_use(used, (size_t)(it - objects));
}

struct weft__thread_object *weft__thread_object(
	const void *address, const struct weft__thread_origin *origin)
{
	struct weft__thread_object *it = entry_of(address, true);
	if (it && __atomic_load_n(&it->epoch, __ATOMIC_ACQUIRE) != weft__hooks_epoch())
		make_task(it, origin);
	return it;
}

struct weft__thread_object *weft__thread_object_known(const void *address)
{
	struct weft__thread_object *it = entry_of(address, false);
	return it && __atomic_load_n(&it->epoch, __ATOMIC_ACQUIRE) == weft__hooks_epoch() ? it : NULL;
}

/* Locks for which nobody ever waited have no entry, and most programs destroy many of these. */
void weft__thread_destroyed(const void *address)
{
	struct weft__thread_object *it = weft__thread_object_known(address);
	if (!it || !HOOKS_RECORD)
		return;
	int saved = weft__hooks_begin();
	weft_close(it->alive.task);
	if (it->holder != WEFT_TASK_NONE)
		weft__thread_busy_add(address, -1);
	__atomic_store_n(&it->epoch, 0, __ATOMIC_RELEASE);
	weft__hooks_end(saved);
}

void weft__thread_busy_add(const void *address, int change)
{
	__atomic_fetch_add(weft__thread_busy_count(address), (uint32_t)change, __ATOMIC_RELAXED);
}

struct weft__hooks_wait weft__thread_wait_begin(struct weft__thread_object *object)
{
	struct weft__hooks_wait wait = weft__hooks_wait_for(object->alive.task);
	__atomic_store_n(&object->waiter, wait.waiter, __ATOMIC_RELAXED);
	__atomic_fetch_add(&object->waiters, 1, __ATOMIC_RELEASE);
	weft__thread_busy_add(object->address, 1);
	return wait;
}

void weft__thread_wait_end(
	struct weft__thread_object *object, const struct weft__hooks_wait *wait, bool is_woken)
{
	__atomic_fetch_sub(&object->waiters, 1, __ATOMIC_RELAXED);
	weft__thread_busy_add(object->address, -1);
	if (is_woken)
		weft__hooks_wait_got(wait);
	else
		weft__hooks_wait_ended(wait);
}

/* Locks count no waiters, and no thread is cancelled when it waits for one. */
void weft__thread_wait_left(uint64_t task)
{
	for (size_t i = 0; task != WEFT_TASK_NONE && i < OBJECTS; i++) {
		struct weft__thread_object *it = &objects[i];
		if (it->alive.task != task || !__atomic_load_n(&it->waiters, __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_sub(&it->waiters, 1, __ATOMIC_RELAXED);
		weft__thread_busy_add(it->address, -1);
	}
}

/* If there are several waiters, it is unknown which one will be woken: the signal goes to the
 * object. */
void weft__thread_wake(const void *address)
{
	struct weft__thread_object *it = weft__thread_object_known(address);
	if (!it)
		return;
	uint32_t waiters = __atomic_load_n(&it->waiters, __ATOMIC_ACQUIRE);
	uint64_t waiter = __atomic_load_n(&it->waiter, __ATOMIC_RELAXED);
	weft__hooks_thread_task();
	if (waiters)
		weft_signal_only(waiters == 1 && waiter != WEFT_TASK_NONE ? waiter : it->alive.task);
}

static unsigned run_down(void)
{
	unsigned count = 0;
	for (size_t i = 0; (i = weft__hooks_next_used(used, OBJECTS, i)) < OBJECTS; i++) {
		const struct weft__thread_object *it = &objects[i];
		if (__atomic_load_n(&it->epoch, __ATOMIC_ACQUIRE) != weft__hooks_epoch())
			continue;
		weft__hooks_rundown_task(&it->alive, WEFT_TASK_NONE);
		count++;
	}
	return count;
}

__attribute__((constructor)) static void offer_rundown(void)
{
	weft__hooks_rundown_add(run_down);
}
