/* SPDX-License-Identifier: ISC
 *
 * Functions that read.
 */
#include "io/plain.h"

#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/transfer.h"

#include "hooks/asked.h"

ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *bytes, size_t size, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *bytes, size_t size, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict bytes, size_t size, size_t room, int flags,
	struct sockaddr *restrict from, socklen_t *restrict from_size);

/* The members of a signalfd_siginfo that are used. */
struct signal_read {
	int number, code;
	pid_t sender;
};

static WEFT__OWN_FRAME bool read_received(struct signal_read *ret, const char *from)
{
	struct signalfd_siginfo info;
	if (!weft__hooks_copy(&info, from, sizeof(info)))
		return false;
	*ret = (struct signal_read){(int)info.ssi_signo, info.ssi_code, (pid_t)info.ssi_pid};
	return true;
}

/* A signalfd says which process has sent each signal. */
static WEFT__OWN_FRAME void receive_signals(int fd, const char *bytes, ssize_t got)
{
	const size_t size = sizeof(struct signalfd_siginfo);
	struct weft__io_object *object = weft__io_known(fd);
	struct signal_read it;
	if (likely(!object || object->type != WEFT__IO_SIGNAL) || got < (ssize_t)size)
		return;
	int saved = weft__hooks_begin();
	uint64_t task = weft__io_task(fd, object);
	for (size_t at = 0; at + size <= (size_t)got && read_received(&it, bytes + at); at += size)
		weft__hooks_signal_received(task, it.number, it.code, it.sender);
	weft__hooks_end(saved);
}

#define READ(name, ...)                                     \
	{                                                       \
		struct weft__io_call call;                          \
		weft__io_read_begin(&call, fd, 0, #name);           \
		ssize_t got = WEFT__IO_NEXT(name)(fd, __VA_ARGS__); \
		receive_signals(fd, bytes, got);                    \
		weft__io_read_end(&call, got, size, 0);             \
		return got;                                         \
	}

WEFT__IO_ENTRY(ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size))
READ(read, bytes, size)

WEFT__IO_ENTRY(
	ssize_t, __read_chk, (int fd, void *bytes, size_t size, size_t room), (fd, bytes, size, room))
READ(__read_chk, bytes, size, room)

/* Those of libc read and write by themselves. */
WEFT__IO_ENTRY(int, eventfd_read, (int fd, eventfd_t *count), (fd, count))
{
	struct weft__io_call call;
	weft__io_read_begin(&call, fd, 0, "eventfd_read");
	int result = WEFT__IO_NEXT(eventfd_read)(fd, count);
	weft__io_read_end(&call, result == 0 ? (int64_t)sizeof(*count) : -1, sizeof(*count), 0);
	return result;
}

WEFT__IO_READ(
	fd, 0, 0, ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))

WEFT__IO_READ(fd, 0, size, ssize_t, pread, (int fd, void *bytes, size_t size, off_t at),
	(fd, bytes, size, at))

WEFT__IO_READ(fd, 0, size, ssize_t, pread64, (int fd, void *bytes, size_t size, off64_t at),
	(fd, bytes, size, at))

WEFT__IO_READ(fd, 0, size, ssize_t, __pread_chk,
	(int fd, void *bytes, size_t size, off_t at, size_t room), (fd, bytes, size, at, room))

WEFT__IO_READ(fd, 0, size, ssize_t, __pread64_chk,
	(int fd, void *bytes, size_t size, off64_t at, size_t room), (fd, bytes, size, at, room))

WEFT__IO_READ(fd, flags, size, ssize_t, recv, (int fd, void *bytes, size_t size, int flags),
	(fd, bytes, size, flags))

WEFT__IO_READ(fd, flags, size, ssize_t, __recv_chk,
	(int fd, void *bytes, size_t size, size_t room, int flags), (fd, bytes, size, room, flags))

WEFT__IO_READ(fd, flags, size, ssize_t, recvfrom,
	(int fd, void *restrict bytes, size_t size, int flags, struct sockaddr *restrict from,
		socklen_t *restrict from_size),
	(fd, bytes, size, flags, from, from_size))

WEFT__IO_READ(fd, flags, size, ssize_t, __recvfrom_chk,
	(int fd, void *restrict bytes, size_t size, size_t room, int flags,
		struct sockaddr *restrict from, socklen_t *restrict from_size),
	(fd, bytes, size, room, flags, from, from_size))

WEFT__IO_READ(fd, flags, 0, ssize_t, recvmsg, (int fd, struct msghdr *message, int flags),
	(fd, message, flags))

WEFT__IO_READ(fd, flags | WEFT__IO_MANY, 0, int, recvmmsg,
	(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time),
	(fd, messages, count, flags, time))

WEFT__IO_READ(fd, 0, 0, ssize_t, preadv, (int fd, const struct iovec *parts, int count, off_t at),
	(fd, parts, count, at))

WEFT__IO_READ(fd, 0, 0, ssize_t, preadv64,
	(int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))

/* ---- By syscall() ---- */

static long ask_to_read(
	const struct weft__hooks_asked *it, int flags, size_t size, const char *name)
{
	struct weft__io_call call;
	if (!HOOKS_RECORD)
		return weft__hooks_ask(it);
	int fd = (int)it->argument[0];
	weft__io_read_begin(&call, fd, flags, name);
	long got = weft__hooks_ask(it);
	if (it->number == SYS_read)
		receive_signals(fd, weft__hooks_pointer(it, 1), got);
	weft__io_read_end(&call, got, size, flags);
	return got;
}

HOOKS_ASKED(SYS_read, ask_read)
{
	return ask_to_read(it, 0, (size_t)it->argument[2], "read");
}

HOOKS_ASKED(SYS_readv, ask_readv)
{
	return ask_to_read(it, 0, 0, "readv");
}

HOOKS_ASKED(SYS_recvfrom, ask_recvfrom)
{
	return ask_to_read(it, (int)it->argument[3], (size_t)it->argument[2], "recvfrom");
}

HOOKS_ASKED(SYS_recvmsg, ask_recvmsg)
{
	return ask_to_read(it, (int)it->argument[2], 0, "recvmsg");
}
