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
	object->has_more = object->has_rest;
	return !object->has_rest;
}

static void forget(struct weft__io_object *object)
{
	object->taken = 0;
	object->has_rest = object->has_more = false;
}

void weft__io_rest_forget(int fd)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (object)
		forget(object);
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

void weft__io_rest_read(int fd, struct weft__io_object *object, int64_t got, size_t size)
{
	if (got < 0 && errno != EAGAIN)
		return;
	/* A read of a unix socket may be of one message of several. */
	const bool is_short = size && (size_t)got < size && object->type != WEFT__IO_UNIX;
	const bool may_have = got > 0 && !is_short;
	object->has_rest = may_have && has_bytes(fd);
	if (object->has_rest)
		return;
	if (object->has_more || weft_now() - object->taken > SOON_TICKS) {
		int saved = weft__hooks_begin();
		weft__io_mark_empty(object);
		weft__hooks_end(saved);
	}
	forget(object);
}
