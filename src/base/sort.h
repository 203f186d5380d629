/* SPDX-License-Identifier: ISC
 *
 * Sorting of plain numbers, faster and with a firmer bound than qsort.
 */
#ifndef WEFT_BASE_SORT_H
#define WEFT_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts ascending in O(count) passes over the bytes that differ; `scratch` holds `count` more. */
void weft__sort_u64(uint64_t *values, uint64_t *scratch, size_t count);

/* Likewise by the bits from `low_bit` on (64: by none); where those are equal, what is below goes
 * along and the order stays. */
void weft__sort_u64_by(uint64_t *values, uint64_t *scratch, size_t count, unsigned low_bit);

struct weft__pairs {
	uint32_t *keys;
	uint16_t *values;
};

/* Likewise keys, by the bits from `low_bit` on, with the values that belong to them. */
void weft__sort_pairs(
	struct weft__pairs pairs, struct weft__pairs scratch, size_t count, unsigned low_bit);

/* Fills `order` with 0 … count - 1 in ascending order of keys[i]; equal keys keep theirs. `scratch`
 * holds `count` more. */
void weft__order_by_u64(const uint64_t *keys, uint32_t *order, uint32_t *scratch, uint32_t count);

/* Drops repetitions from a sorted array; the new count. */
size_t weft__unique_u64(uint64_t *values, size_t count);

#endif
