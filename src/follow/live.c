/* SPDX-License-Identifier: ISC
 *
 * The file is mapped for reading only: what a program records is its own, whatever we do wrong.
 */
#include "follow/live.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/error.h>

#include "abi/buffer_abi.h"
#include "source/mapping.h"

uint64_t weft__live_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int map(struct weft__live *live, int fd, const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return WEFT_ERROR_FORMAT;
	if (status->st_size == 0)
		return WEFT_ERROR_EMPTY;
	if ((size_t)status->st_size < sizeof(struct weft_abi_buffer))
		return WEFT_ERROR_FORMAT;
	live->size = (size_t)status->st_size;
	live->bytes = mmap(NULL, live->size, PROT_READ, MAP_SHARED, fd, 0);
	if (live->bytes == MAP_FAILED) {
		live->bytes = NULL;
		return WEFT_ERROR_SYSTEM;
	}
	return weft__mapping_guard(live->bytes, live->size);
}

static int start(struct weft__live *live, int fd)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return WEFT_ERROR_SYSTEM;
	int error = map(live, fd, &status);
	if (error)
		return error;
	const struct weft_abi_buffer *header = live->bytes;
	live->clock = header->clock;
	weft__process_open(&live->process, header->pid, status.st_ino);
	return 0;
}

int weft__live_open(struct weft__live *live, const char *path)
{
	*live = (struct weft__live){.process = {.fd = -1}};
	/* Without waiting for whoever may write into a pipe of that name. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int error = fd < 0 ? WEFT_ERROR_SYSTEM : start(live, fd);
	int reason = errno;
	if (fd >= 0)
		close(fd);
	errno = reason;
	return error;
}

void weft__live_close(struct weft__live *live)
{
	weft__process_close(&live->process);
	if (!live->bytes)
		return;
	weft__mapping_release(live->bytes);
	munmap(live->bytes, live->size);
	live->bytes = NULL;
}
