/* SPDX-License-Identifier: ISC
 *
 * Reads a file that grows, in blocks. The bytes are read, not mapped, so that a file which becomes
 * shorter does no harm.
 */
#include <weft/source.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/export.h"
#include "source/expand.h"
#include "source/seed.h"

#define BLOCK_BYTES ((size_t)256 << 10)

struct weft_source_growth {
	char *path;
	int fd;
	uint64_t size;                    /* bytes that were read */
	struct weft__expansion *expanded; /* of a compressed file */
	unsigned char block[BLOCK_BYTES];
};

static int open_file(struct weft_source_growth *g, const char *path)
{
	struct stat status;
	g->path = strdup(path);
	if (!g->path)
		return WEFT_ERROR_MEMORY;
	/* Opening a FIFO does not block. */
	g->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (g->fd < 0 || fstat(g->fd, &status) != 0)
		return WEFT_ERROR_SYSTEM;
	return S_ISREG(status.st_mode) ? 0 : WEFT_ERROR_FORMAT;
}

WEFT__EXPORT int weft_source_growth_open(const char *path, struct weft_source_growth **ret_growth)
{
	struct weft_source_growth *g = calloc(1, sizeof(*g));
	if (!g)
		return WEFT_ERROR_MEMORY;
	weft__source_seed_hashes_once();
	g->fd = -1;
	int error = open_file(g, path), reason = errno;
	if (error)
		weft_source_growth_close(g);
	else
		*ret_growth = g;
	errno = reason;
	return error;
}

WEFT__EXPORT void weft_source_growth_close(struct weft_source_growth *g)
{
	if (!g)
		return;
	if (g->fd >= 0)
		close(g->fd);
	weft__source_expansion_destroy(g->expanded);
	free(g->path);
	free(g);
}

/* True if the file became shorter, or there is another one at its path. */
static bool is_replaced(const struct weft_source_growth *g)
{
	struct stat ours, theirs;
	if (fstat(g->fd, &ours) != 0 || (uint64_t)ours.st_size < g->size)
		return true;
	return stat(g->path, &theirs) == 0 &&
		   (ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev);
}

/* Reads a block. */
static int read_block(struct weft_source_growth *g, size_t *ret_size)
{
	ssize_t got;
	do
		got = pread(g->fd, g->block, sizeof(g->block), (off_t)g->size);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return WEFT_ERROR_SYSTEM;
	if (got == 0)
		return is_replaced(g) ? WEFT_END : WEFT_AGAIN;
	*ret_size = (size_t)got;
	return WEFT_OK;
}

/* The first bytes show whether the file is compressed. If there are too few of them yet, they are
 * read again later. */
static int begin_growth(struct weft_source_growth *g, size_t size)
{
	if (g->size)
		return WEFT_OK;
	if (size < WEFT__COMPRESSED_MAGIC_BYTES)
		return WEFT_AGAIN;
	return weft__source_is_zstd(g->block, size) ? weft__source_expansion_create(&g->expanded)
												: WEFT_OK;
}

static int next_block(struct weft_source_growth *g, size_t *ret_size)
{
	int status = read_block(g, ret_size);
	if (status == WEFT_OK)
		status = begin_growth(g, *ret_size);
	if (status == WEFT_OK)
		g->size += *ret_size;
	return status;
}

WEFT__EXPORT int weft_source_growth_next(
	struct weft_source_growth *g, const void **ret_bytes, size_t *ret_size)
{
	size_t size;
	for (;;) {
		int status = g->expanded ? weft__source_expansion_next(g->expanded, ret_bytes, ret_size)
								 : WEFT_AGAIN;
		if (status == WEFT_AGAIN)
			status = next_block(g, &size);
		else
			return status;
		if (status != WEFT_OK)
			return status;
		if (!g->expanded) {
			*ret_bytes = g->block;
			*ret_size = size;
			return WEFT_OK;
		}
		weft__source_expansion_feed(g->expanded, g->block, size);
	}
}

WEFT__EXPORT uint64_t weft_source_growth_size(const struct weft_source_growth *g)
{
	return g->size;
}
