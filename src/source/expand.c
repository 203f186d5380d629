/* SPDX-License-Identifier: ISC
 *
 * Unpacks into a file without a name, which is then mapped like any other: so the content may be
 * larger than memory, and readers need not know about compression.
 */
#include "source/expand.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/error.h>
#include <weft/source.h>

#include "source/gunzip.h"
#include "source/nameless.h"
#include "source/trace_dat.h"

static const unsigned char ZSTD_MAGIC_BYTES[WEFT__COMPRESSED_MAGIC_BYTES] = {
	0x28, 0xb5, 0x2f, 0xfd};

bool weft__source_is_zstd(const void *bytes, size_t size)
{
	return size >= sizeof(ZSTD_MAGIC_BYTES) &&
		   memcmp(bytes, ZSTD_MAGIC_BYTES, sizeof(ZSTD_MAGIC_BYTES)) == 0;
}

bool weft__source_is_compressed(const void *bytes, size_t size)
{
	return weft__source_is_zstd(bytes, size) || weft__source_is_gzip(bytes, size) ||
		   weft__source_is_trace_dat(bytes, size);
}

#if WEFT_HAS_ZSTD
#include <zstd.h>

static int expand_into(int fd, ZSTD_DCtx *context, ZSTD_inBuffer *in, uint64_t max_bytes)
{
	char block[64 << 10];
	uint64_t total = 0;
	for (;;) {
		ZSTD_outBuffer out = {block, sizeof(block), 0};
		size_t before = in->pos;
		size_t status = ZSTD_decompressStream(context, &out, in);
		if (out.pos > max_bytes - total)
			return WEFT_ERROR_SIZE;
		/* Output before damage is kept. */
		int error = weft__source_nameless_write(fd, block, out.pos);
		if (error)
			return error;
		total += out.pos;
		if (ZSTD_isError(status) || (out.pos == 0 && in->pos == before))
			return total ? 0 : WEFT_ERROR_DAMAGED;
	}
}

/* True if the file's header claims more than `max_bytes`; the header need not have a size. */
static bool claims_more(const void *bytes, size_t size, uint64_t max_bytes)
{
	unsigned long long content = ZSTD_getFrameContentSize(bytes, size);
	return content != ZSTD_CONTENTSIZE_UNKNOWN && content != ZSTD_CONTENTSIZE_ERROR &&
		   content > max_bytes;
}

static int expand_zstd(const void *bytes, size_t size, uint64_t max_bytes, int fd)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	if (claims_more(bytes, size, max_bytes))
		return WEFT_ERROR_SIZE;
	ZSTD_DCtx *context = ZSTD_createDCtx();
	if (!context)
		return WEFT_ERROR_MEMORY;
	int error = expand_into(fd, context, &in, max_bytes);
	ZSTD_freeDCtx(context);
	return error;
}

/* ---- A file that grows ---- */

struct weft__expansion {
	ZSTD_DCtx *context;
	ZSTD_inBuffer in;
	uint64_t fed, total; /* bytes of the file; bytes unpacked */
	bool is_full;        /* the block was filled, so there may be more without more input */
	char block[64 << 10];
};

int weft__source_expansion_create(struct weft__expansion **ret_expansion)
{
	struct weft__expansion *e = calloc(1, sizeof(*e));
	if (!e)
		return WEFT_ERROR_MEMORY;
	e->context = ZSTD_createDCtx();
	if (!e->context) {
		free(e);
		return WEFT_ERROR_MEMORY;
	}
	*ret_expansion = e;
	return 0;
}

void weft__source_expansion_destroy(struct weft__expansion *e)
{
	if (!e)
		return;
	ZSTD_freeDCtx(e->context);
	free(e);
}

void weft__source_expansion_feed(struct weft__expansion *e, const void *bytes, size_t size)
{
	e->in = (ZSTD_inBuffer){bytes, size, 0};
	e->fed += size;
}

/* zstd takes 16 calls without progress for an error, so it is not called without need. */
int weft__source_expansion_next(struct weft__expansion *e, const void **ret_bytes, size_t *ret_size)
{
	while (e->in.pos < e->in.size || e->is_full) {
		ZSTD_outBuffer out = {e->block, sizeof(e->block), 0};
		size_t before = e->in.pos;
		size_t status = ZSTD_decompressStream(e->context, &out, &e->in);
		if (ZSTD_isError(status))
			return WEFT_ERROR_DAMAGED;
		e->is_full = out.pos == out.size;
		e->total += out.pos;
		if (e->total > WEFT_SOURCE_EXPANDED_BYTES + WEFT_SOURCE_EXPANDED_RATIO * e->fed)
			return WEFT_ERROR_SIZE;
		if (out.pos) {
			*ret_bytes = e->block;
			*ret_size = out.pos;
			return WEFT_OK;
		}
		if (e->in.pos == before)
			return WEFT_AGAIN;
	}
	return WEFT_AGAIN;
}
#else
int weft__source_expansion_create(struct weft__expansion **ret_expansion)
{
	(void)ret_expansion;
	return WEFT_ERROR_COMPRESSED;
}

void weft__source_expansion_destroy(struct weft__expansion *e)
{
	(void)e;
}

void weft__source_expansion_feed(struct weft__expansion *e, const void *bytes, size_t size)
{
	(void)e, (void)bytes, (void)size;
}

int weft__source_expansion_next(struct weft__expansion *e, const void **ret_bytes, size_t *ret_size)
{
	(void)e, (void)ret_bytes, (void)ret_size;
	return WEFT_ERROR_COMPRESSED;
}

static int expand_zstd(const void *bytes, size_t size, uint64_t max_bytes, int fd)
{
	(void)bytes, (void)size, (void)max_bytes, (void)fd;
	return WEFT_ERROR_COMPRESSED;
}
#endif

int weft__source_expand(const void *bytes, size_t size, uint64_t max_bytes, int *ret_fd)
{
	int fd = weft__source_nameless_open();
	if (fd < 0)
		return WEFT_ERROR_SYSTEM;
	int error = weft__source_is_gzip(bytes, size) ? weft__source_gunzip(bytes, size, max_bytes, fd)
				: weft__source_is_trace_dat(bytes, size)
					? weft__source_expand_trace_dat(bytes, size, max_bytes, fd)
					: expand_zstd(bytes, size, max_bytes, fd);
	if (error)
		close(fd);
	else
		*ret_fd = fd;
	return error;
}
