/* SPDX-License-Identifier: ISC
 *
 * A radix sort from the lowest digit up. Digits that are equal in all values, which most digits of
 * a trace's times are, cost no pass.
 */
#include "base/sort.h"

#include <string.h>

/* Bits per digit: wide digits need fewer passes, which pays for large arrays. */
#define NARROW     8
#define WIDE       11
#define WIDE_COUNT (1 << 16)
#define DIGITS     8 /* narrow digits in 64 bits; there are 6 wide ones */

static unsigned digit_bits(size_t count)
{
	return count < WIDE_COUNT ? NARROW : WIDE;
}

struct digits {
	unsigned bits, count;
	unsigned shifts[DIGITS];
	size_t counts[DIGITS * 256 > 6 * 2048 ? DIGITS * 256 : 6 * 2048];
};

/* Finds the digits that differ, from `low_bit` on. */
static void find_digits(struct digits *d, uint64_t differing, unsigned low_bit)
{
	d->count = 0;
	for (unsigned shift = low_bit; shift < 64; shift += d->bits)
		if (differing >> shift & ((UINT64_C(1) << d->bits) - 1))
			d->shifts[d->count++] = shift;
	memset(d->counts, 0, ((size_t)d->count << d->bits) * sizeof(d->counts[0]));
}

static inline void count_value(struct digits *d, uint64_t value)
{
	for (unsigned digit = 0; digit < d->count; digit++)
		d->counts[((size_t)digit << d->bits) +
				  (value >> d->shifts[digit] & ((1u << d->bits) - 1))]++;
}

/* Computes the start index of each value of a digit. */
static size_t *find_offsets(struct digits *d, unsigned digit)
{
	size_t *offsets = d->counts + ((size_t)digit << d->bits), sum = 0;
	for (size_t value = 0; value < (size_t)1 << d->bits; value++) {
		size_t count = offsets[value];
		offsets[value] = sum;
		sum += count;
	}
	return offsets;
}

static void scatter(const uint64_t *from, uint64_t *to, size_t count, unsigned shift, unsigned bits,
	size_t *offsets)
{
	for (size_t i = 0; i < count; i++)
		to[offsets[from[i] >> shift & ((1u << bits) - 1)]++] = from[i];
}

void weft__sort_u64(uint64_t *values, uint64_t *scratch, size_t count)
{
	weft__sort_u64_by(values, scratch, count, 0);
}

void weft__sort_u64_by(uint64_t *values, uint64_t *scratch, size_t count, unsigned low_bit)
{
	uint64_t *from = values, *to = scratch, differing = 0;
	struct digits d;
	d.bits = digit_bits(count);
	for (size_t i = 1; i < count; i++)
		differing |= values[i] ^ values[0];
	find_digits(&d, differing, low_bit);
	for (size_t i = 0; i < count; i++)
		count_value(&d, values[i]);
	for (unsigned digit = 0; digit < d.count; digit++) {
		scatter(from, to, count, d.shifts[digit], d.bits, find_offsets(&d, digit));
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != values && count)
		memcpy(values, from, count * sizeof(*values));
}

static void scatter_pairs(const struct weft__pairs *from, const struct weft__pairs *to,
	size_t count, unsigned shift, unsigned bits, size_t *offsets)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t key = from->keys[i];
		size_t offset = offsets[key >> shift & ((1u << bits) - 1)]++;
		to->keys[offset] = key;
		to->values[offset] = from->values[i];
	}
}

void weft__sort_pairs(
	struct weft__pairs pairs, struct weft__pairs scratch, size_t count, unsigned low_bit)
{
	struct weft__pairs from = pairs, to = scratch;
	uint32_t differing = 0;
	struct digits d;
	d.bits = digit_bits(count);
	for (size_t i = 1; i < count; i++)
		differing |= pairs.keys[i] ^ pairs.keys[0];
	find_digits(&d, differing, low_bit);
	for (size_t i = 0; i < count; i++)
		count_value(&d, pairs.keys[i]);
	for (unsigned digit = 0; digit < d.count; digit++) {
		scatter_pairs(&from, &to, count, d.shifts[digit], d.bits, find_offsets(&d, digit));
		struct weft__pairs swap = from;
		from = to;
		to = swap;
	}
	if (from.keys == pairs.keys || !count)
		return;
	memcpy(pairs.keys, from.keys, count * sizeof(*pairs.keys));
	memcpy(pairs.values, from.values, count * sizeof(*pairs.values));
}

static void count_digits(const uint64_t *values, size_t count, unsigned shift, size_t counts[256])
{
	memset(counts, 0, 256 * sizeof(*counts));
	for (size_t i = 0; i < count; i++)
		counts[values[i] >> shift & 255]++;
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
