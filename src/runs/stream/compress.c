/* SPDX-License-Identifier: ISC
 *
 * Each file is one zstd frame. Each piece is flushed, so that a file whose end is missing can be
 * read up to there. The level is the lowest one: at any other a busy program records faster than
 * zstd compresses.
 */
#include "runs/stream/compress.h"

#include <stdlib.h>

#if WEFT_HAS_ZSTD
#include <zstd.h>

struct weft__compressor {
	ZSTD_CCtx *context;
	char *bytes;
	size_t capacity;
};

bool weft__runs_compressor_is_there(void)
{
	return true;
}

struct weft__compressor *weft__runs_compressor_create(void)
{
	struct weft__compressor *c = calloc(1, sizeof(*c));
	if (c)
		c->context = ZSTD_createCCtx();
	if (!c || !c->context ||
		ZSTD_isError(ZSTD_CCtx_setParameter(c->context, ZSTD_c_compressionLevel, 1)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(c->context, ZSTD_c_checksumFlag, 1))) {
		weft__runs_compressor_destroy(c);
		return NULL;
	}
	return c;
}

void weft__runs_compressor_destroy(struct weft__compressor *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->context);
	free(c->bytes);
	free(c);
}

/* Reserves room for the compressed bytes, and for the headers and the end of a frame. */
static bool reserve(struct weft__compressor *c, size_t size)
{
	size_t capacity = ZSTD_compressBound(size) + ZSTD_CStreamOutSize();
	if (capacity <= c->capacity)
		return true;
	char *bytes = realloc(c->bytes, capacity);
	if (!bytes)
		return false;
	c->bytes = bytes;
	c->capacity = capacity;
	return true;
}

bool weft__runs_compressor_add(struct weft__compressor *c, const void *bytes, size_t size,
	bool last, const char **ret_bytes, size_t *ret_size)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	if (!reserve(c, size))
		return false;
	ZSTD_outBuffer out = {c->bytes, c->capacity, 0};
	size_t left = ZSTD_compressStream2(c->context, &out, &in, last ? ZSTD_e_end : ZSTD_e_flush);
	if (left != 0) /* an error, or more output than compressBound allows for */
		return false;
	*ret_bytes = c->bytes;
	*ret_size = out.pos;
	return true;
}
#else
bool weft__runs_compressor_is_there(void)
{
	return false;
}

struct weft__compressor *weft__runs_compressor_create(void)
{
	return NULL;
}

void weft__runs_compressor_destroy(struct weft__compressor *c)
{
	(void)c;
}

bool weft__runs_compressor_add(struct weft__compressor *c, const void *bytes, size_t size,
	bool last, const char **ret_bytes, size_t *ret_size)
{
	(void)c, (void)bytes, (void)size, (void)last, (void)ret_bytes, (void)ret_size;
	return false;
}
#endif
