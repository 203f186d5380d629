/* SPDX-License-Identifier: ISC
 *
 * One frame a file. Each piece is flushed, so that a file whose end is missing can be read up to
 * there; at the lowest level, which is the only one that a busy program does not outrun.
 */
#include "stream_compress.h"

#include <stdlib.h>

#if WEFT_HAS_ZSTD
#include <zstd.h>

struct stream_compressor {
	ZSTD_CCtx *context;
	char *bytes;
	size_t capacity;
};

bool stream_can_compress(void)
{
	return true;
}

struct stream_compressor *stream_compressor_create(void)
{
	struct stream_compressor *c = calloc(1, sizeof(*c));
	if (c)
		c->context = ZSTD_createCCtx();
	if (!c || !c->context ||
		ZSTD_isError(ZSTD_CCtx_setParameter(c->context, ZSTD_c_compressionLevel, 1)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(c->context, ZSTD_c_checksumFlag, 1))) {
		stream_compressor_destroy(c);
		return NULL;
	}
	return c;
}

void stream_compressor_destroy(struct stream_compressor *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->context);
	free(c->bytes);
	free(c);
}

/* With what a frame's header, its blocks' headers and its end may take besides. */
static bool reserve(struct stream_compressor *c, size_t size)
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

bool stream_compress(struct stream_compressor *c, const void *bytes, size_t size, bool last,
	const char **ret_bytes, size_t *ret_size)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	if (!reserve(c, size))
		return false;
	ZSTD_outBuffer out = {c->bytes, c->capacity, 0};
	size_t left = ZSTD_compressStream2(c->context, &out, &in, last ? ZSTD_e_end : ZSTD_e_flush);
	if (left != 0) /* an error, or output that does not fit into what it must fit into */
		return false;
	*ret_bytes = c->bytes;
	*ret_size = out.pos;
	return true;
}
#else
bool stream_can_compress(void)
{
	return false;
}

struct stream_compressor *stream_compressor_create(void)
{
	return NULL;
}

void stream_compressor_destroy(struct stream_compressor *c)
{
	(void)c;
}

bool stream_compress(struct stream_compressor *c, const void *bytes, size_t size, bool last,
	const char **ret_bytes, size_t *ret_size)
{
	(void)c, (void)bytes, (void)size, (void)last, (void)ret_bytes, (void)ret_size;
	return false;
}
#endif
