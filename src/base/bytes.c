/* SPDX-License-Identifier: ISC
 *
 * All functions append through grow(), which checks sizes.
 */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void weft__bytes_finish(struct weft__bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct weft__bytes){0};
}

/* Returns the address for the next `size` bytes, and counts them; NULL once an allocation has
 * failed. */
static uint8_t *grow(struct weft__bytes *bytes, size_t size)
{
	if (bytes->failed)
		return NULL;
	if (size > bytes->capacity - bytes->size) {
		size_t capacity = SIZE_MAX - bytes->size < size
							  ? SIZE_MAX
							  : weft__array_next_capacity(bytes->capacity, bytes->size + size);
		if (weft__array_resize(&bytes->data, capacity, 1) != 0) {
			bytes->failed = true;
			return NULL;
		}
		bytes->capacity = capacity;
	}
	bytes->size += size;
	return bytes->data + bytes->size - size;
}

void weft__bytes_put(struct weft__bytes *bytes, const void *data, size_t size)
{
	uint8_t *added = grow(bytes, size);
	if (added && size)
		memcpy(added, data, size);
}

static void put_integer(struct weft__bytes *bytes, uint64_t value, size_t size)
{
	uint8_t *added = grow(bytes, size);
	for (size_t i = 0; added && i < size; i++)
		added[i] = (uint8_t)(value >> (8 * i));
}

void weft__bytes_put_u8(struct weft__bytes *bytes, uint8_t value)
{
	put_integer(bytes, value, 1);
}

void weft__bytes_put_u16(struct weft__bytes *bytes, uint16_t value)
{
	put_integer(bytes, value, 2);
}

void weft__bytes_put_u32(struct weft__bytes *bytes, uint32_t value)
{
	put_integer(bytes, value, 4);
}

void weft__bytes_put_u64(struct weft__bytes *bytes, uint64_t value)
{
	put_integer(bytes, value, 8);
}

void weft__bytes_print(struct weft__bytes *bytes, const char *format, ...)
{
	va_list arguments, again;
	va_start(arguments, format);
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, arguments);
	/* vsnprintf writes a NUL, which needs room and is then dropped. */
	uint8_t *added = grow(bytes, (size_t)length + 1);
	if (added) {
		vsnprintf((char *)added, (size_t)length + 1, format, again);
		bytes->size--;
	}
	va_end(again);
	va_end(arguments);
}
