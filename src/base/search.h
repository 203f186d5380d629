/* SPDX-License-Identifier: ISC
 *
 * Binary search in sorted keys. A key may be a member of a struct: `keys` is the address of the
 * first one, and `stride` the distance to the next. The functions are inline, so that a constant
 * stride costs nothing.
 *
 *     keys            10  20  20  30
 *     lower bound 20       ^              the first key that is not less
 *     upper bound 20               ^      the first key that is greater
 */
#ifndef WEFT_BASE_SEARCH_H
#define WEFT_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first index in [first, end) for which `is_before` is false; it must be true up to there and
 * false from there on. `end` if it is true for all. */
static inline size_t weft__search(size_t first, size_t end,
	bool (*is_before)(const void *context, size_t index), const void *context)
{
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (is_before(context, middle))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static inline uint64_t weft__search_key_u64(const void *keys, size_t stride, size_t index)
{
	return *(const uint64_t *)(const void *)((const char *)keys + index * stride);
}

static inline uint32_t weft__search_key_u32(const void *keys, size_t stride, size_t index)
{
	return *(const uint32_t *)(const void *)((const char *)keys + index * stride);
}

static inline size_t weft__lower_bound_u64(
	const uint64_t *keys, size_t stride, size_t first, size_t end, uint64_t key)
{
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (weft__search_key_u64(keys, stride, middle) < key)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static inline size_t weft__upper_bound_u64(
	const uint64_t *keys, size_t stride, size_t first, size_t end, uint64_t key)
{
	return key == UINT64_MAX ? end : weft__lower_bound_u64(keys, stride, first, end, key + 1);
}

static inline size_t weft__lower_bound_u32(
	const uint32_t *keys, size_t stride, size_t first, size_t end, uint32_t key)
{
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (weft__search_key_u32(keys, stride, middle) < key)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static inline size_t weft__upper_bound_u32(
	const uint32_t *keys, size_t stride, size_t first, size_t end, uint32_t key)
{
	return key == UINT32_MAX ? end : weft__lower_bound_u32(keys, stride, first, end, key + 1);
}

#endif
