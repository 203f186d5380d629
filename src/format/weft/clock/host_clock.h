/* SPDX-License-Identifier: ISC
 *
 * The clocks of a host of Xen. Its dom0 compared them at some times (struct weft_abi_comparison);
 * between two of these, each has a constant rate against CLOCK_MONOTONIC. So traces with different
 * clocks, of guests, of dom0 and of Xen itself, get times of one axis.
 */
#ifndef WEFT_FORMAT_WEFT_HOST_CLOCK_H
#define WEFT_FORMAT_WEFT_HOST_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/buffer_abi.h"
#include "format/weft/clock/ticks.h"

/* Comparisons that are used; more are thinned out. */
#define WEFT__HOST_COMPARISONS_MAX 64u

struct weft__host_clock {
	uint32_t count;    /* of the comparisons that are used; 0: the clocks are unknown */
	bool has_counter;  /* `counter` is known, too */
	uint64_t error_ns; /* of a time by one clock against those by another */
	int64_t offset_ns; /* from Xen's time to CLOCK_MONOTONIC, at the first comparison */
	/* The rates from one comparison to the next; the first element leads to the others. */
	struct weft__ticks xen[WEFT__HOST_COMPARISONS_MAX + 1];
	struct weft__ticks counter[WEFT__HOST_COMPARISONS_MAX + 1];
};

/* Makes the clocks of comparisons, which it sorts and of which it drops those that contradict. The
 * clock must not be moved: its parts point to each other. */
void weft__format_host_clock_init(
	struct weft__host_clock *clock, struct weft_abi_comparison *comparisons, size_t count);

/* Makes the clock of a guest whose ticks plus `offset_ns` are Xen's time, without the counter. Both
 * may be the same. */
void weft__format_host_clock_shift(
	struct weft__host_clock *to, const struct weft__host_clock *from, int64_t offset_ns);

/* True if a counter that showed these ticks at that time of CLOCK_MONOTONIC can be the host's. */
bool weft__format_host_clock_agrees(
	const struct weft__host_clock *clock, uint64_t ticks, uint64_t ns);

#endif
