/* SPDX-License-Identifier: ISC
 *
 * Hooks of functions that write to a descriptor.
 */
#include "io/plain.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/message.h"
#include "io/transfer.h"

#include "hooks/asked.h"

WEFT__IO_PUT(
	write, fd, 0, size, ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))

WEFT__IO_ENTRY(int, eventfd_write, (int fd, eventfd_t count), (fd, count))
{
	struct weft__io_call call;
	weft__io_write_begin(&call, fd, 0, sizeof(count), "eventfd_write");
	int result = WEFT__IO_NEXT(eventfd_write)(fd, count);
	weft__io_write_end(&call, result == 0 ? (int64_t)sizeof(count) : -1, 0);
	return result;
}

WEFT__IO_PUT(write, fd, 0, 0, ssize_t, writev, (int fd, const struct iovec *parts, int count),
	(fd, parts, count))

WEFT__IO_PUT(write, fd, 0, size, ssize_t, pwrite,
	(int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))

WEFT__IO_PUT(write, fd, 0, size, ssize_t, pwrite64,
	(int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at))

WEFT__IO_PUT(write, fd, flags, size, ssize_t, send,
	(int fd, const void *bytes, size_t size, int flags), (fd, bytes, size, flags))

WEFT__IO_ENTRY(ssize_t, sendto,
	(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to,
		socklen_t to_size),
	(fd, bytes, size, flags, to, to_size))
{
	struct weft__io_call call;
	weft__io_send_to(fd, to, to_size);
	weft__io_write_begin(&call, fd, flags, size, "sendto");
	ssize_t put = WEFT__IO_NEXT(sendto)(fd, bytes, size, flags, to, to_size);
	weft__io_write_end(&call, put, flags);
	return put;
}

WEFT__IO_PUT(write, fd, flags | WEFT__IO_MAY_HAND_ON, 0, ssize_t, sendmsg,
	(int fd, const struct msghdr *message, int flags), (fd, message, flags))

/* A move uses both descriptors, because a loop may have waited for either. */
WEFT__IO_PUT(move, to, from, size, ssize_t, sendfile, (int to, int from, off_t *at, size_t size),
	(to, from, at, size))

WEFT__IO_PUT(move, to, from, size, ssize_t, sendfile64,
	(int to, int from, off64_t *at, size_t size), (to, from, at, size))

WEFT__IO_PUT(write, fd, flags | WEFT__IO_MANY | WEFT__IO_MAY_HAND_ON, 0, int, sendmmsg,
	(int fd, struct mmsghdr *messages, unsigned count, int flags), (fd, messages, count, flags))

WEFT__IO_PUT(write, fd, 0, 0, ssize_t, pwritev,
	(int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))

WEFT__IO_PUT(write, fd, 0, 0, ssize_t, pwritev64,
	(int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))

WEFT__IO_PUT(move, to, from, size, ssize_t, splice,
	(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
	(from, from_at, to, to_at, size, flags))

/* ---- By syscall() ---- */

static long ask_to_write(
	const struct weft__hooks_asked *it, int flags, size_t size, const char *name)
{
	struct weft__io_call call;
	if (!HOOKS_RECORD)
		return weft__hooks_ask(it);
	weft__io_write_begin(&call, (int)it->argument[0], flags, size, name);
	long put = weft__hooks_ask(it);
	weft__io_write_end(&call, put, flags);
	return put;
}

HOOKS_ASKED(SYS_write, ask_write)
{
	return ask_to_write(it, 0, (size_t)it->argument[2], "write");
}

HOOKS_ASKED(SYS_writev, ask_writev)
{
	return ask_to_write(it, 0, 0, "writev");
}

HOOKS_ASKED(SYS_sendto, ask_sendto)
{
	return ask_to_write(it, (int)it->argument[3], (size_t)it->argument[2], "sendto");
}

HOOKS_ASKED(SYS_sendmsg, ask_sendmsg)
{
	return ask_to_write(it, (int)it->argument[2] | WEFT__IO_MAY_HAND_ON, 0, "sendmsg");
}
