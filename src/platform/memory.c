/* SPDX-License-Identifier: ISC
 *
 * Memory that other processes read: a memfd, whose descriptor they find in /proc.
 *
 * Only our user and root can open it there; it cannot be shortened, so neither side can take the
 * memory from the other.
 *
 * A forked child may be less trusted than we are: it may have given up our rights. So what it
 * inherits can only be read: the descriptor is open for reading, and forked children do not get
 * the mapping (MADV_DONTFORK).
 *
 * The descriptor stays open: without it only root could open the memory. It has a number above
 * those that shells and daemons assign, and within the kernel's first table of 64, so that no other
 * descriptor moves and no table grows.
 */
#include "platform/linux.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/call.h"

#define DESCRIPTOR_MIN 50

/* A limit on the size of files would end the program by SIGXFSZ. */
static bool may_grow(size_t bytes)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

static int make_file(const struct weft__shared_memory *memory)
{
	int fd = memfd_create(memory->name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && fchmod(fd, 0600) == 0 && ftruncate(fd, (off_t)memory->bytes) == 0 &&
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	if (fd >= 0)
		weft__kernel_close(fd);
	return -1;
}

void weft__platform_memory_path(int fd, char ret_path[WEFT__DESCRIPTOR_PATH_BYTES])
{
	static const char folder[] = "/proc/self/fd/";
	char *at = ret_path + sizeof(folder) - 1;
	memcpy(ret_path, folder, sizeof(folder));
	for (int unit = 1000000; unit; unit /= 10)
		if (fd >= unit)
			*at++ = (char)('0' + fd / unit % 10);
	*at = '\0';
}

/* Opens the file of a descriptor again, for reading only. -1 if /proc is not mounted. */
static int reopen_file(int fd)
{
	char path[WEFT__DESCRIPTOR_PATH_BYTES];
	weft__platform_memory_path(fd, path);
	int low = weft__kernel_open(path, O_RDONLY | O_CLOEXEC, 0), high = -1;
	if (low >= 0) {
		high = fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
		weft__kernel_close(low);
	}
	return high;
}

void *weft__platform_memory_map(int fd, size_t bytes)
{
	const int how = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, how, fd, 0);
	if (at == MAP_FAILED)
		return NULL;
	if (madvise(at, bytes, MADV_DONTFORK) == 0)
		return at;
	munmap(at, bytes);
	return NULL;
}

void *weft__platform_memory_make(struct weft__shared_memory *memory)
{
	struct stat status;
	int writable = may_grow(memory->bytes) ? make_file(memory) : -1;
	int fd = writable >= 0 ? reopen_file(writable) : -1;
	void *at = fd >= 0 && fstat(fd, &status) == 0
				   ? weft__platform_memory_map(writable, memory->bytes)
				   : NULL;
	if (writable >= 0)
		weft__kernel_close(writable);
	if (at) {
		memory->device = status.st_dev;
		memory->inode = status.st_ino;
		memory->fd = fd;
		memory->at = at;
	} else if (fd >= 0) {
		weft__kernel_close(fd);
	}
	return at;
}

bool weft__platform_memory_forget(struct weft__shared_memory *memory)
{
	struct stat status;
	const int fd = memory->fd;
	const bool is_open = fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == memory->device &&
						 status.st_ino == memory->inode;
	if (is_open)
		weft__kernel_close(fd);
	memory->fd = -1;
	return is_open;
}

void weft__platform_memory_fill(void *at, size_t bytes)
{
	const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	void *memory = at ? mmap(at, bytes, PROT_READ | PROT_WRITE, how, -1, 0) : MAP_FAILED;
	/* Kernels before 4.17 take the address as a wish. */
	if (memory != at && memory != MAP_FAILED)
		munmap(memory, bytes);
}
