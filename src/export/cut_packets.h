/* SPDX-License-Identifier: ISC
 *
 * Events into packets, so that a reader gives them back in the order in which they came.
 */
#ifndef WEFT_EXPORT_CUT_PACKETS_H
#define WEFT_EXPORT_CUT_PACKETS_H

#include <stdbool.h>

#include "export/cut_names.h"

/* Long enough that headers cost a hundredth, short enough for many threads. */
#define WEFT__CUT_PACKET_BYTES 16384

/* Two records and an event. */
#define WEFT__CUT_WORDS_MAX 260

/* An event as it will lie in a packet, but for its stamp. */
struct weft__cut_words {
	uint64_t list[WEFT__CUT_WORDS_MAX];
	unsigned count;
	unsigned head; /* index of the event's own first word: records come before it */
};

struct weft__cut_thread {
	uint64_t task;   /* current, as a reader sees it after the last event */
	uint64_t events; /* in packets that are closed */
	uint64_t in_packet;
	uint64_t task_before; /* of the packet */
	uint64_t sequence;    /* of the open packet; 0: none is */
	uint64_t opened_ns, base_ns;
	uint8_t *bytes; /* of its events */
	uint32_t size, capacity;
	bool was_seen;
};

struct weft__cut_packets {
	struct weft__chunks *chunks;
	struct weft__cut_names *names;
	const struct weft_trace_description *trace; /* for what packets say of their threads */
	struct weft__cut_thread *threads;
	uint32_t thread_count;
	size_t thread_capacity;
	uint64_t sequence; /* the last that was given to a packet */
	/* Of the last event. */
	uint64_t last_ns, last_sequence;
};

void weft__cut_packets_init(
	struct weft__cut_packets *packets, struct weft__chunks *chunks, struct weft__cut_names *names);
void weft__cut_packets_finish(struct weft__cut_packets *packets);

/* The thread of that index; it stays in place until the next call. */
int weft__cut_packets_thread(
	struct weft__cut_packets *packets, uint32_t index, struct weft__cut_thread **ret_thread);

/* The next event of a thread that there is; the caller sets the thread's task afterwards. */
int weft__cut_packets_add(struct weft__cut_packets *packets, uint32_t index, uint64_t time_ns,
	const struct weft__cut_words *words);

/* Writes the open packet of a thread, if there is one; or of all. */
int weft__cut_packets_flush(struct weft__cut_packets *packets, uint32_t index);
int weft__cut_packets_flush_all(struct weft__cut_packets *packets);

/* A packet without events, for a thread that has no other: so that the thread is known. */
int weft__cut_packets_declare(struct weft__cut_packets *packets, uint32_t index, uint64_t time_ns);

/* What comes now is before everything else: for a rundown, after flush_all. */
void weft__cut_packets_rewind(struct weft__cut_packets *packets);

#endif
