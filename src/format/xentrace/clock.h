/* SPDX-License-Identifier: ISC
 *
 * Cycles to nanoseconds. An xentrace file does not name the rate of its cycles: it is given, or
 * estimated. Xen writes at each switch for how many ns the vCPU ran, which is the time since the
 * switch before on that pCPU, and both have their cycles. Other traces of the same machine that are
 * opened with this one know better: they have readings of the counter.
 */
#ifndef WEFT_FORMAT_XENTRACE_CLOCK_H
#define WEFT_FORMAT_XENTRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "format/weft/clock/ticks.h"

struct weft__xentrace_clock {
	uint64_t first_cycles; /* time 0 */
	uint64_t rate;         /* cycles in 1024 ns; 0: `ticks` counts */
	struct weft__ticks ticks;
};

/* A time in cycles and in ns since the begin of its chain, which is the first sample with 0 ns. */
struct weft__xentrace_sample {
	double cycles, ns;
};

#define WEFT__XENTRACE_SAMPLES_MAX 4096

struct weft__xentrace_samples {
	struct weft__xentrace_sample list[WEFT__XENTRACE_SAMPLES_MAX];
	uint32_t count;
};

struct weft__xentrace_rate {
	uint64_t hz;   /* 0: unknown */
	double spread; /* of the rates that it was chosen from */
};

/* Estimates the rate from the samples of a pCPU, which it changes. `*rate` stays if it is better.
 */
void weft__format_xentrace_estimate(
	struct weft__xentrace_samples *samples, struct weft__xentrace_rate *rate);

/* xenalyze computes with a rate in cycles per 1024 ns, which is an integer. So do we, so that times
 * are equal to the nanosecond; they are up to 0.04 % too large. */
static inline void weft__format_xentrace_clock_set(
	struct weft__xentrace_clock *clock, uint64_t first_cycles, uint64_t hz)
{
	clock->first_cycles = first_cycles;
	clock->rate = (hz << 10) / 1000000000;
	if (!clock->rate)
		clock->rate = 1;
}

static inline uint64_t weft__format_xentrace_ns(
	const struct weft__xentrace_clock *clock, uint64_t cycles)
{
	if (!clock->rate)
		return weft__format_ticks_to_ns(&clock->ticks, cycles);
	uint64_t delta = cycles > clock->first_cycles ? cycles - clock->first_cycles : 0;
	if (delta < UINT64_C(1) << 54)
		return (delta << 10) / clock->rate;
	uint64_t units = delta / clock->rate, rest = delta % clock->rate;
	return units >> 54 ? UINT64_MAX : (units << 10) + (rest << 10) / clock->rate;
}

#endif
