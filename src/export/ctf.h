/* SPDX-License-Identifier: ISC
 *
 * Shared by the three parts of the CTF export: events, packets, metadata. */

/* clang-format off */
/*     packet = header │ context │ event …          all little-endian, byte-aligned, no padding
 *     event  = u8 type of events.def │ u64 time in ns │ fields in the order of events.def */
/* clang-format on */
#ifndef WEFT_EXPORT_CTF_H
#define WEFT_EXPORT_CTF_H

#include <stdint.h>

#include <weft/event.h>
#include <weft/trace.h>

#include "base/bytes.h"
#include "base/strings.h"
#include "model/state.h"

/* Appends an event's bytes, with a time that may differ from its own (see ctf.c). */
void weft__export_ctf_put_event(
	struct weft__bytes *bytes, const struct weft_event *event, uint64_t time_ns);

/* Appends `event { … };`, once or twice: the declaration of what weft__export_ctf_put_event writes
 * for this type. */
void weft__export_ctf_declare_event(struct weft__bytes *metadata, unsigned type);

/* A packet of a stream, without its events. */
struct weft__ctf_packet {
	uint64_t begin_ns, end_ns; /* of its first and last event */
	uint64_t sequence;         /* its number in the stream */
	uint64_t discarded;        /* events lost in the stream so far */
	uint32_t thread;
	uint64_t pid, tid;
	struct weft_slice process_name;
	const char *thread_name;
	size_t body_bytes;
};

/* Appends a packet's header and context; its events follow. */
void weft__export_ctf_put_packet(struct weft__bytes *bytes, const struct weft__ctf_packet *packet);

/* The declaration of what weft__export_ctf_put_packet writes: the members of packet.header and
 * packet.context. */
extern const char weft__ctf_packet_header[], weft__ctf_packet_context[];

/* Appends the whole metadata file. `kinds`: the names of kinds, numbered as in a model. */
void weft__export_ctf_put_metadata(struct weft__bytes *metadata,
	const struct weft_trace_description *description, const struct weft__strings *kinds);

/* The clock's offset in CTF: an event's time plus this is ns since 1970 in every reader. */
uint64_t weft__export_ctf_clock_offset_ns(const struct weft_clock *clock);

#endif
