/* SPDX-License-Identifier: ISC
 *
 * One place where array sizes are multiplied and checked.
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
