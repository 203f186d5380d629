/* SPDX-License-Identifier: ISC
 *
 * Puts events into packets so that a reader returns them in the order in which they were added.
 */
#ifndef WEFT_EXPORT_CUT_PACKETS_H
#define WEFT_EXPORT_CUT_PACKETS_H

#include <stdbool.h>

#include "export/cut_names.h"

/* Large enough that headers take only a hundredth of it, small enough for many threads. */
#define WEFT__CUT_PACKET_BYTES 16384

/* Room for two records and an event. */
#define WEFT__CUT_WORDS_MAX 260

/* An encoded event, without its stamp. */
struct weft__cut_words {
	uint64_t list[WEFT__CUT_WORDS_MAX];
	unsigned count;
	unsigned head; /* index of the event's head: other records come before it */
};

struct weft__cut_thread {
	weft_task_id task; /* the current task after the last event, as a reader computes it */
	uint64_t events;   /* events in closed packets */
	uint64_t in_packet;
	uint64_t task_before; /* the current task at the packet's beginning */
	uint64_t sequence;    /* the open packet's; 0: no packet is open */
	uint64_t opened_ticks, base_ticks;
	uint8_t *bytes; /* the records */
	uint32_t size, capacity;
	bool was_seen;
};

struct weft__cut_packets {
	struct weft__chunks *chunks;
	struct weft__cut_names *names;
	const struct weft_trace_description *trace; /* for the threads' names and ids */
	struct weft__cut_thread *threads;
	uint32_t thread_count;
	size_t thread_capacity;
	uint64_t sequence; /* the last sequence that was used */
	/* The time of the last event, and its packet's sequence. */
	uint64_t last_ns, last_sequence;
};

void weft__export_cut_packets_init(
	struct weft__cut_packets *packets, struct weft__chunks *chunks, struct weft__cut_names *names);
void weft__export_cut_packets_finish(struct weft__cut_packets *packets);

/* Finds or adds the thread with this index; valid until the next call. */
int weft__export_cut_packets_thread(
	struct weft__cut_packets *packets, uint32_t index, struct weft__cut_thread **ret_thread);

/* A time, and the part's ticks from which a reader computes it. */
struct weft__cut_time {
	uint64_t ns, ticks;
};

/* Adds the next event of a thread. The caller updates the thread's task afterwards. */
int weft__export_cut_packets_add(struct weft__cut_packets *packets, uint32_t index,
	struct weft__cut_time time, const struct weft__cut_words *words);

/* Writes the open packet of one thread, or of all. */
int weft__export_cut_packets_flush(struct weft__cut_packets *packets, uint32_t index);
int weft__export_cut_packets_flush_all(struct weft__cut_packets *packets);

/* Writes a packet without events, so that readers know a thread that has no other packet. */
int weft__export_cut_packets_declare(
	struct weft__cut_packets *packets, uint32_t index, uint64_t ticks);

/* Makes readers put the following events before all others: for a rundown, after flush_all. */
void weft__export_cut_packets_rewind(struct weft__cut_packets *packets);

#endif
