/* SPDX-License-Identifier: ISC
 *
 * An index of event positions sorted by time, for formats that may have events out of order. It is
 * built only for traces whose clock stepped back or that have an impossible time, so other traces
 * do not pay for it.
 */
#ifndef WEFT_FORMAT_ORDER_H
#define WEFT_FORMAT_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include <weft/diagnostic.h>

struct weft__position {
	uint64_t time_ns;
	uint64_t offset; /* of the event in the input */
};

struct weft__order {
	struct weft__position *list;
	size_t count;
	size_t capacity;
};

int weft__order_add(struct weft__order *order, struct weft__position position);

/* Sorts by time; equal times keep the order in which they were added. */
int weft__order_sort(struct weft__order *order);

/* Repairs damaged times and sorts. A time that is more than a second away from those of the
 * positions added before and after it, which agree, is a stray and becomes the time before it. If
 * strays are frequent, the trace must have been written like that, and they are kept. After
 * sorting, the trace is the period of WEFT__SPAN_NS that has most positions: times outside become
 * its first or last one. Each changed time is reported as a diagnostic. */
int weft__order_settle(struct weft__order *order, struct weft_diagnostics *diagnostics);

/* Finds the period of WEFT__SPAN_NS that has most positions, the earliest if there are several. The
 * list is sorted and not empty. */
void weft__order_find_span(const struct weft__order *order, size_t *ret_first, size_t *ret_last);

void weft__order_finish(struct weft__order *order);

#endif
