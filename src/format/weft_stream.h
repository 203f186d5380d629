/* SPDX-License-Identifier: ISC
 *
 * A stream's chunks, one by one: for the reader of a whole stream and for that of one that is still
 * coming in.
 */
#ifndef WEFT_FORMAT_WEFT_STREAM_H
#define WEFT_FORMAT_WEFT_STREAM_H

#include "abi/stream_abi.h"
#include "format/weft_buffer.h"

static const char WEFT__STREAM_CUT_SHORT[] = "the stream is cut short";
static const char WEFT__STREAM_NO_CHUNK[] = "what is no chunk of a stream; it is stepped over";

/* A chunk whose content is there. */
struct weft__chunk {
	const uint8_t *content;
	uint64_t offset; /* of the content in the input */
	uint64_t at;
	uint32_t kind, bytes;
};

enum weft__chunk_state {
	WEFT__CHUNK_WHOLE,
	WEFT__CHUNK_CUT,    /* its content reaches past the bytes that there are */
	WEFT__CHUNK_BROKEN, /* its magic or its size is wrong */
};

/* The chunk at the beginning of `bytes`, which lie at `offset` in the input; size is at least that
 * of a struct weft_abi_chunk. Only a whole one is filled in. */
enum weft__chunk_state weft__chunk_read(
	const uint8_t *bytes, size_t size, uint64_t offset, struct weft__chunk *ret_chunk);

/* Is there the magic of a chunk? */
bool weft__chunk_begins(const uint8_t *bytes, size_t size);

/* Bytes before the next chunk's magic, in steps of 8; `size` or a little less if there is none. */
size_t weft__chunk_find(const uint8_t *bytes, size_t size);

/* May it be a packet of this stream? */
bool weft__stream_is_packet(const struct weft__buffer *buffer, const struct weft__chunk *chunk,
	struct weft_diagnostics *diagnostics);

/* What a chunk of names or a header changes in the buffer. 0 or WEFT_ERROR_MEMORY. */
int weft__stream_add_names(struct weft__buffer *buffer, const struct weft__chunk *chunk,
	struct weft_diagnostics *diagnostics);
void weft__stream_take_header(struct weft__buffer *buffer, const struct weft__chunk *chunk,
	struct weft_diagnostics *diagnostics);

#endif
