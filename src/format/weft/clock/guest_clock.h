/* SPDX-License-Identifier: ISC
 *
 * The clock of a Linux guest of Xen that may not ask for Xen's time. Its CLOCK_MONOTONIC is Xen's
 * system time minus a constant. Its recorder reads the processor's counter together with it, dom0
 * reads the same counter together with Xen's time, so the constant can be computed.
 */
#ifndef WEFT_FORMAT_WEFT_GUEST_CLOCK_H
#define WEFT_FORMAT_WEFT_GUEST_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/buffer_abi.h"

/* One instant, read from both clocks in the guest. */
struct weft__guest_reading {
	uint64_t monotonic_ns, counter;
};

struct weft__guest_clock {
	int64_t offset_ns; /* from the guest's CLOCK_MONOTONIC to Xen's time; 0: unknown */
	uint64_t error_ns;
};

/* Computes the constant of readings, which it changes, and of dom0's comparisons, in order of time.
 * It is unknown if one of the two has no rate, or if there are none. */
struct weft__guest_clock weft__format_guest_clock_find(struct weft__guest_reading *readings,
	size_t count, const struct weft_abi_comparison *comparisons, size_t comparison_count);

#endif
