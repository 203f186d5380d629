/* SPDX-License-Identifier: ISC
 *
 * An index of event positions with repaired times, for formats whose clock may be wrong. It is
 * built only for traces whose clock stepped back or that have an impossible time, so other traces
 * do not pay for it.
 */
#ifndef WEFT_FORMAT_ORDER_H
#define WEFT_FORMAT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/diagnostic.h>

#include "model/span.h"

struct weft__position {
	uint64_t time_ns;
	uint64_t offset; /* of the event in the input */
};

struct weft__order {
	struct weft__position *list;
	size_t count;
	size_t capacity;
};

int weft__format_order_add(struct weft__order *order, struct weft__position position);

/* Sorts by time; equal times keep the order in which they were added. */
int weft__format_order_sort(struct weft__order *order);

/* Times from this one on are negative: ns before the clock's zero, in two's complement. No trace
 * reaches it from below, see WEFT__FIRST_NS_MAX. */
#define WEFT__NEGATIVE_NS (UINT64_MAX - WEFT__SPAN_NS + 1)

/* The clock of one writer. Its events stay in the order in which they were written, also where the
 * clock goes back. */
struct weft__writer_clock {
	uint64_t last_ns, shift_ns; /* the latest repaired time; what is added to times from now on */
	bool any;
};

/* Repairs the next time of a writer. If it is before the last one, it becomes that; later times are
 * shifted by as much, unless `is_brief`: the clock is known to catch up with the next event. Each
 * step is reported as a diagnostic. If the first time is negative, it becomes 0. */
void weft__format_writer_clock_next(struct weft__writer_clock *clock,
	struct weft__position *position, bool is_brief, struct weft_diagnostics *diagnostics);

/* Repairs the times of positions that one writer made in this order. A time that is more than a
 * second away from those of the positions before and after it, which agree, is a stray and becomes
 * the time before it. If strays are frequent, the trace must have been written like that, and they
 * are kept. Then times that go back are repaired. After that, the trace is the period of
 * WEFT__SPAN_NS that has most positions: times outside become its first or last one. Each changed
 * time is reported as a diagnostic. */
void weft__format_order_settle(struct weft__order *order, struct weft_diagnostics *diagnostics);

/* Finds the period of WEFT__SPAN_NS that has most positions, the earliest if there are several. The
 * list is sorted and not empty. */
void weft__format_order_find_span(
	const struct weft__order *order, size_t *ret_first, size_t *ret_last);

void weft__format_order_finish(struct weft__order *order);

#endif
