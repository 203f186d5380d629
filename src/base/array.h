/* SPDX-License-Identifier: ISC
 *
 * Growth of plain C arrays: the caller owns pointer, capacity and count as members of its own
 * struct; several columns may share one capacity if all grow to the same number of rows.
 */
#ifndef WEFT_BASE_ARRAY_H
#define WEFT_BASE_ARRAY_H

#include <stddef.h>

/* The next capacity for `need` elements: 1.5 times `capacity` (twice would waste a third of the
 * memory of a large trace), at least `need`, and at least 16. */
size_t weft__array_next_capacity(size_t capacity, size_t need);

/* Makes *array hold `capacity` elements of `element_bytes` each, keeping its contents. 0, or
 * WEFT_ERROR_MEMORY with *array unchanged. */
int weft__array_resize(void *array, size_t capacity, size_t element_bytes);

/* One column of a table: the address of its pointer, and the size of an element. */
struct weft__column {
	void *array;
	size_t element_bytes;
};

/* Makes room for `need` rows in every column of a table whose columns share one capacity. Rows are
 * numbered by uint32_t with UINT32_MAX left free: WEFT_ERROR_LIMIT past that. */
int weft__columns_reserve(
	const struct weft__column *columns, size_t count, size_t *capacity, size_t need);

/* Frees the unused capacity. If that fails, the columns simply keep it. */
void weft__columns_trim(
	const struct weft__column *columns, size_t count, size_t *capacity, size_t rows);

#endif
