/* SPDX-License-Identifier: ISC
 *
 * Time order for formats that write events out of order now and then: positions of events, sorted
 * by time. Needed only for traces whose clock stepped back, or that have an impossible time, so the
 * common case costs nothing.
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

/* By time; equal times keep the order in which they were added. */
int weft__order_sort(struct weft__order *order);

/* Mends damaged times, then sorts. A time that lies more than a second from those of the positions
 * added before and after it, which agree, becomes the one before; unless that happens so often that
 * it must be how the trace was written. Then the stretch of WEFT__SPAN_NS that has most positions
 * is the trace: times outside become its first or last one. Each such time is a diagnostic. */
int weft__order_settle(struct weft__order *order, struct weft_diagnostics *diagnostics);

/* Of a sorted list that has any: the stretch of WEFT__SPAN_NS with most positions, the earliest of
 * several. */
void weft__order_find_span(const struct weft__order *order, size_t *ret_first, size_t *ret_last);

void weft__order_finish(struct weft__order *order);

#endif
