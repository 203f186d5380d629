/* SPDX-License-Identifier: ISC
 *
 * The straight lines that bounds of two clocks leave possible. A message is received after it is
 * sent, so each one bounds the offset between the clocks from one side. Lines are points of a plane
 * of offset and drift, a bound is a half of that plane, and what all bounds leave is a convex
 * polygon: the dual of the gap between two convex hulls.
 */
#ifndef WEFT_INPUT_CLOCK_FIT_H
#define WEFT_INPUT_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At that time, the offset is at least, or at most, that many ns. */
struct weft__clock_bound {
	int64_t at_ns;
	int64_t offset_ns;
	bool is_most;
};

/* Two clocks that are set by NTP run apart by no more than this: Linux changes the rate of each by
 * at most 0.05 %. */
#define WEFT__CLOCK_DRIFT_MAX 0.001

struct weft__clock_fit {
	int64_t at_ns;
	double offset_ns; /* at that time */
	double drift, drift_error;
	bool has_least, has_most; /* not both: the offset may be larger, or smaller, without limit */
	double error_ns;          /* if both: of the offset, in the whole time */
	double bend_ns;           /* by which the bounds contradict each other; part of the error */
};

/* The middle of all lines that satisfy the bounds, and how far others are from it between two
 * times. One-sided bounds leave the offset as it is if they allow that. WEFT_OK or
 * WEFT_ERROR_MEMORY. */
int weft__input_fit_clock(const struct weft__clock_bound *bounds, size_t count, int64_t from_ns,
	int64_t to_ns, struct weft__clock_fit *ret_fit);

#endif
