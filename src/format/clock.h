/* SPDX-License-Identifier: ISC
 *
 * Guesses the clock of a trace whose format does not name it.
 */
#ifndef WEFT_FORMAT_CLOCK_H
#define WEFT_FORMAT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/trace.h>

/* mirage-profile used the wall clock on Unix and Xen's monotonic clock in unikernels, and the first
 * viewer's logs have either. No host has been up since 2001, so a time after that year counts from
 * 1970; the epoch of an earlier time is unknown. */
static inline void weft__format_clock_guess(uint64_t first_ns, struct weft_clock *ret_clock)
{
	const uint64_t year_2001_ns = 1000000000000000000, year_2106_ns = 4294967296000000000;
	bool is_unix = first_ns >= year_2001_ns && first_ns < year_2106_ns;
	ret_clock->name = is_unix ? "unix" : "unknown";
	ret_clock->epoch = is_unix ? WEFT_EPOCH_UNIX : WEFT_EPOCH_UNKNOWN;
	ret_clock->hz = 1000000000;
	ret_clock->offset_ns = 0;
}

#endif
