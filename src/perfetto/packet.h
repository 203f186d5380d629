/* SPDX-License-Identifier: ISC
 *
 * Packets: descriptions of tracks, and events on them. Readers sort packets by time, and keep those
 * with equal times in order.
 */
#ifndef WEFT_PERFETTO_PACKET_H
#define WEFT_PERFETTO_PACKET_H

#include <weft/perfetto.h>

#include "otlp/encoder.h"

enum weft__perfetto_field {
#define FIELD(id, number, type) WEFT__PERFETTO_##id,
#include "perfetto/fields.def"
#undef FIELD
	WEFT__PERFETTO_FIELDS
};

/* Perfetto's numbers. */
enum weft__perfetto_type {
	WEFT__PERFETTO_BEGIN = 1,
	WEFT__PERFETTO_END = 2,
	WEFT__PERFETTO_INSTANT = 3,
	WEFT__PERFETTO_COUNTER = 4,
};

/* The things that have tracks: each has an id that is unique in the trace. */
enum weft__perfetto_track {
	WEFT__PERFETTO_OF_BUFFER = 1,
	WEFT__PERFETTO_OF_THREAD,
	WEFT__PERFETTO_OF_TASK,
	WEFT__PERFETTO_OF_COUNTER,
	WEFT__PERFETTO_OF_BANDS,
};

struct weft__perfetto_writer {
	const struct weft_model *model;
	const struct weft_perfetto_sink *sink;
	struct weft__otlp_encoder encoder;
	int error;
};

uint64_t weft__perfetto_track(enum weft__perfetto_track of, uint32_t number);

/* Begin and end a packet that describes a track, or an event. At the end, a message in the packet
 * is still open. */
void weft__perfetto_begin_track(
	struct weft__perfetto_writer *writer, uint64_t track, uint64_t parent, struct weft_slice name);
void weft__perfetto_begin_event(struct weft__perfetto_writer *writer, uint64_t time_ns,
	enum weft__perfetto_type type, uint64_t track);
void weft__perfetto_end(struct weft__perfetto_writer *writer);

/* Begins any packet. */
void weft__perfetto_begin_packet(struct weft__perfetto_writer *writer);

/* Adds a note's attribute to an event. */
void weft__perfetto_annotate(struct weft__perfetto_writer *writer, const struct weft_field *field);

/* Hands out what is left. */
int weft__perfetto_flush(struct weft__perfetto_writer *writer);

#endif
