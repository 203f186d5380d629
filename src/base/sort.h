/* SPDX-License-Identifier: ISC
 *
 * Radix sorts of plain numbers: faster than qsort, and in linear time for any input.
 */
#ifndef WEFT_BASE_SORT_H
#define WEFT_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts in ascending order, with one pass for each digit that differs between values. `scratch` has
 * room for `count` values. */
void weft__sort_u64(uint64_t *values, uint64_t *scratch, size_t count);

/* Sorts only by the bits from `low_bit` on (64: by none). The sort is stable, so values in which
 * these bits are equal keep their order. */
void weft__sort_u64_by(uint64_t *values, uint64_t *scratch, size_t count, unsigned low_bit);

struct weft__pairs {
	uint32_t *keys;
	uint16_t *values;
};

/* Sorts pairs by the bits of their keys from `low_bit` on; stable too. */
void weft__sort_pairs(
	struct weft__pairs pairs, struct weft__pairs scratch, size_t count, unsigned low_bit);

/* Fills `order` with 0 … count - 1 in ascending order of keys[i]; equal keys stay in the order of
 * i. `scratch` has room for `count` numbers. */
void weft__order_by_u64(const uint64_t *keys, uint32_t *order, uint32_t *scratch, uint32_t count);

/* Removes duplicates from a sorted array and returns the new count. */
size_t weft__unique_u64(uint64_t *values, size_t count);

#endif
