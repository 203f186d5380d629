/* SPDX-License-Identifier: ISC
 *
 * Parses the chunks of a stream, for the reader of a whole stream and for that of a stream that is
 * still arriving.
 */
#ifndef WEFT_FORMAT_WEFT_STREAM_H
#define WEFT_FORMAT_WEFT_STREAM_H

#include "abi/packet_abi.h"
#include "abi/stream_abi.h"
#include "format/weft/buffer.h"

static const char WEFT__STREAM_CUT_SHORT[] = "the stream is cut short";
static const char WEFT__STREAM_NO_CHUNK[] = "bytes that are not a chunk of a stream; skipped";

/* A chunk whose content is complete. */
struct weft__chunk {
	const uint8_t *content;
	uint64_t offset; /* of the content in the input */
	uint64_t at;
	uint32_t kind, bytes;
};

/* A copy of the beginning of a packet's chunk. */
struct weft__packet_head {
	struct weft_abi_chunk chunk;
	struct weft_abi_packet packet;
};

enum weft__chunk_state {
	WEFT__CHUNK_WHOLE,
	WEFT__CHUNK_CUT,    /* its content extends past the end of the bytes */
	WEFT__CHUNK_BROKEN, /* its magic or its size is wrong */
};

/* Reads the chunk at the beginning of `bytes`, which lie at `offset` in the input; `size` is at
 * least that of a struct weft_abi_chunk. *ret_chunk is set only for a whole chunk. */
enum weft__chunk_state weft__format_chunk_read(
	const uint8_t *bytes, size_t size, uint64_t offset, struct weft__chunk *ret_chunk);

/* True if the bytes begin with the magic of a chunk. */
bool weft__format_chunk_begins(const uint8_t *bytes, size_t size);

/* Bytes before the next chunk's magic, in steps of 8; `size` or a little less if there is none. */
size_t weft__format_chunk_find(const uint8_t *bytes, size_t size);

/* True if the chunk has the size of a packet of this stream. Reports another size. */
bool weft__format_stream_is_packet(const struct weft__buffer *buffer,
	const struct weft__chunk *chunk, struct weft_diagnostics *diagnostics);

/* Apply a chunk of names or of a header to the buffer. 0 or WEFT_ERROR_MEMORY. */
int weft__format_stream_add_names(struct weft__buffer *buffer, const struct weft__chunk *chunk,
	struct weft_diagnostics *diagnostics);
void weft__format_stream_take_header(struct weft__buffer *buffer, const struct weft__chunk *chunk,
	struct weft_diagnostics *diagnostics);

#endif
