/* SPDX-License-Identifier: ISC
 *
 * A file of gzip has one or more members, one after the other.
 */
#include "source/gunzip.h"

#include <weft/error.h>

#include "source/nameless.h"

bool weft__source_is_gzip(const void *bytes, size_t size)
{
	const unsigned char *b = bytes;
	return size > 2 && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8; /* 8: deflate */
}

#if WEFT_HAS_ZLIB
#include <limits.h>
#include <zlib.h>

#define ANY_WINDOW (15 + 16) /* with the header of gzip */
#define FEED_MAX   ((size_t)UINT_MAX)

/* Gives zlib, which counts in unsigned int, what is left of the file. */
static void feed(z_stream *stream, const unsigned char *end)
{
	size_t left = (size_t)(end - stream->next_in);
	stream->avail_in = (uInt)(left < FEED_MAX ? left : FEED_MAX);
}

static int unpack(z_stream *stream, const unsigned char *end, uint64_t max_bytes, int fd)
{
	unsigned char block[64 << 10];
	uint64_t total = 0;
	for (int status = Z_OK; status == Z_OK;) {
		stream->next_out = block;
		stream->avail_out = sizeof(block);
		feed(stream, end);
		status = inflate(stream, Z_NO_FLUSH);
		size_t count = sizeof(block) - stream->avail_out;
		if (count > max_bytes - total)
			return WEFT_ERROR_SIZE;
		int error = weft__source_nameless_write(fd, block, count);
		if (error)
			return error;
		total += count;
		if (status == Z_MEM_ERROR)
			return WEFT_ERROR_MEMORY;
		if (status == Z_STREAM_END &&
			weft__source_is_gzip(stream->next_in, (size_t)(end - stream->next_in)))
			status = inflateReset(stream);
	}
	return total ? 0 : WEFT_ERROR_DAMAGED;
}

int weft__source_gunzip(const void *bytes, size_t size, uint64_t max_bytes, int fd)
{
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes}; /* it is only read */
	if (inflateInit2(&stream, ANY_WINDOW) != Z_OK)
		return WEFT_ERROR_MEMORY;
	int error = unpack(&stream, (const unsigned char *)bytes + size, max_bytes, fd);
	inflateEnd(&stream);
	return error;
}
#else
int weft__source_gunzip(const void *bytes, size_t size, uint64_t max_bytes, int fd)
{
	(void)bytes, (void)size, (void)max_bytes, (void)fd;
	return WEFT_ERROR_COMPRESSED;
}
#endif
