/* SPDX-License-Identifier: ISC
 *
 * Descriptors that are closed, copied, or made non-blocking. libc closes those of streams by a
 * function of its own (stream.c).
 */
#include "io/plain.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/locker.h"
#include "io/record_lock.h"
#include "io/room.h"

#include "hooks/asked.h"
#include "hooks/locked.h"
#include "xen/call.h"

/* Forgotten before the call: after it, another thread may have got the number for a new descriptor.
 */
HOOK(close)
int close(int fd)
{
	weft__io_record_lock_close(fd);
	if (weft__io_is_known(fd))
		weft__io_closed(fd);
	return NEXT(close)(fd);
}

HOOKS_ASKED(SYS_close, ask_close)
{
	int fd = (int)it->argument[0];
	weft__io_record_lock_close(fd);
	if (weft__io_is_known(fd))
		weft__io_closed(fd);
	return weft__hooks_ask(it);
}

HOOK(close_range)
int close_range(unsigned first, unsigned last, int flags)
{
	int result = NEXT(close_range)(first, last, flags);
	if (result == 0 && !(flags & (int)CLOSE_RANGE_CLOEXEC))
		weft__io_closed_range(first, last);
	return result;
}

HOOK(closefrom)
void closefrom(int first)
{
	NEXT(closefrom)(first);
	weft__io_closed_range(first < 0 ? 0 : (unsigned)first, WEFT__IO_DESCRIPTORS);
}

/* ---- Copies ---- */

HOOK(dup)
int dup(int fd)
{
	int copy = NEXT(dup)(fd);
	weft__io_shared(fd, copy);
	return copy;
}

HOOK(dup2)
int dup2(int fd, int copy)
{
	int result = NEXT(dup2)(fd, copy);
	weft__io_shared(fd, result);
	return result;
}

HOOK(dup3)
int dup3(int fd, int copy, int flags)
{
	int result = NEXT(dup3)(fd, copy, flags);
	weft__io_shared(fd, result);
	return result;
}

/* ---- Blocking or not ---- */

static void set_nonblocking(int fd, bool is)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (object)
		object->flags = (uint8_t)(is ? object->flags | WEFT__IO_NONBLOCKING
									 : object->flags & ~WEFT__IO_NONBLOCKING);
}

static bool is_record_lock(int command)
{
	return command == F_SETLK || command == F_SETLKW;
}

static int after_fcntl(int fd, int command, long argument, int result)
{
	if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
		weft__io_shared(fd, result);
	else if (result >= 0 && command == F_SETFL)
		set_nonblocking(fd, argument & O_NONBLOCK);
	else if (result >= 0 && is_record_lock(command) && HOOKS_RECORD)
		weft__io_record_lock_set(fd, argument);
	return result;
}

/* A third argument is an int or a pointer. Where there is none, any value will do. */

/* The command that takes a lock only if it is free; -1: the command waits for no lock. */
static int try_of(int command)
{
	return command == F_SETLKW ? F_SETLK : command == F_OFD_SETLKW ? F_OFD_SETLK : -1;
}

/* A lock is tried first, because the call may never return. */
#define FCNTL(next)                                                                  \
	__extension__({                                                                  \
		struct weft__io_call call = {0};                                             \
		int saved = errno, result = -1, first = HOOKS_RECORD ? try_of(command) : -1; \
		va_list list;                                                                \
		va_start(list, command);                                                     \
		long argument = va_arg(list, long);                                          \
		va_end(list);                                                                \
		if (unlikely(is_record_lock(command)))                                       \
			weft__hooks_lock_file(fd);                                               \
		if (unlikely(first >= 0))                                                    \
			result = NEXT(next)(fd, first, argument);                                \
		if (unlikely(first >= 0) && weft__io_is_locked(result, saved)) {             \
			weft__io_call_begin_wait(&call, fd, WEFT__IO_SYNC, "fcntl F_SETLKW");    \
			weft__io_mark_locker(&call, weft__io_find_fcntl(fd, argument));          \
		}                                                                            \
		if (likely(first < 0) || call.name)                                          \
			result = NEXT(next)(fd, command, argument);                              \
		weft__io_call_end(&call, result == 0);                                       \
		after_fcntl(fd, command, argument, result);                                  \
	})

HOOK(fcntl)
int fcntl(int fd, int command, ...)
{
	return FCNTL(fcntl);
}

HOOK(fcntl64)
int fcntl64(int fd, int command, ...)
{
	return FCNTL(fcntl64);
}

HOOK(ioctl)
int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	int result = unlikely(weft__xen_may_be(request)) ? weft__xen_ioctl(fd, request, argument)
													 : NEXT(ioctl)(fd, request, argument);
	if (unlikely(request == FIONBIO) && result == 0)
		set_nonblocking(fd, weft__io_is_nonblocking(fd));
	return result;
}
