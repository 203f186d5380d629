/* SPDX-License-Identifier: ISC
 *
 * The bytes of a file. Small regular files are read, large ones mapped; pipes, terminals and
 * special files (whose size is meaningless) are read to their end. What does not fit into
 * PIPE_MEMORY_BYTES goes into a file without a name.
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
#include "source/holes.h"
#include "source/mapping.h"
#include "source/nameless.h"
#include "source/part.h"
#include "source/seed.h"

/* Up to this size files are copied, since a copy cannot be truncated by others. But a mapping's
 * pages can be released after they were read, which for a large trace is a third of the memory; and
 * a buffer that a program records into, which has at least 64 KiB, must be mapped, because a plain
 * copy would tear its packets. */
#define COPY_MAX_BYTES ((size_t)64 << 10)
#define READ_BYTES     ((size_t)64 << 10)

/* See weft_source_open_limited(): a few bytes can stand for any number of zeros. */
#define PIPE_BYTES ((uint64_t)4 << 30)

#define PIPE_MEMORY_BYTES WEFT_SOURCE_CHECKED_BYTES

struct weft_source {
	unsigned char *bytes;
	size_t size;
	size_t capacity;                                /* capacity of a copy */
	uint64_t max_bytes;                             /* the caller's limit, or 0 */
	bool (*may_be)(const void *bytes, size_t size); /* see weft_source_open_checked() */
	bool mapped;
	bool is_part; /* the bytes are those of another source */
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

/* Reads to the end, whatever `expected` is, since a file may grow or shrink meanwhile; or until
 * there are `enough` bytes. */
static int read_some(
	struct weft_source *source, int fd, size_t expected, uint64_t enough, bool *ret_ended)
{
	int error = reserve(source, expected + 1);
	*ret_ended = false;
	while (!error && source->size < enough) {
		size_t room = source->capacity - source->size;
		if (room > enough - source->size)
			room = (size_t)(enough - source->size);
		ssize_t got = read(fd, source->bytes + source->size, room);
		*ret_ended = got == 0;
		if (*ret_ended)
			return 0;
		if (got < 0 && errno != EINTR)
			return WEFT_ERROR_SYSTEM;
		source->size += got > 0 ? (size_t)got : 0;
		if (source->size == source->capacity)
			error = reserve(source, READ_BYTES);
	}
	return error;
}

static int read_all(struct weft_source *source, int fd, size_t expected)
{
	bool has_ended;
	return read_some(source, fd, expected, UINT64_MAX, &has_ended);
}

static int map_all(struct weft_source *source, int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return WEFT_ERROR_SYSTEM;
	if (weft__source_mapping_guard(bytes, size)) {
		munmap(bytes, size);
		return WEFT_ERROR_LIMIT;
	}
	weft__source_holes_cover(bytes, size, fd);
	source->bytes = bytes;
	source->size = size;
	source->mapped = true;
	return 0;
}

/* Copies what was read, and the rest of a pipe, to a file. */
static int copy_pipe(const struct weft_source *source, int from, int to, uint64_t most)
{
	char block[READ_BYTES];
	uint64_t total = source->size;
	int error = weft__source_nameless_write(to, source->bytes, source->size);
	while (!error) {
		ssize_t got = read(from, block, sizeof(block));
		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return WEFT_ERROR_SYSTEM;
		total += got > 0 ? (size_t)got : 0;
		if (total > most)
			return WEFT_ERROR_SIZE;
		error = weft__source_nameless_write(to, block, got > 0 ? (size_t)got : 0);
	}
	return error;
}

/* Moves a long pipe into a file without a name, which is mapped. */
static int spool(struct weft_source *source, int fd, uint64_t most)
{
	struct stat status;
	int file = weft__source_nameless_open();
	int error = file < 0 ? WEFT_ERROR_SYSTEM : copy_pipe(source, fd, file, most);
	if (!error && fstat(file, &status))
		error = WEFT_ERROR_SYSTEM;
	if (!error) {
		free(source->bytes);
		source->bytes = NULL;
		source->size = source->capacity = 0;
		error = map_all(source, file, (size_t)status.st_size);
	}
	int saved = errno;
	if (file >= 0)
		close(file);
	errno = saved;
	return error;
}

/* A pipe may be endless: one that is not a trace is refused before much of it is read. */
static int read_pipe(struct weft_source *source, int fd)
{
	uint64_t most = source->max_bytes ? source->max_bytes : PIPE_BYTES;
	uint64_t enough = most < PIPE_MEMORY_BYTES ? most + 1 : PIPE_MEMORY_BYTES;
	bool has_ended;
	int error = read_some(source, fd, READ_BYTES, enough, &has_ended);
	if (error)
		return error;
	if (source->size > most)
		return WEFT_ERROR_SIZE;
	if (!has_ended && source->may_be && !weft__source_is_compressed(source->bytes, source->size) &&
		!source->may_be(source->bytes, source->size))
		return WEFT_ERROR_FORMAT;
	return has_ended ? 0 : spool(source, fd, most);
}

static int load(struct weft_source *source, int fd)
{
	struct stat status;
	if (fstat(fd, &status))
		return WEFT_ERROR_SYSTEM;
	if (!S_ISREG(status.st_mode))
		return read_pipe(source, fd);
	/* Standard input may be a file that was partly read already: then it is not mapped. */
	if (lseek(fd, 0, SEEK_CUR) != 0)
		return read_all(source, fd, READ_BYTES);
	if ((uintmax_t)status.st_size < COPY_MAX_BYTES)
		return read_all(source, fd, (size_t)status.st_size);
	if ((uintmax_t)status.st_size > SIZE_MAX / 2)
		return WEFT_ERROR_LIMIT;
	if (map_all(source, fd, (size_t)status.st_size) == 0)
		return 0;
	return read_all(source, fd, READ_BYTES); /* for file systems that cannot map */
}

static void release(struct weft_source *source)
{
	if (source->mapped) {
		munmap(source->bytes, source->size);
		weft__source_mapping_release(source->bytes);
	} else if (!source->is_part) {
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
	if (!weft__source_is_compressed(source->bytes, source->size))
		return 0;
	int error = weft__source_expand(source->bytes, source->size, most, &fd);
	if (error)
		return error;
	release(source);
	error = fstat(fd, &status) ? WEFT_ERROR_SYSTEM : map_all(source, fd, (size_t)status.st_size);
	int saved = errno;
	close(fd);
	errno = saved;
	return error;
}

static int open_descriptor(int fd, uint64_t max_bytes,
	bool (*may_be)(const void *bytes, size_t size), struct weft_source **ret_source)
{
	struct weft_source *source = calloc(1, sizeof(*source));
	int error = WEFT_ERROR_MEMORY;
	weft__source_seed_hashes_once();
	if (source) {
		source->max_bytes = max_bytes;
		source->may_be = may_be;
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

WEFT__EXPORT int weft_source_open_descriptor(
	int fd, uint64_t max_bytes, struct weft_source **ret_source)
{
	return open_descriptor(fd, max_bytes, NULL, ret_source);
}

WEFT__EXPORT int weft_source_open_checked(const char *path, uint64_t max_bytes,
	bool (*may_be)(const void *bytes, size_t size), struct weft_source **ret_source)
{
	if (strcmp(path, "-") == 0)
		return open_descriptor(STDIN_FILENO, max_bytes, may_be, ret_source);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return WEFT_ERROR_SYSTEM;
	int error = open_descriptor(fd, max_bytes, may_be, ret_source);
	int saved = errno;
	close(fd);
	errno = saved;
	return error;
}

WEFT__EXPORT int weft_source_open_limited(
	const char *path, uint64_t max_bytes, struct weft_source **ret_source)
{
	return weft_source_open_checked(path, max_bytes, NULL, ret_source);
}

WEFT__EXPORT int weft_source_open(const char *path, struct weft_source **ret_source)
{
	return weft_source_open_limited(path, 0, ret_source);
}

int weft__source_part(
	struct weft_source *whole, size_t offset, size_t size, struct weft_source **ret_part)
{
	struct weft_source *part = malloc(sizeof(*part));
	if (!part)
		return WEFT_ERROR_MEMORY;
	*part = (struct weft_source){.bytes = whole->bytes + offset, .size = size, .is_part = true};
	*ret_part = part;
	return 0;
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
