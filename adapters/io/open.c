/* SPDX-License-Identifier: ISC
 *
 * Descriptors that are no sockets.
 */
#include "io/plain.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "io/call.h"
#include "io/loop.h"
#include "io/message.h"

/* The flags for O_NONBLOCK have its value: EFD_NONBLOCK and so on. */
static int opened(int fd, enum weft__io_type type, int flags, const char *name)
{
	if (HOOKS_RECORD && fd >= 0)
		weft__io_opened(fd, type, flags & O_NONBLOCK);
	else if (unlikely(fd < 0))
		weft__io_not_opened(name);
	return fd;
}

/* ---- Pipes ---- */

static int opened_pipe(const int given[2], int flags, int result)
{
	int ends[2];
	struct weft__io_object *objects[2];
	if (unlikely(result != 0))
		weft__io_not_opened("pipe");
	if (!HOOKS_RECORD || result != 0 || !weft__hooks_copy(ends, given, sizeof(ends)))
		return result;
	for (int i = 0; i < 2; i++)
		objects[i] = weft__io_opened(ends[i], WEFT__IO_PIPE, flags & O_NONBLOCK);
	weft__io_join_pipe(ends, objects);
	return result;
}

HOOK(pipe)
int pipe(int ends[2])
{
	return opened_pipe(ends, 0, NEXT(pipe)(ends));
}

HOOK(pipe2)
int pipe2(int ends[2], int flags)
{
	return opened_pipe(ends, flags, NEXT(pipe2)(ends, flags));
}

/* ---- Events ---- */

HOOK(eventfd)
int eventfd(unsigned count, int flags)
{
	return opened(NEXT(eventfd)(count, flags), WEFT__IO_EVENT, flags, "eventfd");
}

HOOK(signalfd)
int signalfd(int fd, const sigset_t *signals, int flags)
{
	int result = NEXT(signalfd)(fd, signals, flags);
	return fd < 0 ? opened(result, WEFT__IO_SIGNAL, flags, "signalfd") : result;
}

HOOK(inotify_init)
int inotify_init(void)
{
	return opened(NEXT(inotify_init)(), WEFT__IO_INOTIFY, 0, "inotify_init");
}

HOOK(inotify_init1)
int inotify_init1(int flags)
{
	return opened(NEXT(inotify_init1)(flags), WEFT__IO_INOTIFY, flags, "inotify_init1");
}

HOOK(epoll_create)
int epoll_create(int size)
{
	return opened(NEXT(epoll_create)(size), WEFT__IO_EPOLL, O_NONBLOCK, "epoll_create");
}

HOOK(epoll_create1)
int epoll_create1(int flags)
{
	return opened(NEXT(epoll_create1)(flags), WEFT__IO_EPOLL, O_NONBLOCK, "epoll_create1");
}

/* ---- Timers ---- */

HOOK(timerfd_create)
int timerfd_create(clockid_t clock, int flags)
{
	return opened(NEXT(timerfd_create)(clock, flags), WEFT__IO_TIMER, flags, "timerfd_create");
}

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

/* The time that the program sets first is part of the name, if it is relative: an absolute time
 * says little. */
HOOK(timerfd_settime)
int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	int result = NEXT(timerfd_settime)(fd, flags, new, old);
	struct itimerspec copy;
	struct weft__io_object *object = HOOKS_RECORD && result == 0 ? weft__io_object(fd) : NULL;
	if (!object || !weft__hooks_copy(&copy, new, sizeof(copy)))
		return result;
	uint64_t interval_ns = ns_of(&copy.it_interval), first_ns = ns_of(&copy.it_value);
	object->interval_ns = interval_ns ? interval_ns : flags & TFD_TIMER_ABSTIME ? 0 : first_ns;
	if (object->watched)
		weft__io_watched(fd, object, object->watched);
	return result;
}
