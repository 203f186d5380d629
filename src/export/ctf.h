/* SPDX-License-Identifier: ISC
 *
 * What the three parts of the CTF export share: events, packets, metadata.
 *
 *     packet = header │ context │ event …          all little-endian, byte-aligned, no padding
 *     event  = u8 type of events.def │ u64 time in ns │ fields in the order of events.def
 */
#ifndef WEFT_EXPORT_CTF_H
#define WEFT_EXPORT_CTF_H

#include <stdint.h>

#include <weft/event.h>
#include <weft/trace.h>

#include "base/bytes.h"

/* An event's bytes, at a time that may differ from its own (see ctf.c). */
void weft__ctf_put_event(
	struct weft__bytes *bytes, const struct weft_event *event, uint64_t time_ns);

/* Text as a CTF string. */
void weft__ctf_put_text(struct weft__bytes *bytes, struct weft_slice text);

/* `event { … };`, once or twice: how weft__ctf_put_event writes this type. */
void weft__ctf_declare_event(struct weft__bytes *metadata, unsigned type);

/* A stream's packet, without its events. */
struct weft__ctf_packet {
	uint64_t begin_ns, end_ns; /* of its first and last event */
	uint64_t sequence;         /* in the stream */
	uint64_t discarded;        /* events lost in the stream so far */
	uint32_t thread;
	uint64_t pid, tid;
	const char *process_name, *thread_name;
	size_t body_bytes;
};

/* Header and context of a packet whose events follow. */
void weft__ctf_put_packet(struct weft__bytes *bytes, const struct weft__ctf_packet *packet);

/* How weft__ctf_put_packet writes: the inside of packet.header and packet.context. */
extern const char weft__ctf_packet_header[], weft__ctf_packet_context[];

/* The whole file. */
void weft__ctf_put_metadata(
	struct weft__bytes *metadata, const struct weft_trace_description *description);

/* The clock's offset as CTF has it: an event's time plus this is ns since 1970 in every reader. */
uint64_t weft__ctf_clock_offset_ns(const struct weft_clock *clock);

#endif
