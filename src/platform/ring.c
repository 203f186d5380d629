/* SPDX-License-Identifier: ISC
 *
 * A buffer in a file: shared memory that outlives the program, however it ends.
 */
#include "platform/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <weft/error.h>

#include "abi/run_abi.h"
#include "kernel/call.h"
#include "record/copy.h"

/* Checks for space first: a failing allocation would fill the file system before it fails, so other
 * processes' writes would fail too, and on tmpfs memory would run out. */
static bool has_room(int fd, uint64_t bytes)
{
	struct statfs disk;
	if (fstatfs(fd, &disk) != 0 || disk.f_blocks == 0 || disk.f_bsize <= 0)
		return true; /* unknown */
	return bytes / (uint64_t)disk.f_bsize <= disk.f_bavail;
}

static uint64_t power_of_two_up_to(uint64_t n)
{
	return n ? (uint64_t)1 << (63 - __builtin_clzll(n)) : 0;
}

uint64_t weft__platform_ring_room(const char *directory)
{
	struct statfs disk;
	uint64_t left = weft__platform_total_left(directory), room = UINT64_MAX;
	if (statfs(directory, &disk) == 0 && disk.f_blocks != 0 && disk.f_bsize > 0)
		room = (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize;
	return room < left ? room : left;
}

/* With a limit of address space, the program needs nearly all of it for itself. */
static uint64_t share_of_memory(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur / 16;
}

/* The first process of a run may take half of the room. The others get up to a quarter of the full
 * size while there is room for 16 rings of the full size. With half of that room they get a quarter
 * of it, and so on, down to the minimum, so that many processes find room: 600 at the same time
 * where there are 48 MiB. */
#define FULL_RINGS 32

uint64_t weft__platform_ring_fitting_bytes(const char *directory, bool is_first)
{
	const uint64_t full = WEFT_ABI_RUN_RING_BYTES;
	uint64_t room = weft__platform_ring_room(directory), bytes = full;
	if (is_first && room / 2 < full)
		bytes = room / 2;
	else if (!is_first && room < full * FULL_RINGS)
		bytes = (room / FULL_RINGS) * (room / FULL_RINGS) / full;
	if (!is_first && bytes > WEFT_ABI_RUN_OTHER_RING_BYTES)
		bytes = WEFT_ABI_RUN_OTHER_RING_BYTES;
	if (bytes > share_of_memory())
		bytes = share_of_memory();
	return bytes < WEFT_ABI_BUFFER_MIN_BYTES ? WEFT_ABI_BUFFER_MIN_BYTES
											 : power_of_two_up_to(bytes);
}

/* Allocates all blocks now, so that a full disk is an error here instead of a SIGBUS in the program
 * later. */
static int allocate(int fd, uint64_t bytes)
{
	struct rlimit limit;
	/* Beyond that limit the kernel would end the program by SIGXFSZ. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur)
		return EFBIG;
	if ((size_t)bytes != bytes)
		return ENOMEM;
	if (!has_room(fd, bytes))
		return ENOSPC;
	return posix_fallocate(fd, 0, (off_t)bytes);
}

/* The blocks are allocated, so a page fault cannot fail. Clearing and mapping all pages here would
 * double the cost of a process that records little. */
static int map(int fd, const struct weft__ring *ring, void **ret_buffer, const char **ret_step)
{
	*ret_step = WEFT__STEP_ALLOCATE;
	int error = allocate(fd, ring->bytes);
	if (error)
		return error;
	*ret_step = WEFT__STEP_MAP;
	return -weft__kernel_map(ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, ret_buffer);
}

static int start_in(void *buffer, const struct weft__ring *ring)
{
	if (ring->is_guarded)
		weft__platform_sigbus_guard(buffer, ring->bytes, ring->path);
	weft__platform_children_keep_off(buffer, ring->bytes);
	/* Not weft_start(): with several copies of the recorder, that name may be bound to another
	 * copy. */
	int error = weft__start_zeroed(buffer, ring->bytes);
	if (!error)
		return 0;
	if (ring->is_guarded)
		weft__platform_sigbus_guard(NULL, 0, NULL);
	weft__platform_children_keep_off(NULL, 0);
	weft__kernel_unmap(buffer, ring->bytes);
	return error == WEFT_ERROR_STATE ? EBUSY : error == WEFT_ERROR_UNSUPPORTED ? ENOSYS : EINVAL;
}

static int create(const struct weft__ring *ring, const char **ret_step)
{
	*ret_step = WEFT__STEP_CREATE;
	int fd =
		weft__kernel_open(ring->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -fd;
	void *buffer = NULL;
	int error = map(fd, ring, &buffer, ret_step);
	/* Before the recorder starts, which opens files of /proc: a process may have one free
	 * descriptor only. */
	weft__kernel_close(fd);
	if (!error) {
		*ret_step = WEFT__STEP_START;
		error = start_in(buffer, ring);
	}
	if (error)
		weft__kernel_unlink(ring->path);
	return error;
}

/* Blocks signals: a timer's could interrupt the allocation again and again, and a handler could
 * leave by siglongjmp. SIGBUS stays unblocked for our own handler. */
int weft__platform_ring_create(const struct weft__ring *ring, const char **ret_step)
{
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigprocmask(SIG_SETMASK, &all, &before);
	int error = create(ring, ret_step);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}
