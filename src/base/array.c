/* SPDX-License-Identifier: ISC
 *
 * All multiplications and checks of array sizes.
 */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

size_t weft__array_next_capacity(size_t capacity, size_t need)
{
	size_t next = capacity + capacity / 2;
	if (next < 16)
		next = 16;
	return next < need ? need : next;
}

int weft__array_resize(void *array, size_t capacity, size_t element_bytes)
{
	void *old, *new;
	/* `array` is a T ** of unknown T: its bytes are copied, as aliasing rules want. */
	memcpy(&old, array, sizeof(old));
	if (capacity > SIZE_MAX / 2 / element_bytes)
		return WEFT_ERROR_MEMORY;
	new = realloc(old, capacity ? capacity * element_bytes : 1);
	if (!new)
		return WEFT_ERROR_MEMORY;
	memcpy(array, &new, sizeof(new));
	return 0;
}

int weft__columns_reserve(
	const struct weft__column *columns, size_t count, size_t *capacity, size_t need)
{
	size_t next;
	if (need <= *capacity)
		return 0;
	if (need >= UINT32_MAX)
		return WEFT_ERROR_LIMIT;
	next = weft__array_next_capacity(*capacity, need);
	for (size_t i = 0; i < count; i++) {
		/* A column that grew before another failed just has more room than `capacity` says. */
		int error = weft__array_resize(columns[i].array, next, columns[i].element_bytes);
		if (error)
			return error;
	}
	*capacity = next;
	return 0;
}

void weft__columns_trim(
	const struct weft__column *columns, size_t count, size_t *capacity, size_t rows)
{
	for (size_t i = 0; *capacity && i < count; i++)
		(void)weft__array_resize(columns[i].array, rows, columns[i].element_bytes);
	*capacity = rows;
}
