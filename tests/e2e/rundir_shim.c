/* SPDX-License-Identifier: ISC
 *
 * The tests of run directories preload this into weft, to control what happens between two of its
 * system calls:
 *
 *     WEFT_SHIM_SHORTEN=PART  each file that is mapped and whose path contains PART is truncated to
 *                             no bytes right after mmap
 *     WEFT_SHIM_LOG=FILE      fsync, fdatasync and rename are appended to FILE, a line each
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma GCC visibility push(default)

static void path_of(int fd, char path[4096])
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t size = readlink(link, path, 4095);
	path[size > 0 ? size : 0] = '\0';
}

static void note(const char *what, const char *path)
{
	const char *file = getenv("WEFT_SHIM_LOG");
	char line[8300];
	int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	int size = snprintf(line, sizeof(line), "%s %s\n", what, path);
	if (write(fd, line, (size_t)size) != size)
		abort();
	close(fd);
}

static void shorten(int fd)
{
	const char *part = getenv("WEFT_SHIM_SHORTEN");
	char path[4096];
	if (!part || fd < 0)
		return;
	path_of(fd, path);
	if (strstr(path, part) && truncate(path, 0) != 0)
		abort();
}

/* Meson defines _FILE_OFFSET_BITS=64, so this is mmap64, as it is called by weft. */
void *mmap(void *address, size_t size, int rights, int flags, int fd, off_t offset)
{
	static void *(*original)(void *, size_t, int, int, int, off_t);
	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "mmap64");
	void *bytes = original(address, size, rights, flags, fd, offset);
	if (bytes != MAP_FAILED)
		shorten(fd);
	return bytes;
}

static int sync_file(const char *name, int fd)
{
	int (*original)(int);
	char path[4096];
	*(void **)&original = dlsym(RTLD_NEXT, name);
	path_of(fd, path);
	note("fsync", path);
	return original(fd);
}

int fsync(int fd)
{
	return sync_file("fsync", fd);
}

int fdatasync(int fd)
{
	return sync_file("fdatasync", fd);
}

int rename(const char *from, const char *to)
{
	int (*original)(const char *, const char *);
	char both[8200];
	*(void **)&original = dlsym(RTLD_NEXT, "rename");
	snprintf(both, sizeof(both), "%s %s", from, to);
	note("rename", both);
	return original(from, to);
}
