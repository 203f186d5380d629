/* SPDX-License-Identifier: ISC
 *
 * See own.h. A pipe is the process's own if it has both ends of it, no child has begun since it was
 * made or is there, and no message was sent that may have had descriptors. If a child begins later,
 * the tags are taken back.
 */
#include "io/own.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <weft/ends.h>

#include "kernel/call.h"

#define LOOKED_MAX 1024 /* descriptors among which the reading one is searched */
#define OWNED_MAX  16   /* pipes with tags */

static bool has_handed_on;
static struct weft__io_object *owned[OWNED_MAX];

/* True if another process may have an end by what happened since the pipe was made. */
static bool is_handed_on(const struct weft__io_object *object)
{
	return object->forks != __atomic_load_n(&weft__hooks_forks, __ATOMIC_RELAXED) ||
		   __atomic_load_n(&has_handed_on, __ATOMIC_RELAXED);
}

/* The descriptor of the other end, if no other process can have that; else -1. */
static int own_reader(const struct weft__io_object *object)
{
	const struct weft__io_object *other = object->pair ? weft__io_object_at(object->pair) : NULL;
	if (!other || object->type != WEFT__IO_PIPE || !other->pair ||
		weft__io_object_at(other->pair) != object || other->channel != object->channel ||
		!__atomic_load_n(&other->references, __ATOMIC_RELAXED) || is_handed_on(object))
		return -1;
	for (int fd = 0; fd < LOOKED_MAX; fd++)
		if (weft__io_known(fd) == other)
			return fd;
	return -1;
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

void weft__io_mark_own(int fd, struct weft__io_object *object)
{
	const uint64_t task = weft__io_known_task(object);
	const int reader = is_own(object) || task == WEFT_TASK_NONE ? -1 : own_reader(object);
	if (likely(reader < 0) || has_children())
		return;
	__atomic_store_n(&object->is_own, true, __ATOMIC_RELAXED);
	if (!keep(object)) {
		__atomic_store_n(&object->is_own, false, __ATOMIC_RELAXED);
		return;
	}
	weft_tag_value_as(task, WEFT_TAG_OWN_WRITER, fd);
	weft_tag_value_as(task, WEFT_TAG_OWN_READER, reader);
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
