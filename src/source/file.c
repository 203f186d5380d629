/* SPDX-License-Identifier: ISC
 *
 * The bytes of a file. Small regular files are read, large ones mapped; pipes, terminals and
 * special files (whose size is meaningless) are read to their end.
 */
#include <weft/source.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/export.h"
#include "source/expand.h"
#include "source/mapping.h"
#include "source/seed.h"

/* Up to this size files are copied, since a copy cannot be truncated by others. But a mapping's
 * pages can be released after they were read, which for a large trace is a third of the memory; and
 * a buffer that a program records into, which has at least 64 KiB, must be mapped, because a plain
 * copy would tear its packets. */
#define COPY_MAX_BYTES ((size_t)64 << 10)
#define READ_BYTES     ((size_t)64 << 10)

/* See weft_source_open_limited(): a few bytes can stand for any number of zeros. */
#define PIPE_BYTES ((uint64_t)4 << 30)

struct weft_source {
	unsigned char *bytes;
	size_t size;
	size_t capacity;    /* capacity of a copy */
	uint64_t max_bytes; /* the caller's limit, or 0 */
	bool mapped;
};

static int reserve(struct weft_source *source, size_t bytes)
{
	if (bytes > SIZE_MAX - source->size)
		return WEFT_ERROR_MEMORY;
	if (bytes <= source->capacity - source->size)
		return 0;
	size_t capacity = weft__array_next_capacity(source->capacity, source->size + bytes);
	int error = weft__array_resize(&source->bytes, capacity, 1);
	if (!error)
		source->capacity = capacity;
	return error;
}

/* Reads to the end, whatever `expected` is: a file may grow or shrink meanwhile. */
static int read_all(struct weft_source *source, int fd, size_t expected, uint64_t most)
{
	int error = reserve(source, expected + 1);
	while (!error) {
		ssize_t got = read(fd, source->bytes + source->size, source->capacity - source->size);
		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return WEFT_ERROR_SYSTEM;
		source->size += got > 0 ? (size_t)got : 0;
		if (source->size > most)
			return WEFT_ERROR_SIZE;
		if (source->size == source->capacity)
			error = reserve(source, READ_BYTES);
	}
	return error;
}

static int map_all(struct weft_source *source, int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return WEFT_ERROR_SYSTEM;
	if (weft__mapping_guard(bytes, size)) {
		munmap(bytes, size);
		return WEFT_ERROR_LIMIT;
	}
	source->bytes = bytes;
	source->size = size;
	source->mapped = true;
	return 0;
}

static int load(struct weft_source *source, int fd)
{
	struct stat status;
	if (fstat(fd, &status))
		return WEFT_ERROR_SYSTEM;
	/* Standard input may be a file that was partly read already: then it is not mapped. */
	bool whole = S_ISREG(status.st_mode) && lseek(fd, 0, SEEK_CUR) == 0;
	if (!whole)
		return read_all(source, fd, READ_BYTES,
			S_ISREG(status.st_mode) ? UINT64_MAX
			: source->max_bytes     ? source->max_bytes
									: PIPE_BYTES);
	if ((uintmax_t)status.st_size < COPY_MAX_BYTES)
		return read_all(source, fd, (size_t)status.st_size, UINT64_MAX);
	if ((uintmax_t)status.st_size > SIZE_MAX / 2)
		return WEFT_ERROR_LIMIT;
	if (map_all(source, fd, (size_t)status.st_size) == 0)
		return 0;
	return read_all(source, fd, READ_BYTES, UINT64_MAX); /* for file systems that cannot map */
}

static void release(struct weft_source *source)
{
	if (source->mapped) {
		munmap(source->bytes, source->size);
		weft__mapping_release(source->bytes);
	} else {
		free(source->bytes);
	}
	*source = (struct weft_source){0};
}

/* Replaces a compressed file by its content. */
static int expand(struct weft_source *source)
{
	int fd;
	struct stat status;
	uint64_t most = source->max_bytes ? source->max_bytes
									  : WEFT_SOURCE_EXPANDED_BYTES +
											WEFT_SOURCE_EXPANDED_RATIO * (uint64_t)source->size;
	if (!weft__is_compressed(source->bytes, source->size))
		return 0;
	int error = weft__expand(source->bytes, source->size, most, &fd);
	if (error)
		return error;
	release(source);
	error = fstat(fd, &status) ? WEFT_ERROR_SYSTEM : map_all(source, fd, (size_t)status.st_size);
	int saved = errno;
	close(fd);
	errno = saved;
	return error;
}

WEFT__EXPORT int weft_source_open_descriptor(
	int fd, uint64_t max_bytes, struct weft_source **ret_source)
{
	struct weft_source *source = calloc(1, sizeof(*source));
	int error = WEFT_ERROR_MEMORY;
	weft__seed_hashes_once();
	if (source) {
		source->max_bytes = max_bytes;
		error = load(source, fd);
	}
	if (!error)
		error = expand(source);
	int saved = errno;
	if (error)
		weft_source_close(source);
	else
		*ret_source = source;
	errno = saved;
	return error;
}

WEFT__EXPORT int weft_source_open_limited(
	const char *path, uint64_t max_bytes, struct weft_source **ret_source)
{
	if (strcmp(path, "-") == 0)
		return weft_source_open_descriptor(STDIN_FILENO, max_bytes, ret_source);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return WEFT_ERROR_SYSTEM;
	int error = weft_source_open_descriptor(fd, max_bytes, ret_source);
	int saved = errno;
	close(fd);
	errno = saved;
	return error;
}

WEFT__EXPORT int weft_source_open(const char *path, struct weft_source **ret_source)
{
	return weft_source_open_limited(path, 0, ret_source);
}

WEFT__EXPORT void weft_source_close(struct weft_source *source)
{
	if (!source)
		return;
	release(source);
	free(source);
}

WEFT__EXPORT const void *weft_source_bytes(const struct weft_source *source, size_t *ret_size)
{
	*ret_size = source->size;
	return source->bytes;
}

WEFT__EXPORT void weft_source_forget(struct weft_source *source)
{
	if (source->mapped)
		(void)madvise(source->bytes, source->size, MADV_DONTNEED);
}
