/* SPDX-License-Identifier: ISC
 *
 * A radix sort from the lowest byte up. Bytes that are the same in all values, which in the times
 * of one trace is most of them, cost one look and no pass.
 */
#include "base/sort.h"

#include <string.h>

#define DIGITS 8

/* How often each digit has each value, for all digits in one look at the values. */
static void count_all_digits(const uint64_t *values, size_t count, const unsigned shifts[DIGITS],
	unsigned digits, size_t counts[DIGITS][256])
{
	memset(counts, 0, digits * sizeof(counts[0]));
	for (size_t i = 0; i < count; i++)
		for (unsigned digit = 0; digit < digits; digit++)
			counts[digit][values[i] >> shifts[digit] & 255]++;
}

static void count_digits(const uint64_t *values, size_t count, unsigned shift, size_t counts[256])
{
	memset(counts, 0, 256 * sizeof(*counts));
	for (size_t i = 0; i < count; i++)
		counts[values[i] >> shift & 255]++;
}

static void scatter(
	const uint64_t *from, uint64_t *to, size_t count, unsigned shift, const size_t counts[256])
{
	size_t position[256], sum = 0;
	for (unsigned digit = 0; digit < 256; digit++) {
		position[digit] = sum;
		sum += counts[digit];
	}
	for (size_t i = 0; i < count; i++)
		to[position[from[i] >> shift & 255]++] = from[i];
}

void weft__sort_u64(uint64_t *values, uint64_t *scratch, size_t count)
{
	weft__sort_u64_by(values, scratch, count, 0);
}

void weft__sort_u64_by(uint64_t *values, uint64_t *scratch, size_t count, unsigned low_bit)
{
	uint64_t *from = values, *to = scratch, differing = 0;
	size_t counts[DIGITS][256];
	unsigned shifts[DIGITS], digits = 0;
	for (size_t i = 1; i < count; i++)
		differing |= values[i] ^ values[0];
	for (unsigned shift = low_bit; shift < 64; shift += 8)
		if (differing >> shift & 255)
			shifts[digits++] = shift;
	count_all_digits(values, count, shifts, digits, counts);
	for (unsigned digit = 0; digit < digits; digit++) {
		scatter(from, to, count, shifts[digit], counts[digit]);
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != values && count)
		memcpy(values, from, count * sizeof(*values));
}

static void scatter_order(const uint64_t *keys, const uint32_t *from, uint32_t *to, size_t count,
	unsigned shift, const size_t counts[256])
{
	size_t position[256], sum = 0;
	for (unsigned digit = 0; digit < 256; digit++) {
		position[digit] = sum;
		sum += counts[digit];
	}
	for (size_t i = 0; i < count; i++)
		to[position[keys[from[i]] >> shift & 255]++] = from[i];
}

void weft__order_by_u64(const uint64_t *keys, uint32_t *order, uint32_t *scratch, uint32_t count)
{
	uint32_t *from = order, *to = scratch;
	uint64_t differing = 0;
	for (uint32_t i = 0; i < count; i++) {
		order[i] = i;
		differing |= keys[i] ^ keys[0];
	}
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t counts[256];
		if ((differing >> shift & 255) == 0)
			continue;
		count_digits(keys, count, shift, counts);
		scatter_order(keys, from, to, count, shift, counts);
		uint32_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != order)
		memcpy(order, from, count * sizeof(*order));
}

size_t weft__unique_u64(uint64_t *values, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || values[kept - 1] != values[i])
			values[kept++] = values[i];
	return kept;
}

size_t weft__lower_bound_u64(const uint64_t *values, size_t count, uint64_t value)
{
	size_t low = 0;
	while (count > 0) {
		size_t half = count / 2;
		if (values[low + half] < value) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low;
}
