/* SPDX-License-Identifier: ISC
 *
 * A table of objects by address. Lookups take no lock. An entry is taken, and its task made, by the
 * one thread that has claimed the table; another one that needs a new entry at the same time tries
 * for a moment, and records nothing if that does not help.
 *
 *     keys       | address, or NULL: never used | ...     an address is within PROBE of its hash
 *     objects    | its object                   | ...     alive if `epoch` is that of the process
 *
 * A key stays when its object is destroyed, so that lookups can stop at the first NULL. Another
 * address may have the entry after that, but not while threads are still in a wait for it.
 */
#include "thread/objects.h"

#include <string.h>

#include "hooks/used.h"
#include "kernel/call.h"
#include "thread/held.h"

#define OBJECTS 16384 /* a power of two */
#define PROBE   64
#define TRIES   1000

uint32_t weft__thread_busy[1024];

static const void *keys[OBJECTS];
static struct weft__thread_object objects[OBJECTS];
static uint64_t used[WEFT__HOOKS_USED(OBJECTS)];

/* ---- Claims ---- */

/* The process in which a thread has claimed the table: a claim of the parent's ends with the fork.
 */
static uint32_t claimed_epoch;

static bool try_claim(void)
{
	uint32_t own = weft__hooks_epoch(), is = __atomic_load_n(&claimed_epoch, __ATOMIC_RELAXED);
	return is != own && __atomic_compare_exchange_n(
							&claimed_epoch, &is, own, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* The other thread needs a microsecond, but the system may have stopped it. */
static bool claim(void)
{
	for (int i = 0; i < TRIES; i++) {
		if (try_claim())
			return true;
		if (i < TRIES / 2 || !weft__hooks_system_begin())
			continue;
		weft__kernel_yield();
		weft__hooks_system_end();
	}
	return false;
}

static void unclaim(void)
{
	__atomic_store_n(&claimed_epoch, 0, __ATOMIC_RELEASE);
}

/* ---- Entries ---- */

static size_t first_of(const void *address)
{
	uint64_t bits = (uint64_t)(uintptr_t)address >> 3;
	return (size_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 40) % OBJECTS;
}

static struct weft__thread_object *entry_of(const void *address)
{
	size_t first = first_of(address);
	for (size_t i = 0; i < PROBE; i++) {
		const void *is = __atomic_load_n(&keys[(first + i) % OBJECTS], __ATOMIC_ACQUIRE);
		if (is == address)
			return &objects[(first + i) % OBJECTS];
		if (!is)
			return NULL;
	}
	return NULL;
}

static bool is_alive(const struct weft__thread_object *it)
{
	return __atomic_load_n(&it->epoch, __ATOMIC_ACQUIRE) == weft__hooks_epoch();
}

struct weft__thread_object *weft__thread_object_known(const void *address)
{
	struct weft__thread_object *it = entry_of(address);
	return it && is_alive(it) ? it : NULL;
}

/* Threads that leave a wait still write to it. */
static bool is_in_use(const struct weft__thread_object *it)
{
	return is_alive(it) || (it->epoch == 0 && __atomic_load_n(&it->waiters, __ATOMIC_ACQUIRE) != 0);
}

/* With the table claimed. NULL: all entries near the address are in use. */
static struct weft__thread_object *take_entry(const void *address)
{
	size_t first = first_of(address);
	for (size_t i = 0; i < PROBE; i++) {
		size_t at = (first + i) % OBJECTS;
		struct weft__thread_object *it = &objects[at];
		if (keys[at] && is_in_use(it))
			continue;
		it->address = address;
		__atomic_store_n(&keys[at], address, __ATOMIC_RELEASE);
		return it;
	}
	return NULL;
}

/* ---- Objects ---- */

/* True for the names of functions that only lock or wait: all objects of a program may be used in
 * one of these. */
static bool is_wrapper(const struct weft__hooks_text *function)
{
	static const char *const words[] = {
		"mutex", "lock", "cond", "sem_", "Mutex", "Lock", "Cond", "Monitor", "Semaphore"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(function->bytes, function->size, words[i], strlen(words[i])))
			return true;
	return false;
}

/* "lock requests", "lock in serve_client", or "lock 0x7f3c40000b60 in uv_mutex_lock" */
static void make_name(
	struct weft__hooks_text *text, const void *address, const struct weft__thread_origin *origin)
{
	struct weft__hooks_text own = {0}, caller = {0};
	bool is_named = weft__hooks_append_symbol(&own, address);
	weft__hooks_append(text, origin->word);
	weft__hooks_append(text, " ");
	if (!is_named && weft__hooks_append_symbol(&caller, origin->caller) && is_wrapper(&caller)) {
		weft__hooks_append_hexadecimal(text, (uintptr_t)address);
		weft__hooks_append(text, " ");
	}
	if (!is_named)
		weft__hooks_append(text, "in ");
	weft__hooks_append_symbol(text, is_named ? address : origin->caller);
}

/* The task of a new object, or of one whose task belongs to the parent process. Threads may still
 * be about to leave a wait for one that was destroyed. */
static void make_task(
	struct weft__thread_object *it, uint16_t kind, const struct weft__hooks_text *name)
{
	if (it->epoch != 0)
		it->waiters = 0;
	weft__hooks_create(&it->alive, WEFT_TASK_NONE, kind, name);
	it->holder = it->waiter = WEFT_TASK_NONE;
	it->other = 0;
	it->key = 0;
	it->held_since_ns = 0;
	if (kind == WEFT_KIND_LOCK || kind == WEFT_KIND_RWLOCK)
		weft__thread_find_lock_metrics(it, name);
	__atomic_store_n(&it->epoch, weft__hooks_epoch(), __ATOMIC_RELEASE);
	weft__hooks_use(used, (size_t)(it - objects));
}

/* Waits for it are not recorded: the trace says so once, and counts them. */
static void leave_out(void)
{
	static uint32_t marked_epoch;
	if (__atomic_exchange_n(&marked_epoch, weft__hooks_epoch(), __ATOMIC_RELAXED) !=
		weft__hooks_epoch())
		weft_mark("too many locks and conditions: waits for further ones are not recorded");
	weft_counter_add("waits not recorded", 1);
}

struct wanted {
	const void *address;
	const struct weft__thread_origin *origin;
	uint16_t kind;
	const struct weft__hooks_text *name;
	struct weft__thread_object *found; /* NULL: there is no room */
};

static void make_entry(struct wanted *wanted)
{
	struct weft__thread_object *it = entry_of(wanted->address);
	if (!it)
		it = take_entry(wanted->address);
	if (it && !is_alive(it))
		make_task(it, wanted->kind, wanted->name);
	wanted->found = it;
}

static void make_named(void *of)
{
	struct wanted *wanted = of;
	if (claim()) {
		make_entry(wanted);
		unclaim();
	}
	if (!wanted->found)
		leave_out();
}

/* The name takes long to find, so it is there before the table is claimed. */
static void make(void *of)
{
	struct wanted *wanted = of;
	struct weft__hooks_text name = {0};
	make_name(&name, wanted->address, wanted->origin);
	wanted->name = &name;
	make_named(wanted);
}

static struct weft__thread_object *find_or_make(struct wanted *wanted, void (*make_it)(void *))
{
	struct weft__thread_object *it = weft__thread_object_known(wanted->address);
	if (likely(it))
		return it;
	weft__hooks_aside(make_it, wanted);
	return wanted->found;
}

struct weft__thread_object *weft__thread_object(
	const void *address, const struct weft__thread_origin *origin)
{
	struct wanted wanted = {.address = address, .origin = origin, .kind = origin->kind};
	return find_or_make(&wanted, make);
}

struct weft__thread_object *weft__thread_object_named(
	const void *address, uint16_t kind, const struct weft__hooks_text *name)
{
	struct wanted wanted = {.address = address, .kind = kind, .name = name};
	return find_or_make(&wanted, make_named);
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
	weft__hooks_unuse(used, (size_t)(it - objects));
	__atomic_store_n(&it->epoch, 0, __ATOMIC_RELEASE);
	weft__hooks_end(saved);
}

void weft__thread_busy_add(const void *address, int change)
{
	__atomic_fetch_add(weft__thread_busy_count(address), (uint32_t)change, __ATOMIC_RELAXED);
}

void weft__thread_object_enter(struct weft__thread_object *object)
{
	__atomic_fetch_add(&object->waiters, 1, __ATOMIC_RELEASE);
	weft__thread_busy_add(object->address, 1);
}

void weft__thread_object_leave(struct weft__thread_object *object)
{
	weft__thread_busy_add(object->address, -1);
	__atomic_fetch_sub(&object->waiters, 1, __ATOMIC_RELEASE);
}

struct weft__hooks_wait weft__thread_wait_begin(
	struct weft__thread_object *object, const char *call)
{
	struct weft__hooks_wait wait = weft__hooks_wait_for(object->alive.task, call);
	__atomic_store_n(&object->waiter, wait.waiter, __ATOMIC_RELAXED);
	weft__thread_object_enter(object);
	return wait;
}

void weft__thread_wait_end(
	struct weft__thread_object *object, const struct weft__hooks_wait *wait, bool is_woken)
{
	weft__thread_object_leave(object);
	if (is_woken)
		weft__hooks_wait_got(wait);
	else
		weft__hooks_wait_ended(wait);
}

/* An object that was destroyed meanwhile keeps its waiter, and with it its entry. */
void weft__thread_wait_left(uint64_t task)
{
	if (task == WEFT_TASK_NONE)
		return;
	for (size_t i = 0; (i = weft__hooks_next_used(used, OBJECTS, i)) < OBJECTS; i++) {
		struct weft__thread_object *it = &objects[i];
		if (it->alive.task != task || !__atomic_load_n(&it->waiters, __ATOMIC_RELAXED))
			continue;
		weft__thread_object_leave(it);
	}
}

/* If there are several waiters, it is unknown which one will be woken: the signal goes to the
 * object. */
bool weft__thread_wake(const void *address)
{
	struct weft__thread_object *it = weft__thread_object_known(address);
	if (!it)
		return false;
	uint32_t waiters = __atomic_load_n(&it->waiters, __ATOMIC_ACQUIRE);
	uint64_t waiter = __atomic_load_n(&it->waiter, __ATOMIC_RELAXED);
	weft__hooks_thread_task();
	if (waiters)
		weft_signal_only(waiters == 1 && waiter != WEFT_TASK_NONE ? waiter : it->alive.task);
	return waiters != 0;
}

/* Another object may get the entry meanwhile: then it is left out. */
static unsigned run_down_object(const struct weft__thread_object *it)
{
	if (!is_alive(it))
		return 0;
	struct weft__hooks_alive copy = it->alive;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	copy.label[sizeof(copy.label) - 1] = '\0';
	if (!is_alive(it) || __atomic_load_n(&it->alive.task, __ATOMIC_RELAXED) != copy.task)
		return 0;
	weft__hooks_rundown_task(&copy, WEFT_TASK_NONE);
	return 1;
}

static unsigned run_down(void)
{
	unsigned count = 0;
	for (size_t i = 0; (i = weft__hooks_next_used(used, OBJECTS, i)) < OBJECTS; i++)
		count += run_down_object(&objects[i]);
	return count;
}

__attribute__((constructor)) static void offer_rundown(void)
{
	weft__hooks_rundown_add(run_down);
}
