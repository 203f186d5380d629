/* SPDX-License-Identifier: ISC
 *
 * Bytes to append to a stream: chunks one after the other.
 */
#include "format/weft/piece.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

int weft__format_piece_reserve(struct weft__piece *piece, size_t more)
{
	if (more <= piece->capacity - piece->size)
		return 0;
	size_t capacity = 2 * piece->capacity + more;
	uint8_t *bytes = realloc(piece->bytes, capacity);
	if (!bytes)
		return WEFT_ERROR_MEMORY;
	piece->bytes = bytes;
	piece->capacity = capacity;
	return 0;
}

/* Writes the header of a chunk and returns where its content goes. The caller has reserved the
 * space. */
uint8_t *weft__format_piece_begin_chunk(struct weft__piece *piece, struct weft_abi_chunk chunk)
{
	chunk.magic = WEFT_ABI_CHUNK_MAGIC;
	memcpy(piece->bytes + piece->size, &chunk, sizeof(chunk));
	return piece->bytes + piece->size + sizeof(chunk);
}

void weft__format_piece_end_chunk(struct weft__piece *piece, size_t bytes)
{
	piece->size += sizeof(struct weft_abi_chunk) + bytes;
}
