/* SPDX-License-Identifier: ISC
 *
 * The times in which packets of a stream are missing or damaged. A packet's header counts packets,
 * not events, so it is unknown how many events a hole had.
 */
#ifndef WEFT_FORMAT_MIRAGE_HOLES_H
#define WEFT_FORMAT_MIRAGE_HOLES_H

#include <weft/trace.h>

struct weft__mirage_holes {
	struct weft_loss_period *list;
	uint32_t count;
	size_t capacity;
	uint64_t last_ns; /* time of the latest event, if there is any */
	uint64_t packets; /* missing or damaged since then */
	bool any;
};

/* Some packets after the latest event are missing, or damaged from there on. */
static inline void weft__format_mirage_holes_open(
	struct weft__mirage_holes *holes, uint64_t packets)
{
	holes->packets += packets;
}

/* Packets before the first one, which has an event at that time, were overwritten. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_mirage_holes_begin(struct weft__mirage_holes *holes, uint64_t first_ns,
	struct weft_trace_description *description);

/* The next event is at that time: adds the hole before it, if there is one, to the description. 0
 * or WEFT_ERROR_MEMORY. */
int weft__format_mirage_holes_close(struct weft__mirage_holes *holes, uint64_t first_ns,
	struct weft_trace_description *description);

/* Events up to that time have been read. */
static inline void weft__format_mirage_holes_pass(
	struct weft__mirage_holes *holes, uint64_t last_ns)
{
	holes->last_ns = last_ns;
	holes->any = true;
}

void weft__format_mirage_holes_finish(struct weft__mirage_holes *holes);

#endif
