/* SPDX-License-Identifier: ISC
 *
 * Taken bytes leave a gap at the beginning of the memory. The remaining bytes move down when the
 * gap is at least as large as they are, so that each byte is moved once on average.
 */
#include "format/window.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"

/* Makes room for `more` bytes behind the others. */
static int reserve(struct weft__window *w, size_t more)
{
	size_t gap = w->room ? (size_t)(w->bytes - w->room) : 0;
	if (w->room && w->capacity - gap - w->size >= more)
		return 0;
	if (gap >= w->size && w->room) {
		memmove(w->room, w->bytes, w->size);
		w->bytes = w->room;
		gap = 0;
	}
	if (w->size > SIZE_MAX - gap || more > SIZE_MAX - gap - w->size)
		return WEFT_ERROR_LIMIT;
	size_t need = gap + w->size + more;
	if (w->room && need <= w->capacity)
		return 0;
	size_t capacity = weft__array_next_capacity(w->capacity, need);
	int error = weft__array_resize(&w->room, capacity, 1);
	if (error)
		return error;
	w->capacity = capacity;
	w->bytes = w->room + gap;
	return 0;
}

int weft__format_window_append(struct weft__window *w, const void *bytes, size_t size)
{
	int error = reserve(w, size);
	if (error)
		return error;
	if (size)
		memcpy(w->room + (w->bytes - w->room) + w->size, bytes, size);
	w->size += size;
	return 0;
}

void weft__format_window_finish(struct weft__window *w)
{
	free(w->room);
	*w = (struct weft__window){0};
}
