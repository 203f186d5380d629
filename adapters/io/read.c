/* SPDX-License-Identifier: ISC
 *
 * Functions that read.
 */
#include "io/plain.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/transfer.h"

ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *bytes, size_t size, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *bytes, size_t size, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict bytes, size_t size, size_t room, int flags,
	struct sockaddr *restrict from, socklen_t *restrict from_size);

WEFT__IO_HOOK(read, fd, 0, ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size))

WEFT__IO_HOOK(read, fd, 0, ssize_t, __read_chk, (int fd, void *bytes, size_t size, size_t room),
	(fd, bytes, size, room))

WEFT__IO_HOOK(
	read, fd, 0, ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))

WEFT__IO_HOOK(read, fd, 0, ssize_t, pread, (int fd, void *bytes, size_t size, off_t at),
	(fd, bytes, size, at))

WEFT__IO_HOOK(read, fd, 0, ssize_t, pread64, (int fd, void *bytes, size_t size, off64_t at),
	(fd, bytes, size, at))

WEFT__IO_HOOK(read, fd, 0, ssize_t, __pread_chk,
	(int fd, void *bytes, size_t size, off_t at, size_t room), (fd, bytes, size, at, room))

WEFT__IO_HOOK(read, fd, 0, ssize_t, __pread64_chk,
	(int fd, void *bytes, size_t size, off64_t at, size_t room), (fd, bytes, size, at, room))

WEFT__IO_HOOK(read, fd, flags, ssize_t, recv, (int fd, void *bytes, size_t size, int flags),
	(fd, bytes, size, flags))

WEFT__IO_HOOK(read, fd, flags, ssize_t, __recv_chk,
	(int fd, void *bytes, size_t size, size_t room, int flags), (fd, bytes, size, room, flags))

WEFT__IO_HOOK(read, fd, flags, ssize_t, recvfrom,
	(int fd, void *restrict bytes, size_t size, int flags, struct sockaddr *restrict from,
		socklen_t *restrict from_size),
	(fd, bytes, size, flags, from, from_size))

WEFT__IO_HOOK(read, fd, flags, ssize_t, __recvfrom_chk,
	(int fd, void *restrict bytes, size_t size, size_t room, int flags,
		struct sockaddr *restrict from, socklen_t *restrict from_size),
	(fd, bytes, size, room, flags, from, from_size))

WEFT__IO_HOOK(read, fd, flags, ssize_t, recvmsg, (int fd, struct msghdr *message, int flags),
	(fd, message, flags))

WEFT__IO_HOOK(read, fd, flags, int, recvmmsg,
	(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time),
	(fd, messages, count, flags, time))

WEFT__IO_HOOK(read, fd, 0, ssize_t, preadv,
	(int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))

WEFT__IO_HOOK(read, fd, 0, ssize_t, preadv64,
	(int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
