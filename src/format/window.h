/* SPDX-License-Identifier: ISC
 *
 * The part of an input that has come and is still needed. Bytes are appended at its end and taken
 * from its beginning, so what is kept is what nobody has taken yet.
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
	bool is_whole;   /* no more will come */
	uint8_t *room;   /* NULL: the bytes are somebody else's */
	size_t capacity;
};

/* Appends a copy; moves `bytes`. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__window_append(struct weft__window *window, const void *bytes, size_t size);

void weft__window_finish(struct weft__window *window);

/* The first `size` bytes are no longer needed. They stay where they are until the next append. */
static inline void weft__window_take(struct weft__window *window, size_t size)
{
	window->bytes += size;
	window->size -= size;
	window->offset += size;
}

#endif
