/* SPDX-License-Identifier: ISC
 *
 * The conversion of a clock's ticks to nanoseconds.
 */
#ifndef WEFT_FORMAT_WEFT_TICKS_H
#define WEFT_FORMAT_WEFT_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* ns = base_ns + (ticks - base_ticks) * multiplier / 2^shift */
struct weft__ticks {
	uint64_t base_ticks;
	uint64_t base_ns;
	uint64_t multiplier;
	unsigned shift;
	uint64_t last_ticks;            /* up to which this rate applies, if there is a next one */
	const struct weft__ticks *next; /* of later ticks; NULL: none */
};

/* A clock that advances by `ns` in `ticks` from the base on; neither is 0. */
void weft__format_ticks_init(
	struct weft__ticks *clock, uint64_t base_ticks, uint64_t base_ns, uint64_t ticks, uint64_t ns);
/* Exact to less than 1 ns, monotone, saturating at both ends. */
uint64_t weft__format_ticks_to_ns(const struct weft__ticks *clock, uint64_t ticks);
/* The first ticks whose time is not before `ns`. */
uint64_t weft__format_ticks_at(const struct weft__ticks *clock, uint64_t ns);
/* The clock's rate in ticks in a second, rounded down. */
uint64_t weft__format_ticks_hz(const struct weft__ticks *clock);
/* True if the clock gives the time `ns` for the ticks, within a millisecond and a `part`th of the
 * time since its base. */
bool weft__format_ticks_agree(
	const struct weft__ticks *clock, uint64_t ticks, uint64_t ns, unsigned part);

#endif
