/* SPDX-License-Identifier: ISC
 *
 * A call that will wait has to be recorded before it is made, because it may never return. So the
 * kernel is asked, by ppoll without a time, before a read, and before a write that may not fit.
 *
 * A descriptor that can be written may take less than the program has to write. A pipe has room for
 * PIPE_BUF bytes then, and a socket for SMALL_BYTES at least, as it is ready only while a third of
 * its buffer is free. The room for more is not known exactly: pages of a pipe and buffers of a
 * socket may be partly filled. If in doubt, the call counts as one that waits. The room that was
 * found is used up by the following writes, and the kernel is asked again when it is too small, or
 * after a millisecond, as others may write, too.
 *
 * Two programs that answer each other within microseconds wait at each read. To leave the ring to
 * other events, an object has no more than 64 such waits at once and one more each 250 us. So often
 * a process's calls of open are looked at before: asking for the type of a file takes half as long
 * as opening it.
 */
#include "io/plain.h"

#include "io/room.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/call.h"

enum {
	SMALL_BYTES = 16384,
	SOCKET_BYTES = 1024,  /* that the kernel needs for a write to a socket */
	ROOM_TICKS = 1 << 21, /* about 1 ms: so long the room is taken to be known */
	WAIT_TICKS = 1 << 19, /* about 250 us: a wait may be recorded so often */
	WAITS_TICKS = 64 * WAIT_TICKS
};

/* The functions of these names are hooks, and points at which a thread may be cancelled. */
#define ASK(...) NEXT(syscall)(__VA_ARGS__)

static bool is_ready(int fd, short events)
{
	struct pollfd polled = {.fd = fd, .events = events};
	struct timespec now = {0};
	return ASK(SYS_ppoll, &polled, 1, &now, NULL, 0) != 0;
}

/* ---- Writes ---- */

static bool has_known_room(const struct weft__io_object *object)
{
	return object->type == WEFT__IO_PIPE || object->type == WEFT__IO_TCP ||
		   object->type == WEFT__IO_UNIX;
}

/* The room that a write takes at most: a pipe may leave half of each page empty, and a unix socket
 * counts the memory that it has allocated, in powers of two. */
static size_t room_for(const struct weft__io_object *object, size_t size)
{
	if (object->type == WEFT__IO_PIPE)
		return size <= PIPE_BUF ? 2 * size : size + PIPE_BUF;
	return (object->type == WEFT__IO_UNIX ? 2 * size : size) + SOCKET_BYTES;
}

static int64_t room_in_pipe(int fd)
{
	int used = 0;
	long room = ASK(SYS_fcntl, fd, F_GETPIPE_SZ, 0);
	if (room < 0 || ASK(SYS_ioctl, fd, FIONREAD, &used) != 0)
		return 0;
	return room - used - (used ? 2 * PIPE_BUF : 0); /* parts of the first page and the last one */
}

/* The kernel's own data may take half of a TCP socket's. They are among what a unix socket has in
 * use.
 */
static int64_t room_in_socket(int fd, bool is_unix)
{
	int used = 0, room = 0;
	socklen_t bytes = sizeof(room);
	if (ASK(SYS_getsockopt, fd, SOL_SOCKET, SO_SNDBUF, &room, &bytes) != 0 ||
		ASK(SYS_ioctl, fd, SIOCOUTQ, &used) != 0)
		return 0;
	return (is_unix ? room : room / 2) - used;
}

static void find_room(int fd, struct weft__io_object *object)
{
	int64_t room = object->type == WEFT__IO_PIPE
					   ? room_in_pipe(fd)
					   : room_in_socket(fd, object->type == WEFT__IO_UNIX);
	object->room = room < 0 ? 0 : room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
}

static bool takes_room(struct weft__io_object *object, size_t size)
{
	size_t needed = room_for(object, size);
	if (needed > object->room)
		return false;
	object->room -= (uint32_t)needed;
	return true;
}

static bool fits(int fd, struct weft__io_object *object, size_t size, uint64_t now)
{
	if (!has_known_room(object) || !size)
		return is_ready(fd, POLLOUT);
	if (now - object->asked < ROOM_TICKS && takes_room(object, size))
		return true;
	object->asked = now;
	find_room(fd, object);
	if (takes_room(object, size))
		return true;
	const bool has_some = object->room != 0;
	object->room = 0; /* unknown after the write */
	/* A unix socket takes such a write as soon as it has any room, and is "ready" much later. */
	if (object->type == WEFT__IO_UNIX && size <= SMALL_BYTES)
		return has_some;
	return size <= (object->type == WEFT__IO_PIPE ? PIPE_BUF : SMALL_BYTES) &&
		   is_ready(fd, POLLOUT);
}

/* ---- Reads and writes ---- */

static bool is_rested(uint64_t rested, uint64_t now)
{
	return rested <= now + WAITS_TICKS || weft_enabled(WEFT_LEVEL_DEBUG);
}

static uint64_t later(uint64_t rested, uint64_t now)
{
	return (rested > now ? rested : now) + WAIT_TICKS;
}

bool weft__io_will_wait(
	struct weft__io_object *object, const struct weft__io_call *call, size_t size)
{
	uint64_t now = call->began;
	if (call->direction == WEFT__IO_SYNC || weft__io_is_file(object) ||
		!is_rested(object->rested, now) || !weft__hooks_system_begin())
		return false;
	int saved = errno;
	bool will_wait = call->direction == WEFT__IO_IN ? !is_ready(call->fd, POLLIN)
													: !fits(call->fd, object, size, now);
	errno = saved;
	weft__hooks_system_end();
	if (will_wait)
		object->rested = later(object->rested, now);
	return will_wait;
}

WEFT__OWN_FRAME bool weft__io_is_named_pipe(int folder, const char *path, int flags)
{
	static uint64_t rested;
	struct stat status;
	const bool waits =
		!(flags & (O_NONBLOCK | O_PATH | O_DIRECTORY)) && (flags & O_ACCMODE) != O_RDWR;
	if (!waits)
		return false;
	const uint64_t now = weft_now(), before = __atomic_load_n(&rested, __ATOMIC_RELAXED);
	if (!is_rested(before, now) || !weft__hooks_system_begin())
		return false;
	__atomic_store_n(&rested, later(before, now), __ATOMIC_RELAXED);
	int saved = errno;
	bool is_there = weft__kernel_stat_at(folder, path, &status) == 0;
	errno = saved;
	weft__hooks_system_end();
	return is_there && S_ISFIFO(status.st_mode);
}

bool weft__io_is_nonblocking(int fd)
{
	if (!weft__hooks_system_begin())
		return false;
	int saved = errno;
	long flags = ASK(SYS_fcntl, fd, F_GETFL, 0);
	errno = saved;
	weft__hooks_system_end();
	return flags >= 0 && flags & O_NONBLOCK;
}
