/* SPDX-License-Identifier: ISC
 *
 * Compares borrowed bytes with texts.
 */
#ifndef WEFT_MODEL_SLICE_H
#define WEFT_MODEL_SLICE_H

#include <stdbool.h>
#include <string.h>

#include <weft/event.h>

/* True if the bytes are those of the text. */
static inline bool weft__slice_is(struct weft_slice slice, const char *text)
{
	return slice.size == strlen(text) && memcmp(slice.bytes, text, slice.size) == 0;
}

/* True if the text is somewhere in the bytes. */
static inline bool weft__slice_contains(struct weft_slice slice, const char *text)
{
	const size_t size = strlen(text);
	for (size_t i = 0; size <= slice.size && i <= slice.size - size; i++)
		if (memcmp(slice.bytes + i, text, size) == 0)
			return true;
	return false;
}

#endif
