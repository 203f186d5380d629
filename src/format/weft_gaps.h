/* SPDX-License-Identifier: ISC
 *
 * Where events are missing: between which packets of a thread, so when, how many, and why.
 */
#ifndef WEFT_FORMAT_WEFT_GAPS_H
#define WEFT_FORMAT_WEFT_GAPS_H

#include "format/format.h"
#include "format/weft_threads.h"

struct weft__gaps {
	struct weft_loss_period *list;
	uint32_t count;
	size_t capacity;
	struct weft__gap_thread {
		uint64_t lost;      /* so far, without overwritten events */
		uint64_t opened_ns; /* its last packet */
		uint64_t last_ns;   /* its last event */
	} * threads;
	size_t thread_capacity;
	uint64_t unplaced; /* overwritten events whose place is not known yet */
	bool is_stream;
};

/* A packet whose events come next. */
struct weft__gap_packet {
	uint32_t thread;
	uint64_t known;  /* events of the thread that came before */
	uint64_t number; /* how many it says there were */
	uint64_t lost;
	uint64_t opened_ns;
};

/* When the description's losses are complete. */
void weft__gaps_init(
	struct weft__gaps *gaps, bool is_stream, const struct weft_trace_description *description);
void weft__gaps_finish(struct weft__gaps *gaps);

/* What a stream tells of losses itself, in place of what its packets do. 0 or WEFT_ERROR_MEMORY. */
int weft__gaps_take_told(struct weft__gaps *gaps, const struct weft__buffer *buffer,
	const struct weft__threads *threads, struct weft_trace_description *description);

/* Finds what is missing before it, and tells `description`. 0 or WEFT_ERROR_MEMORY. */
int weft__gaps_take_packet(struct weft__gaps *gaps, const struct weft__gap_packet *packet,
	struct weft_trace_description *description);

/* A packet is at its end; its last event was at `ns`. */
int weft__gaps_end_packet(struct weft__gaps *gaps, uint32_t thread, uint64_t ns);

#endif
