/* SPDX-License-Identifier: ISC
 *
 * A lock that is free is taken, and nothing is written. For one that is not, the waiting task tries
 * to read the lock's task, and acquires it when it has it. glibc keeps the number of the thread
 * that holds a lock, by which the first waiter finds that thread's task; the holder's release is
 * recorded, because the lock is then busy: once for each waiter, and once for its known holder.
 *
 * A holder that releases the lock while a waiter looks for it may be missed. Its hold then lasts
 * until the waiter has the lock.
 */
#include "thread/held.h"
#include "thread/readers.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include <weft/ends.h>

#include "kernel/call.h"

/* ---- Metrics ---- */

#define RANGE .first_exponent = 10, .last_exponent = 34 /* a microsecond to 17 seconds */

WEFT_METRIC_DEFINE(lock_wait, .name = "weft_lock_wait_seconds", .type = WEFT_METRIC_HISTOGRAM,
	.unit = "seconds", .scale = -9, RANGE, .help = "Waits for locks that were not free");
WEFT_METRIC_DEFINE(lock_hold, .name = "weft_lock_hold_seconds", .type = WEFT_METRIC_HISTOGRAM,
	.unit = "seconds", .scale = -9, RANGE,
	.help = "Times for which locks were held by those who had waited for them");

#define LOCKS 8 /* with metrics of their own; others count in the whole */

/* Hashes of the names that have metrics of their own. */
static uint64_t names[LOCKS];

static uint64_t hash_of(const struct weft__hooks_text *name)
{
	uint64_t hash = 1;
	for (size_t i = 0; i < name->size; i++)
		hash = weft__hooks_mix(hash ^ (unsigned char)name->bytes[i]);
	return hash | 1;
}

