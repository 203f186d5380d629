/* SPDX-License-Identifier: ISC
 *
 * A queue of bytes: the part of an input that has arrived and is still needed. Bytes are appended
 * at its end and taken from its beginning.
 */
#ifndef WEFT_FORMAT_WINDOW_H
#define WEFT_FORMAT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft__window {
	const uint8_t *bytes;
	size_t size;
	uint64_t offset; /* of bytes[0] in the input */
	bool is_whole;   /* no more bytes will arrive */
	uint8_t *room;   /* the memory of the bytes; NULL: they are borrowed */
	size_t capacity;
};

/* Appends a copy of the bytes; may move `bytes`. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__format_window_append(struct weft__window *window, const void *bytes, size_t size);

void weft__format_window_finish(struct weft__window *window);

/* The first `size` bytes are no longer needed. They stay where they are until the next append. */
static inline void weft__format_window_take(struct weft__window *window, size_t size)
{
	window->bytes += size;
	window->size -= size;
	window->offset += size;
}

#endif
