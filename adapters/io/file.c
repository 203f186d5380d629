/* SPDX-License-Identifier: ISC
 *
 * Calls that wait for a disk, for the lock of a file, or for a name server.
 */
#include "io/plain.h"

#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/call.h"

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);

/* ---- Disks, locks and names ---- */

#define SYNC(fd, name, call)                                              \
	__extension__({                                                       \
		struct weft__io_call weft__call = {0};                            \
		if (HOOKS_RECORD)                                                 \
			weft__io_call_begin(&weft__call, fd, WEFT__IO_SYNC, 0, name); \
		int weft__result = (call);                                        \
		weft__io_call_end(&weft__call, weft__result == 0);                \
		weft__result;                                                     \
	})

#define OTHER(is_slow, name, detail, call)                                 \
	__extension__({                                                        \
		struct weft__io_call weft__call = {0};                             \
		if (HOOKS_RECORD)                                                  \
			weft__io_call_begin_other(&weft__call, is_slow, name, detail); \
		int weft__result = (call);                                         \
		weft__io_call_end(&weft__call, weft__result >= 0);                 \
		weft__result;                                                      \
	})

HOOK int fsync(int fd)
{
	return SYNC(fd, "fsync", NEXT(fsync)(fd));
}

HOOK int fdatasync(int fd)
{
	return SYNC(fd, "fdatasync", NEXT(fdatasync)(fd));
}

HOOK int flock(int fd, int operation)
{
	return SYNC(fd, "flock", NEXT(flock)(fd, operation));
}

HOOK int syncfs(int fd)
{
	return SYNC(fd, "syncfs", NEXT(syncfs)(fd));
}

HOOK int lockf(int fd, int command, off_t size)
{
	return SYNC(fd, "lockf", NEXT(lockf)(fd, command, size));
}

HOOK int lockf64(int fd, int command, off64_t size)
{
	return SYNC(fd, "lockf", NEXT(lockf64)(fd, command, size));
}

HOOK int msync(void *address, size_t size, int flags)
{
	static bool is_slow;
	return OTHER(&is_slow, "msync", NULL, NEXT(msync)(address, size, flags));
}

HOOK int getaddrinfo(const char *restrict node, const char *restrict service,
	const struct addrinfo *restrict hints, struct addrinfo **restrict found)
{
	static bool is_slow;
	return OTHER(&is_slow, "getaddrinfo", node, NEXT(getaddrinfo)(node, service, hints, found));
}

/* ---- Opening ---- */

/* A disk may be slow, a file server far away, and a named pipe may lack its other side. If the
 * table still has a descriptor with that number, it was closed in a way that has no hook. */
#define OPEN(path, call)                                    \
	__extension__({                                         \
		int weft__opened = OTHER(NULL, "open", path, call); \
		weft__io_closed(weft__opened);                      \
		weft__opened;                                       \
	})

/* The mode is there only with some flags; without them any value will do. */
#define MODE                                      \
	__extension__({                               \
		va_list list;                             \
		va_start(list, flags);                    \
		mode_t weft__mode = va_arg(list, mode_t); \
		va_end(list);                             \
		weft__mode;                               \
	})

HOOK int open(const char *path, int flags, ...)
{
	mode_t mode = MODE;
	return OPEN(path, NEXT(open)(path, flags, mode));
}

HOOK int open64(const char *path, int flags, ...)
{
	mode_t mode = MODE;
	return OPEN(path, NEXT(open64)(path, flags, mode));
}

HOOK int openat(int folder, const char *path, int flags, ...)
{
	mode_t mode = MODE;
	return OPEN(path, NEXT(openat)(folder, path, flags, mode));
}

HOOK int openat64(int folder, const char *path, int flags, ...)
{
	mode_t mode = MODE;
	return OPEN(path, NEXT(openat64)(folder, path, flags, mode));
}

HOOK int __open_2(const char *path, int flags)
{
	return OPEN(path, NEXT(__open_2)(path, flags));
}

HOOK int __open64_2(const char *path, int flags)
{
	return OPEN(path, NEXT(__open64_2)(path, flags));
}

HOOK int __openat_2(int folder, const char *path, int flags)
{
	return OPEN(path, NEXT(__openat_2)(folder, path, flags));
}

HOOK int __openat64_2(int folder, const char *path, int flags)
{
	return OPEN(path, NEXT(__openat64_2)(folder, path, flags));
}

HOOK int creat(const char *path, mode_t mode)
{
	return OPEN(path, NEXT(creat)(path, mode));
}

HOOK int creat64(const char *path, mode_t mode)
{
	return OPEN(path, NEXT(creat64)(path, mode));
}
