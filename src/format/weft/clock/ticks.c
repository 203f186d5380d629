/* SPDX-License-Identifier: ISC
 *
 * Ticks to nanoseconds by one multiplication and a shift. The multiplier keeps 64 significant bits,
 * so that a day at 3 GHz is converted to less than a nanosecond; integers only, so that every
 * machine, WebAssembly included, gives the same result.
 */
#include "format/weft/clock/ticks.h"

#include <stddef.h>

struct wide {
	uint64_t high, low;
};

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 product;

static struct wide multiply(uint64_t a, uint64_t b)
{
	product ab = (product)a * b;
	return (struct wide){(uint64_t)(ab >> 64), (uint64_t)ab};
}
#else
static struct wide multiply(uint64_t a, uint64_t b)
{
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
	uint64_t low_middle = a0 * b1 + (uint32_t)middle;
	return (struct wide){a1 * b1 + (middle >> 32) + (low_middle >> 32), a * b};
}
#endif

/* x >> shift, saturating. */
static uint64_t narrow(struct wide x, unsigned shift)
{
	if (shift >= 64)
		return shift >= 128 ? 0 : x.high >> (shift - 64);
	if (x.high >> shift)
		return UINT64_MAX;
	return shift == 0 ? x.low : x.high << (64 - shift) | x.low >> shift;
}

/* Long division: makes a quotient of 64 significant bits, and the number of bits by which it is
 * shifted. */
void weft__format_ticks_init(
	struct weft__ticks *clock, uint64_t base_ticks, uint64_t base_ns, uint64_t ticks, uint64_t ns)
{
	uint64_t quotient = ns / ticks, rest = ns % ticks;
	unsigned shift = 0;
	while (!(quotient >> 63) && shift < 127) {
		bool carry = rest >> 63;
		rest <<= 1;
		quotient <<= 1;
		if (carry || rest >= ticks) {
			rest -= ticks;
			quotient |= 1;
		}
		shift++;
	}
	*clock = (struct weft__ticks){base_ticks, base_ns, quotient, shift, UINT64_MAX, NULL};
}

uint64_t weft__format_ticks_to_ns(const struct weft__ticks *clock, uint64_t ticks)
{
	while (ticks > clock->last_ticks && clock->next)
		clock = clock->next;
	if (ticks < clock->base_ticks) {
		uint64_t before =
			narrow(multiply(clock->base_ticks - ticks, clock->multiplier), clock->shift);
		return before > clock->base_ns ? 0 : clock->base_ns - before;
	}
	uint64_t after = narrow(multiply(ticks - clock->base_ticks, clock->multiplier), clock->shift);
	return after > UINT64_MAX - clock->base_ns ? UINT64_MAX : clock->base_ns + after;
}

uint64_t weft__format_ticks_at(const struct weft__ticks *clock, uint64_t ns)
{
	uint64_t low = 0, high = UINT64_MAX;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (weft__format_ticks_to_ns(clock, middle) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t weft__format_ticks_hz(const struct weft__ticks *clock)
{
	const uint64_t ticks = UINT64_C(1) << 40;
	uint64_t ns = weft__format_ticks_to_ns(clock, clock->base_ticks + ticks) - clock->base_ns;
	struct weft__ticks hertz; /* the inverse division */
	if (ns == 0)
		return UINT64_MAX;
	weft__format_ticks_init(&hertz, 0, 0, ns, ticks);
	return weft__format_ticks_to_ns(&hertz, 1000000000);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

bool weft__format_ticks_agree(
	const struct weft__ticks *clock, uint64_t ticks, uint64_t ns, unsigned part)
{
	const uint64_t jitter_ns = 1000000;
	uint64_t expected = weft__format_ticks_to_ns(clock, ticks);
	return distance(expected, ns) <= jitter_ns + distance(clock->base_ns, expected) / part;
}
