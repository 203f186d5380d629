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

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/call.h"
#include "record/atomics.h"

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

/* ---- Mappings ---- */

/* Mappings that a forked child does not get. */
#define MAPPINGS_MAX 8

static struct {
	void *at;
	size_t bytes;
} mappings[MAPPINGS_MAX];
static uint32_t mapping_count;
static uint32_t is_begun;
static int first_filter; /* the kind of seccomp filter when the first one was made */

static int seccomp_kind(void)
{
	return (int)weft__kernel_call(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
}

bool weft__platform_memory_may_replace(void)
{
	return seccomp_kind() == first_filter;
}

/* Called by fork() in the child, before those handlers that make memory: maps private memory where
 * the parent's is. A signal handler may have forked in the middle of a change, with which the child
 * goes on. */
static void fill_in_child(void)
{
	const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	int saved = errno;
	const uint32_t count = weft__platform_memory_may_replace() ? weft__load(&mapping_count) : 0;
	for (uint32_t i = 0; i < count && i < MAPPINGS_MAX; i++) {
		void *at = mappings[i].at;
		void *filled = at ? mmap(at, mappings[i].bytes, PROT_READ | PROT_WRITE, how, -1, 0) : at;
		/* Kernels before 4.17 take the address as a wish. */
		if (filled != at && filled != MAP_FAILED)
			munmap(filled, mappings[i].bytes);
		mappings[i].at = NULL;
	}
	mapping_count = 0;
	errno = saved;
}

static void remember_mapping(void *at, size_t bytes)
{
	const uint32_t number = weft__fetch_add(&mapping_count, 1);
	if (number < MAPPINGS_MAX) {
		mappings[number].bytes = bytes;
		weft__store_release(&mappings[number].at, at);
	}
}

void weft__platform_memory_begin(void)
{
	if (!weft__compare_exchange(&is_begun, 0, 1))
		return;
	first_filter = seccomp_kind();
	(void)pthread_atfork(NULL, NULL, fill_in_child);
}

void *weft__platform_memory_map(int fd, size_t bytes)
{
	const int how = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, how, fd, 0);
	if (at == MAP_FAILED)
		return NULL;
	if (madvise(at, bytes, MADV_DONTFORK) == 0) {
		remember_mapping(at, bytes);
		return at;
	}
	munmap(at, bytes);
	return NULL;
}

void weft__platform_memory_unmap(void *at, size_t bytes)
{
	for (uint32_t i = 0; i < MAPPINGS_MAX; i++)
		weft__compare_exchange(&mappings[i].at, at, NULL);
	munmap(at, bytes);
}

void *weft__platform_memory_make(struct weft__shared_memory *memory)
{
	struct stat status;
	int writable = may_grow(memory->bytes) ? make_file(memory) : -1;
	int fd = writable >= 0 ? reopen_file(writable) : -1;
	void *at = fd >= 0 && weft__kernel_stat(fd, &status) == 0
				   ? weft__platform_memory_map(writable, memory->bytes)
				   : NULL;
	if (writable >= 0)
		weft__kernel_close(writable);
	if (at) {
		memory->device = status.st_dev;
		memory->inode = status.st_ino;
		memory->fd = fd;
	} else if (fd >= 0) {
		weft__kernel_close(fd);
	}
	return at;
}

bool weft__platform_memory_forget(struct weft__shared_memory *memory)
{
	struct stat status;
	const int fd = memory->fd;
	const bool is_open = fd >= 0 && weft__kernel_stat(fd, &status) == 0 &&
						 status.st_dev == memory->device && status.st_ino == memory->inode;
	if (is_open)
		weft__kernel_close(fd);
	memory->fd = -1;
	return is_open;
}
