/* SPDX-License-Identifier: ISC
 *
 * See own.h. A pipe, a pair of sockets or an eventfd is the process's own if it has all ends of it,
 * no child has begun since it was made or is there, and no message was sent that may have had
 * descriptors. If a child begins later, the tags are taken back. A thread that waits to read there
 * may also be meant to wait for a signal, whose handler writes: so the process must have none.
 */
#include "io/own.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <weft/ends.h>

#include "kernel/call.h"

#define LOOKED_MAX    1024 /* descriptors among which that of the other end is searched */
#define OWNED_MAX     64   /* objects with tags */
#define SIGNALS_MAX   31   /* those of real time are libc's own, or rare */
#define SIGNALS_BYTES (_NSIG / 8)

static bool has_handed_on, has_handlers;
static struct weft__io_object *owned[OWNED_MAX];

/* True if another process may have an end by what happened since the pipe was made. */
static bool is_handed_on(const struct weft__io_object *object)
{
	return object->forks != __atomic_load_n(&weft__hooks_forks, __ATOMIC_RELAXED) ||
		   __atomic_load_n(&has_handed_on, __ATOMIC_RELAXED);
}

/* The other end, if the process has made it; an eventfd has but one. NULL: there is none. */
static const struct weft__io_object *other_end(const struct weft__io_object *object)
{
	const struct weft__io_object *other = object->pair ? weft__io_object_at(object->pair) : NULL;
	if (object->type == WEFT__IO_EVENT)
		return object;
	return other && other->pair && weft__io_object_at(other->pair) == object &&
				   other->channel == object->channel &&
				   __atomic_load_n(&other->references, __ATOMIC_RELAXED)
			   ? other
			   : NULL;
}

static int descriptor_of(const struct weft__io_object *object)
{
	for (int fd = 0; fd < LOOKED_MAX; fd++)
		if (weft__io_known(fd) == object)
			return fd;
	return -1;
}

/* True also if that is unknown. Once it is, it stays so. The kernel's struct begins with the
 * handler. */
static WEFT__OWN_FRAME bool may_handle_signals(void)
{
	uintptr_t action[16];
	bool may = __atomic_load_n(&has_handlers, __ATOMIC_RELAXED);
	if (may || !weft__hooks_system_begin())
		return true;
	for (long number = 1; number <= SIGNALS_MAX && !may; number++)
		may = weft__kernel_call(SYS_rt_sigaction, number, 0, (long)action, SIGNALS_BYTES, 0, 0) ||
			  action[0] > (uintptr_t)SIG_IGN;
	weft__hooks_system_end();
	__atomic_store_n(&has_handlers, may, __ATOMIC_RELAXED);
	return may;
}

/* True also if that is unknown. A child of _Fork() or clone() begins without a hook. */
static WEFT__OWN_FRAME bool has_children(void)
{
	siginfo_t info;
	if (!weft__hooks_system_begin())
		return true;
	const long error = weft__kernel_call(
		SYS_waitid, P_ALL, 0, (long)&info, WEXITED | WNOHANG | WNOWAIT | __WALL, 0, 0);
	weft__hooks_system_end();
	return error != -ECHILD;
}

static bool is_own(const struct weft__io_object *object)
{
	return __atomic_load_n(&object->is_own, __ATOMIC_RELAXED);
}

/* False if there is no room. An object that was closed gives up its place. */
static bool keep(struct weft__io_object *object)
{
	for (size_t i = 0; i < OWNED_MAX; i++) {
		struct weft__io_object *it = __atomic_load_n(&owned[i], __ATOMIC_RELAXED);
		if ((!it || it == object || !is_own(it)) &&
			__atomic_compare_exchange_n(
				&owned[i], &it, object, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void take_back_one(struct weft__io_object *object)
{
	const uint64_t task = weft__io_known_task(object);
	__atomic_store_n(&object->is_own, false, __ATOMIC_RELAXED);
	if (task != WEFT_TASK_NONE)
		weft_tag_value_as(task, WEFT_TAG_OWN_READER, -1);
}

static bool may_be_own(const struct weft__io_object *object, bool writes)
{
	return !is_own(object) && !is_handed_on(object) &&
		   !(writes && object->type == WEFT__IO_EVENT) && other_end(object);
}

void weft__io_mark_own(int fd, struct weft__io_object *object, bool writes)
{
	const uint64_t task = weft__io_known_task(object);
	if (likely(!may_be_own(object, writes)) || task == WEFT_TASK_NONE || has_children() ||
		(!writes && may_handle_signals()))
		return;
	const int other = descriptor_of(other_end(object));
	if (other < 0)
		return;
	__atomic_store_n(&object->is_own, true, __ATOMIC_RELAXED);
	if (!keep(object)) {
		__atomic_store_n(&object->is_own, false, __ATOMIC_RELAXED);
		return;
	}
	weft_tag_value_as(task, WEFT_TAG_OWN_WRITER, writes ? fd : other);
	weft_tag_value_as(task, WEFT_TAG_OWN_READER, writes ? other : fd);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(is_handed_on(object))) /* another thread has begun a child meanwhile */
		take_back_one(object);
}

static void take_back(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (size_t i = 0; i < OWNED_MAX; i++) {
		struct weft__io_object *it = __atomic_load_n(&owned[i], __ATOMIC_RELAXED);
		if (unlikely(it) && is_own(it))
			take_back_one(it);
	}
}

void weft__io_hand_on(int fd)
{
	const struct weft__io_object *object = weft__io_object(fd);
	if (!object || object->type != WEFT__IO_UNIX || has_handed_on)
		return;
	__atomic_store_n(&has_handed_on, true, __ATOMIC_RELAXED);
	const int saved = weft__hooks_begin();
	take_back();
	weft__hooks_end(saved);
}

__attribute__((constructor)) static void begin(void)
{
	weft__hooks_offer_forked(take_back);
}
