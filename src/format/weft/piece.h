/* SPDX-License-Identifier: ISC
 *
 * Bytes to append to a stream.
 */
#ifndef WEFT_FORMAT_WEFT_PIECE_H
#define WEFT_FORMAT_WEFT_PIECE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/stream_abi.h"

struct weft__piece {
	uint8_t *bytes;
	size_t size, capacity;
};

/* Makes room for `more` bytes. 0 or WEFT_ERROR_MEMORY. */
int weft__format_piece_reserve(struct weft__piece *piece, size_t more);

/* Writes the header of a chunk and returns where its content goes. The caller has reserved the
 * space. */
uint8_t *weft__format_piece_begin_chunk(struct weft__piece *piece, struct weft_abi_chunk chunk);
void weft__format_piece_end_chunk(struct weft__piece *piece, size_t bytes);

#endif
