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
#include <termios.h>
#include <unistd.h>

#include "io/room.h"

#include "hooks/locked.h"
#include "io/locker.h"
#include "io/record_lock.h"

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
		__typeof__(call) weft__result = (call);                           \
		weft__io_call_end(&weft__call, weft__result >= 0);                \
		weft__result;                                                     \
	})

/* "getaddrinfo example.org". `detail`: a text of the program, or NULL. */
static WEFT__OWN_FRAME void label_call(
	struct weft__hooks_text *ret, const char *name, const char *detail)
{
	ret->size = 0;
	weft__hooks_append(ret, name);
	size_t before = ret->size;
	weft__hooks_append(ret, " ");
	weft__hooks_append_copy(ret, detail);
	if (ret->size == before + 1)
		ret->size = before;
}

#define OTHER(is_slow, name, detail, call) MEASURED(is_slow, name, detail, call, weft__result >= 0)
#define MEASURED(is_slow, name, detail, call, is_success)                     \
	__extension__({                                                           \
		struct weft__io_call weft__call = {0};                                \
		struct weft__hooks_text weft__label;                                  \
		if (HOOKS_RECORD) {                                                   \
			label_call(&weft__label, name, detail);                           \
			weft__io_call_begin_labelled(&weft__call, is_slow, &weft__label); \
		}                                                                     \
		__typeof__(call) weft__result = (call);                               \
		weft__io_call_end(&weft__call, is_success);                           \
		weft__result;                                                         \
	})

HOOK(fsync)
int fsync(int fd)
{
	return SYNC(fd, "fsync", NEXT(fsync)(fd));
}

HOOK(fdatasync)
int fdatasync(int fd)
{
	return SYNC(fd, "fdatasync", NEXT(fdatasync)(fd));
}

/* A lock of a file. It is tried first, because the call may never return. */
#define LOCK(fd, name, is_lock, find, try, call)                            \
	__extension__({                                                         \
		struct weft__io_call weft__call = {0};                              \
		int weft__saved = errno, weft__result = 0;                          \
		bool weft__is_first = HOOKS_RECORD && (is_lock);                    \
		if (weft__is_first)                                                 \
			weft__result = (try);                                           \
		if (!weft__is_first) {                                              \
			weft__result = (call);                                          \
		} else if (weft__io_is_locked(weft__result, weft__saved)) {         \
			weft__io_call_begin_wait(&weft__call, fd, WEFT__IO_SYNC, name); \
			weft__io_mark_locker(&weft__call, find);                        \
			weft__result = (call);                                          \
			weft__io_call_end(&weft__call, weft__result == 0);              \
		}                                                                   \
		weft__result;                                                       \
	})

HOOK(flock)
int flock(int fd, int operation)
{
	bool is_lock = !(operation & (LOCK_NB | LOCK_UN));
	return LOCK(fd, "flock", is_lock, weft__io_find_flock(fd), NEXT(flock)(fd, operation | LOCK_NB),
		NEXT(flock)(fd, operation));
}

HOOK(syncfs)
int syncfs(int fd)
{
	return SYNC(fd, "syncfs", NEXT(syncfs)(fd));
}

static int after_lockf(int fd, int command, int result)
{
	if (result == 0 && HOOKS_RECORD && command == F_ULOCK)
		weft__io_record_lock_gave(fd);
	else if (result == 0 && HOOKS_RECORD && (command == F_LOCK || command == F_TLOCK))
		weft__io_record_lock_took(fd);
	return result;
}

HOOK(lockf)
int lockf(int fd, int command, off_t size)
{
	weft__hooks_lock_file(fd);
	return after_lockf(fd, command,
		LOCK(fd, "lockf", command == F_LOCK, weft__io_find_lockf(fd, size),
			NEXT(lockf)(fd, F_TLOCK, size), NEXT(lockf)(fd, command, size)));
}

HOOK(lockf64)
int lockf64(int fd, int command, off64_t size)
{
	weft__hooks_lock_file(fd);
	return after_lockf(fd, command,
		LOCK(fd, "lockf", command == F_LOCK, weft__io_find_lockf(fd, size),
			NEXT(lockf64)(fd, F_TLOCK, size), NEXT(lockf64)(fd, command, size)));
}

HOOK(msync)
int msync(void *address, size_t size, int flags)
{
	static bool is_slow;
	return OTHER(&is_slow, "msync", NULL, NEXT(msync)(address, size, flags));
}

HOOK(getaddrinfo)
int getaddrinfo(const char *restrict node, const char *restrict service,
	const struct addrinfo *restrict hints, struct addrinfo **restrict found)
{
	static bool is_slow;
	return OTHER(&is_slow, "getaddrinfo", node, NEXT(getaddrinfo)(node, service, hints, found));
}

HOOK(getnameinfo)
int getnameinfo(const struct sockaddr *restrict address, socklen_t size, char *restrict host,
	socklen_t host_size, char *restrict service, socklen_t service_size, int flags)
{
	static bool is_slow;
	return OTHER(&is_slow, "getnameinfo", NULL,
		NEXT(getnameinfo)(address, size, host, host_size, service, service_size, flags));
}

HOOK(gethostbyname)
struct hostent *gethostbyname(const char *name)
{
	static bool is_slow;
	return MEASURED(
		&is_slow, "gethostbyname", name, NEXT(gethostbyname)(name), weft__result != NULL);
}