static bool has_own(uint64_t name)
{
	for (size_t i = 0; i < LOCKS; i++) {
		uint64_t is = 0;
		if (__atomic_compare_exchange_n(
				&names[i], &is, name, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
			is == name)
			return true;
	}
	return false;
}

void weft__thread_find_lock_metrics(
	struct weft__thread_object *lock, const struct weft__hooks_text *name)
{
	char value[WEFT__HOOKS_NAME_BYTES + 1] = "";
	const char *labels[] = {"lock", value};
	memcpy(value, name->bytes, name->size);
	const unsigned pairs = has_own(hash_of(name));
	lock->waited = weft__hooks_metric(&lock_wait, labels, pairs);
	lock->held = weft__hooks_metric(&lock_hold, labels, pairs);
}

/* ---- Holders ---- */

static void set_holder(struct weft__thread_object *lock, uint64_t holder)
{
	uint64_t before = __atomic_exchange_n(&lock->holder, holder, __ATOMIC_ACQ_REL);
	if (before == WEFT_TASK_NONE)
		weft__thread_busy_add(lock->address, 1);
}

/* True for a lock that another thread than the one that forked had at the fork. A thread of this
 * process may have its number now. */
static bool was_held_at_fork(int owner, bool is_private)
{
	if (!is_private || owner <= 0 || !weft__hooks_was_left_behind((uint32_t)owner) ||
		!weft__hooks_system_begin())
		return false;
	const long error =
		weft__kernel_call(SYS_tgkill, weft__kernel_process(), owner, 0 /* only asks */, 0, 0, 0);
	weft__hooks_system_end();
	return error == -ESRCH;
}

/* The thread of a lock that processes share is another process's: readers find it by its number. */
static void mark_holder(struct weft__thread_object *lock, int owner, bool is_ours, bool is_private)
{
	const int other = is_ours || owner < 0 ? 0 : owner;
	if (!other && !lock->other)
		return;
	lock->other = other;
	weft_tag_value_as(lock->alive.task,
		was_held_at_fork(other, is_private) ? WEFT_TAG_HELD_AT_FORK : WEFT_TAG_HELD_BY_THREAD,
		other);
}

/* That task took the lock when nobody waited. */
static void find_holder(struct weft__thread_object *lock, int owner, bool is_private)
{
	uint64_t none = WEFT_TASK_NONE;
	owner = is_private && owner > 0 ? (int)weft__hooks_thread_now((uint32_t)owner) : owner;
	uint64_t holder = owner > 0 ? weft__hooks_task_of((uint32_t)owner) : WEFT_TASK_NONE;
	mark_holder(lock, owner, holder != WEFT_TASK_NONE, is_private);
	if (holder == WEFT_TASK_NONE || !__atomic_compare_exchange_n(&lock->holder, &none, holder,
										false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	weft__thread_busy_add(lock->address, 1);
	weft_moment_begin();
	weft_acquire_as(holder, lock->alive.task);
	/* For readers that ends the wait of a holder that is blocked itself: repeat what it waits for.
	 */
	uint64_t source = weft__hooks_blocked_on((uint32_t)owner);
	if (source != WEFT_TASK_NONE)
		weft_try_read_as(holder, source);
	weft_moment_end();
}

void weft__thread_lock_wait(const void *address, int owner,
	const struct weft__thread_origin *origin, bool is_timed, struct weft__thread_waiting *ret_it)
{
	int saved = weft__hooks_begin();
	struct weft__thread_object *lock = weft__thread_object(address, origin);
	ret_it->lock = lock;
	ret_it->wait.waiter = WEFT_TASK_NONE;
	if (lock) {
		weft__thread_object_enter(lock);
		find_holder(lock, owner, origin->is_private);
		if (origin->kind == WEFT_KIND_RWLOCK)
			weft__thread_find_readers(lock);
		if (is_timed)
			weft__thread_wait_limited(lock);
		ret_it->began_ns = weft__hooks_now_ns();
		ret_it->wait = weft__hooks_wait_for(lock->alive.task, origin->word);
	}
	weft__hooks_end(saved);
}

void weft__thread_lock_got(const struct weft__thread_waiting *it, bool holds)
{
	if (!it->lock)
		return;
	int saved = weft__hooks_begin();
	const uint64_t now_ns = weft__hooks_now_ns();
	if (holds && it->wait.waiter != WEFT_TASK_NONE) {
		weft__hooks_wait_acquired(&it->wait);
		set_holder(it->lock, it->wait.waiter);
		__atomic_store_n(&it->lock->held_since_ns, now_ns, __ATOMIC_RELAXED);
	} else {
		weft__hooks_wait_ended(&it->wait);
	}
	weft_metric_record(it->lock->waited, now_ns - it->began_ns); /* by the task that waited */
	weft__thread_object_leave(it->lock);
	weft__hooks_end(saved);
	weft__hooks_has_done(WEFT__HOOKS_ENOUGH);
}

/* The holder is the task that waited for it, or the thread's own if it was found by its number. */
static bool is_ours(uint64_t holder)
{
	return holder != WEFT_TASK_NONE &&
		   (holder == weft__hooks_thread.task || holder == weft_current());
}

static void end_hold(struct weft__thread_object *lock, uint64_t holder)
{
	if (!__atomic_compare_exchange_n(
			&lock->holder, &holder, WEFT_TASK_NONE, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	int saved = weft__hooks_begin();
	const uint64_t since_ns = __atomic_exchange_n(&lock->held_since_ns, 0, __ATOMIC_RELAXED);
	if (since_ns)
		weft_metric_record(lock->held, weft__hooks_now_ns() - since_ns);
	weft_release_as(holder, lock->alive.task);
	weft__thread_busy_add(lock->address, -1);
	weft__hooks_end(saved);
}

static uint64_t holder_of(const struct weft__thread_object *lock)
{
	return lock ? __atomic_load_n(&lock->holder, __ATOMIC_ACQUIRE) : WEFT_TASK_NONE;
}

/* Most releases of a busy lock are those of tasks that took it at once. */
void weft__thread_lock_release(const void *address)
{
	struct weft__thread_object *lock = weft__thread_object_known(address);
	uint64_t holder = holder_of(lock);
	if (is_ours(holder))
		end_hold(lock, holder);
}

void weft__thread_lock_release_of_any(const void *address)
{
	struct weft__thread_object *lock = weft__thread_object_known(address);
	uint64_t holder = holder_of(lock);
	if (holder != WEFT_TASK_NONE)
		end_hold(lock, holder);
}
