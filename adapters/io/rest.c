/* SPDX-License-Identifier: ISC
 *
 * See rest.h. Most reads come within microseconds of the receive: then nothing is recorded about
 * the rest, because hardly anything can have been written in between.
 */
#include "io/plain.h"

#include "io/rest.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/edge.h"
#include "io/message.h"

#define SOON_TICKS (UINT64_C(1) << 15) /* about 10 us */

static bool is_stream(const struct weft__io_object *object)
{
	return object->type == WEFT__IO_PIPE || object->type == WEFT__IO_TCP ||
		   object->type == WEFT__IO_UNIX;
}

bool weft__io_rest_begin(struct weft__io_object *object)
{
	if (!is_stream(object))
		return true;
	if (!object->has_rest)
		object->taken = weft_now();
	object->is_unread = true;
	object->has_more = object->has_rest;
	return !object->has_rest;
}

void weft__io_rest_forget(int fd)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (!object)
		return;
	object->taken = 0;
	object->is_unread = object->has_rest = object->has_more = false;
}

/* The function of that name is a hook, and a point at which a thread may be cancelled. */
static bool has_bytes(int fd)
{
	int bytes = 0, saved = errno;
	if (!weft__hooks_system_begin())
		return false;
	bool is_known = NEXT(syscall)(SYS_ioctl, fd, FIONREAD, &bytes) == 0;
	errno = saved;
	weft__hooks_system_end();
	return is_known && bytes > 0;
}

/* All is read that was written until `now`. A descriptor that waits is known to be empty when it
 * begins to wait; one that never does is read at any time. */
static void set_empty(int fd, struct weft__io_object *object, uint64_t now)
{
	const bool is_known = !object->has_more && now - object->taken <= SOON_TICKS;
	object->taken = object->flags & WEFT__IO_NONBLOCKING ? now : 0;
	object->has_more = false;
	if (is_known || !weft_enabled(WEFT_LEVEL_INFO))
		return;
	int saved = weft__hooks_begin();
	weft__io_find_sender(fd, object);
	weft__io_mark_empty(object);
	weft__hooks_end(saved);
}

void weft__io_rest_read(int fd, struct weft__io_object *object, int64_t got, size_t size)
{
	const bool is_unread = object->is_unread;
	if (unlikely(object->left) && (got < 0 || !has_bytes(fd)))
		weft__io_edge_read(object);
	if (!is_stream(object) || (got < 0 && errno != EAGAIN))
		return;
	uint64_t now = weft_now();
	object->is_unread = false;
	if (!is_unread && !object->has_rest && now - object->taken <= SOON_TICKS)
		return; /* all was read just now */
	/* A read of a unix socket may be of one message of several. */
	const bool is_short = size && (size_t)got < size && object->type != WEFT__IO_UNIX;
	const bool may_have = got > 0 && !is_short;
	object->has_rest = may_have && has_bytes(fd);
	if (!object->has_rest)
		set_empty(fd, object, now);
}