HOOK(gethostbyaddr)
struct hostent *gethostbyaddr(const void *address, socklen_t size, int family)
{
	static bool is_slow;
	return MEASURED(&is_slow, "gethostbyaddr", NULL, NEXT(gethostbyaddr)(address, size, family),
		weft__result != NULL);
}

HOOK(gethostbyname_r)
int gethostbyname_r(const char *restrict name, struct hostent *restrict host, char *restrict bytes,
	size_t size, struct hostent **restrict found, int *restrict error)
{
	static bool is_slow;
	return OTHER(&is_slow, "gethostbyname_r", name,
		NEXT(gethostbyname_r)(name, host, bytes, size, found, error));
}

HOOK(sync)
void sync(void)
{
	static bool is_slow;
	struct weft__io_call call = {0};
	if (HOOKS_RECORD)
		weft__io_call_begin_other(&call, &is_slow, "sync", NULL);
	NEXT(sync)();
	weft__io_call_end(&call, true);
}

HOOK(fallocate)
int fallocate(int fd, int mode, off_t at, off_t size)
{
	return SYNC(fd, "fallocate", NEXT(fallocate)(fd, mode, at, size));
}

HOOK(fallocate64)
int fallocate64(int fd, int mode, off64_t at, off64_t size)
{
	return SYNC(fd, "fallocate", NEXT(fallocate64)(fd, mode, at, size));
}

HOOK(sync_file_range)
int sync_file_range(int fd, off64_t at, off64_t size, unsigned flags)
{
	return SYNC(fd, "sync_file_range", NEXT(sync_file_range)(fd, at, size, flags));
}

HOOK(copy_file_range)
ssize_t copy_file_range(
	int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags)
{
	return SYNC(
		to, "copy_file_range", NEXT(copy_file_range)(from, from_at, to, to_at, size, flags));
}

HOOK(tcdrain)
int tcdrain(int fd)
{
	return SYNC(fd, "tcdrain", NEXT(tcdrain)(fd));
}

/* ---- Opening ---- */

/* Each such call counts as one that may be long. */
static WEFT__OWN_FRAME void begin_pipe(
	struct weft__io_call *call, struct weft__hooks_text *name, const char *path)
{
	static bool is_slow;
	__atomic_store_n(&is_slow, true, __ATOMIC_RELAXED);
	name->size = 0;
	weft__hooks_append_copy(name, path);
	weft__io_call_begin_other(call, &is_slow, "open", name);
}

/* A disk may be slow, a file server far away, and a named pipe may lack its other side. If the
 * table still has a descriptor with that number, it was closed in a way that has no hook. The
 * kernel knows the path: most calls are too short to copy that before. */
#define OPEN(folder, call)                                                         \
	__extension__({                                                                \
		struct weft__io_call weft__call = {0};                                     \
		struct weft__hooks_text weft__name;                                        \
		if (HOOKS_RECORD && unlikely(weft__io_is_named_pipe(folder, path, flags))) \
			begin_pipe(&weft__call, &weft__name, path);                            \
		else if (HOOKS_RECORD)                                                     \
			weft__io_call_begin_other(&weft__call, NULL, "open", NULL);            \
		int weft__opened = (call);                                                 \
		weft__io_closed(weft__opened);                                             \
		weft__io_call_opened(&weft__call, weft__opened);                           \
		weft__opened;                                                              \
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

HOOK(open)
int open(const char *path, int flags, ...)
{
	mode_t mode = MODE;
	return OPEN(AT_FDCWD, NEXT(open)(path, flags, mode));
}

HOOK(open64)
int open64(const char *path, int flags, ...)
{
	mode_t mode = MODE;
	return OPEN(AT_FDCWD, NEXT(open64)(path, flags, mode));
}

HOOK(openat)
int openat(int folder, const char *path, int flags, ...)
{
	mode_t mode = MODE;
	return OPEN(folder, NEXT(openat)(folder, path, flags, mode));
}

HOOK(openat64)
int openat64(int folder, const char *path, int flags, ...)
{
	mode_t mode = MODE;
	return OPEN(folder, NEXT(openat64)(folder, path, flags, mode));
}

HOOK(__open_2)
int __open_2(const char *path, int flags)
{
	return OPEN(AT_FDCWD, NEXT(__open_2)(path, flags));
}

HOOK(__open64_2)
int __open64_2(const char *path, int flags)
{
	return OPEN(AT_FDCWD, NEXT(__open64_2)(path, flags));
}

HOOK(__openat_2)
int __openat_2(int folder, const char *path, int flags)
{
	return OPEN(folder, NEXT(__openat_2)(folder, path, flags));
}

HOOK(__openat64_2)
int __openat64_2(int folder, const char *path, int flags)
{
	return OPEN(folder, NEXT(__openat64_2)(folder, path, flags));
}

HOOK(creat)
int creat(const char *path, mode_t mode)
{
	const int flags = O_WRONLY;
	return OPEN(AT_FDCWD, NEXT(creat)(path, mode));
}

HOOK(creat64)
int creat64(const char *path, mode_t mode)
{
	const int flags = O_WRONLY;
	return OPEN(AT_FDCWD, NEXT(creat64)(path, mode));
}
