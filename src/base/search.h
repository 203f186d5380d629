/* SPDX-License-Identifier: ISC
 *
 * Binary search in sorted columns.
 *
 *     keys            10  20  20  30
 *     lower bound 20       ^              the first row whose key is not less
 *     upper bound 20               ^      the first row whose key is greater
 *
 * Each returns the number of rows if there is no such row. They are inlined, so that a comparison
 * costs no call.
 */
#ifndef WEFT_BASE_SEARCH_H
#define WEFT_BASE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

/* The first row from `first` on for which `is_before` is false; it must be true for all rows before
 * that one, and false from there on. `end` if it is true for all. */
__attribute__((always_inline)) static inline uint32_t weft__search(const void *context,
	uint32_t first, uint32_t end,
	bool (*is_before)(const void *context, uint32_t row, uint64_t key), uint64_t key)
{
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		if (is_before(context, middle, key))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* The same, with steps that double from `first` on before they halve: for results that are near. */
__attribute__((always_inline)) static inline uint32_t weft__gallop(const void *context,
	uint32_t first, uint32_t end,
	bool (*is_before)(const void *context, uint32_t row, uint64_t key), uint64_t key)
{
	uint32_t at = first, step = 1;
	while (at < end && is_before(context, at, key)) {
		first = at + 1;
		at = end - at > step ? at + step : end;
		step *= 2;
	}
	return weft__search(context, first, at, is_before, key);
}

/* The same without branches on data, so that several searches overlap while they wait for memory.
 */
__attribute__((always_inline)) static inline uint32_t weft__search_flat(const void *context,
	uint32_t first, uint32_t end,
	bool (*is_before)(const void *context, uint32_t row, uint64_t key), uint64_t key)
{
	for (uint32_t count = end - first; count > 0;) {
		uint32_t half = (count + 1) / 2;
		first += is_before(context, first + half - 1, key) ? half : 0;
		count -= half;
	}
	return first;
}

/* For searches in a part of a column. */
static inline bool weft__is_less_u64(const void *keys, uint32_t row, uint64_t key)
{
	return ((const uint64_t *)keys)[row] < key;
}

static inline bool weft__is_not_more_u64(const void *keys, uint32_t row, uint64_t key)
{
	return ((const uint64_t *)keys)[row] <= key;
}

static inline bool weft__is_less_u32(const void *keys, uint32_t row, uint64_t key)
{
	return ((const uint32_t *)keys)[row] < key;
}

static inline bool weft__is_not_more_u32(const void *keys, uint32_t row, uint64_t key)
{
	return ((const uint32_t *)keys)[row] <= key;
}

static inline uint32_t weft__lower_bound_u64(const uint64_t *keys, uint32_t count, uint64_t key)
{
	return weft__search(keys, 0, count, weft__is_less_u64, key);
}

static inline uint32_t weft__upper_bound_u64(const uint64_t *keys, uint32_t count, uint64_t key)
{
	return weft__search(keys, 0, count, weft__is_not_more_u64, key);
}

static inline uint32_t weft__lower_bound_u32(const uint32_t *keys, uint32_t count, uint32_t key)
{
	return weft__search(keys, 0, count, weft__is_less_u32, key);
}

/* True if `keys` contains the key. */
static inline bool weft__contains_u32(const uint32_t *keys, uint32_t count, uint32_t key)
{
	uint32_t row = weft__lower_bound_u32(keys, count, key);
	return row < count && keys[row] == key;
}

#endif
