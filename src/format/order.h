/* SPDX-License-Identifier: ISC
 *
 * Time order for formats that write events out of order now and then: positions of events, sorted
 * by time. Needed only for traces whose clock stepped back, so the common case costs nothing.
 */
#ifndef WEFT_FORMAT_ORDER_H
#define WEFT_FORMAT_ORDER_H

#include <stddef.h>
#include <stdint.h>

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

void weft__order_finish(struct weft__order *order);

#endif
