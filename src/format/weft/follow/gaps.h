/* SPDX-License-Identifier: ISC
 *
 * Finds the gaps of a trace: between which packets of a thread events are missing, and so when, how
 * many, and why.
 */
#ifndef WEFT_FORMAT_WEFT_GAPS_H
#define WEFT_FORMAT_WEFT_GAPS_H

#include "format/format.h"
#include "format/weft/threads.h"

struct weft__gaps {
	struct weft_loss_period *list;
	uint32_t count;
	size_t capacity;
	struct weft__gap_thread {
		uint64_t lost;      /* events lost so far, not counting overwritten ones */
		uint64_t opened_ns; /* when its last packet was opened */
		uint64_t last_ns;   /* time of its last event */
	} * threads;
	size_t thread_capacity;
	uint64_t unplaced;    /* overwritten events that are in no gap yet; of a stream: stalled ones */
	uint64_t overwritten; /* of a stream: events that its writer found overwritten, in no gap yet */
	bool is_stream;
	bool is_listed;   /* the stream has a list of its losses */
	bool is_later;    /* another file of the stream has what the threads did before */
	uint64_t packets; /* that were found to be missing */
};

/* A packet that is about to be read. */
struct weft__gap_packet {
	uint32_t thread;
	uint64_t known;  /* events of the thread that were read before it */
	uint64_t number; /* events of the thread before it, as its header says */
	uint64_t lost;
	uint64_t opened_ns;
};

/* Call this once the description's losses are complete. `piece`: the number of a stream's file,
 * from 1; 0: unknown, or no stream. */
void weft__format_gaps_init(struct weft__gaps *gaps, bool is_stream, uint32_t piece,
	const struct weft_trace_description *description);
void weft__format_gaps_finish(struct weft__gaps *gaps);

/* Takes a stream's own list of losses, if it has one, instead of the counts in its packets. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_gaps_take_list(struct weft__gaps *gaps, const struct weft__buffer *buffer,
	const struct weft__threads *threads, struct weft_trace_description *description);

/* Adds the gaps before the packet to `description`. 0 or WEFT_ERROR_MEMORY. */
int weft__format_gaps_take_packet(struct weft__gaps *gaps, const struct weft__gap_packet *packet,
	struct weft_trace_description *description);

/* A packet of the thread was read to its end; its last event was at `ns`. */
int weft__format_gaps_end_packet(struct weft__gaps *gaps, uint32_t thread, uint64_t ns);

/* Packets of the thread were not read, which had lost so many events. */
int weft__format_gaps_skip(struct weft__gaps *gaps, uint32_t thread, uint64_t lost);

#endif
