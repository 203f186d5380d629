/* SPDX-License-Identifier: ISC
 *
 * Writes events into packets, one CTF stream for each thread.
 *
 * A stream collects a packet's events in memory until it is large enough, so that sizes and times
 * are known when its context is written, and nothing has to be patched. The memory of all streams
 * together is bounded, however many threads a trace claims to have.
 */
#include <weft/export.h>
#include <weft/unseen.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/name_abi.h"
#include "base/array.h"
#include "base/export.h"
#include "export/ctf.h"

#define PACKET_BYTES ((size_t)128 << 10) /* the event that exceeds this closes the packet */
#define HELD_BYTES   ((size_t)32 << 20)  /* limit for all streams together */

/* CTF readers compute in signed 64-bit ns, and babeltrace 2 takes the largest value for an
 * overflow. */
#define LAST_NS ((uint64_t)INT64_MAX - 1)

struct stream {
	struct weft__bytes body; /* the open packet's events */
	uint64_t begin_ns, end_ns;
	uint64_t packets;
	uint64_t discarded;
};

struct weft_export_ctf {
	struct weft_export_ctf_sink sink;
	struct weft_export_ctf_summary summary;
	struct stream *streams; /* by thread */
	size_t stream_count, stream_capacity;
	size_t held_bytes;          /* the capacity of all bodies */
	uint64_t last_ns;           /* the last event's time */
	uint64_t readable_ns;       /* the same as it is written */
	uint64_t discarded;         /* lost events of the whole trace that packets have reported */
	struct weft__strings kinds; /* names of kinds, numbered as in a model */
};

WEFT__EXPORT int weft_export_ctf_create(
	const struct weft_export_ctf_sink *sink, struct weft_export_ctf **ret_export)
{
	struct weft_export_ctf *ctf = calloc(1, sizeof(*ctf));
	if (!ctf)
		return WEFT_ERROR_MEMORY;
	if (weft__strings_init(&ctf->kinds)) {
		free(ctf);
		return WEFT_ERROR_MEMORY;
	}
	ctf->sink = *sink;
	*ret_export = ctf;
	return 0;
}

WEFT__EXPORT void weft_export_ctf_destroy(struct weft_export_ctf *ctf)
{
	if (!ctf)
		return;
	for (size_t i = 0; i < ctf->stream_count; i++)
		weft__bytes_finish(&ctf->streams[i].body);
	weft__strings_finish(&ctf->kinds);
	free(ctf->streams);
	free(ctf);
}

WEFT__EXPORT struct weft_export_ctf_summary weft_export_ctf_summarize(
	const struct weft_export_ctf *ctf)
{
	return ctf->summary;
}

static int append(struct weft_export_ctf *ctf, const char *name, const struct weft__bytes *bytes)
{
	if (bytes->failed)
		return WEFT_ERROR_MEMORY;
	ctf->summary.bytes += bytes->size;
	return bytes->size ? ctf->sink.append(ctf->sink.context, name, bytes->data, bytes->size) : 0;
}

/* The thread of a stream. */
static struct weft__ctf_packet describe_packet(
	uint32_t thread, const struct weft_trace_description *description)
{
	struct weft__ctf_packet packet = {.thread = thread, .process_name = {"", 0}, .thread_name = ""};
	if (thread < description->thread_count) {
		const struct weft_trace_thread *known = &description->threads[thread];
		const struct weft_trace_buffer *buffer =
			weft_trace_buffer_at(description->buffers, description->buffer_count, known->buffer);
		packet.pid = buffer->pid;
		packet.tid = known->tid;
		packet.process_name = weft_trace_process_name(buffer);
		packet.thread_name = known->name ? known->name : "";
	}
	return packet;
}

static int close_packet(
	struct weft_export_ctf *ctf, uint32_t thread, const struct weft_trace_description *description)
{
	struct stream *stream = &ctf->streams[thread];
	struct weft__ctf_packet packet = describe_packet(thread, description);
	struct weft__bytes head = {0};
	char name[32];

	packet.begin_ns = stream->begin_ns;
	packet.end_ns = stream->end_ns;
	packet.sequence = stream->packets;
	packet.discarded = stream->discarded;
	packet.body_bytes = stream->body.size;
	weft__export_ctf_put_packet(&head, &packet);
	snprintf(name, sizeof(name), "thread_%u", (unsigned)thread);
	int error = append(ctf, name, &head);
	if (!error)
		error = append(ctf, name, &stream->body);
	weft__bytes_finish(&head);
	stream->body.size = 0;
	stream->begin_ns = stream->end_ns;
	stream->packets++;
	ctf->summary.packets++;
	return error;
}

static int close_all(struct weft_export_ctf *ctf, const struct weft_trace_description *description)
{
	for (size_t i = 0; i < ctf->stream_count; i++) {
		struct stream *stream = &ctf->streams[i];
		int error = stream->body.size ? close_packet(ctf, (uint32_t)i, description) : 0;
		if (error)
			return error;
		weft__bytes_finish(&stream->body);
	}
	ctf->held_bytes = 0;
	return 0;
}

static int ensure_stream(struct weft_export_ctf *ctf, uint32_t thread)
{
	size_t need = (size_t)thread + 1;
	if (need > ctf->stream_capacity) {
		size_t capacity = weft__array_next_capacity(ctf->stream_capacity, need);
		int error = weft__array_resize(&ctf->streams, capacity, sizeof(*ctf->streams));
		if (error)
			return error;
		ctf->stream_capacity = capacity;
	}
	while (ctf->stream_count < need)
		ctf->streams[ctf->stream_count++] = (struct stream){0};
	return 0;
}

/* Counts losses that are events; names and metrics that found no room are not. */
static uint64_t count_discarded(const struct weft_trace_description *description)
{
	uint64_t sum = 0;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (cause != WEFT_LOSS_NAMES_FULL && cause != WEFT_LOSS_METRICS_FULL)
			sum += description->losses[cause];
	return sum;
}

/* Reports lost events in the first stream, because traces need not say when and in which thread
 * they were lost. Readers compare a packet's count with the one before, so an empty packet with
 * count 0 goes first. */
static int put_discarded(
	struct weft_export_ctf *ctf, const struct weft_trace_description *description)
{
	uint64_t sum = count_discarded(description);
	if (sum <= ctf->discarded)
		return 0;
	int error = ensure_stream(ctf, 0);
	if (error)
		return error;
	struct stream *stream = &ctf->streams[0];
	if (stream->body.size || !stream->packets) {
		if (!stream->body.size)
			stream->begin_ns = stream->end_ns = ctf->readable_ns;
		error = close_packet(ctf, 0, description);
	}
	stream->discarded += sum - ctf->discarded;
	ctf->discarded = sum;
	return error;
}

/* An event's time, limited to what CTF readers can handle with the clock's offset. */
static uint64_t readable_time(
	struct weft_export_ctf *ctf, uint64_t time_ns, const struct weft_trace_description *description)
{
	uint64_t last_ns = LAST_NS - weft__export_ctf_clock_offset_ns(&description->clock);
	if (time_ns <= last_ns)
		return time_ns;
	ctf->summary.late_times++;
	return last_ns;
}

static int put_event(struct weft_export_ctf *ctf, const struct weft_event *event,
	const struct weft_trace_description *description)
{
	struct stream *stream = &ctf->streams[event->thread];
	size_t capacity = stream->body.capacity;
	if (!stream->body.size)
		stream->begin_ns = ctf->readable_ns;
	stream->end_ns = ctf->readable_ns;
	weft__export_ctf_put_event(&stream->body, event, ctf->readable_ns);
	ctf->summary.events++;
	ctf->held_bytes += stream->body.capacity - capacity;
	if (stream->body.failed)
		return WEFT_ERROR_MEMORY;
	if (ctf->held_bytes > HELD_BYTES)
		return close_all(ctf, description);
	return stream->body.size > PACKET_BYTES ? close_packet(ctf, event->thread, description) : 0;
}

/* One name has different numbers in different programs, but only one in the metadata. */
static int put_numbered(struct weft_export_ctf *ctf, const struct weft_event *event,
	const struct weft_trace_description *description)
{
	struct weft_event numbered = *event;
	int error = weft__model_number_kind(&ctf->kinds, event, &numbered.kind);
	return error ? error : put_event(ctf, &numbered, description);
}

WEFT__EXPORT int weft_export_ctf_add(struct weft_export_ctf *ctf, const struct weft_event *event,
	const struct weft_trace_description *description)
{
	if (!weft_event_describe(event->type)->name || event->thread >= description->thread_count ||
		event->time_ns < ctf->last_ns)
		return WEFT_ERROR_ARGUMENT;
	ctf->last_ns = event->time_ns;
	ctf->readable_ns = readable_time(ctf, event->time_ns, description);
	int error = put_discarded(ctf, description);
	if (!error)
		error = ensure_stream(ctf, event->thread);
	if (error)
		return error;
	return event->kind > WEFT_ABI_KIND_NAMED ? put_numbered(ctf, event, description)
											 : put_event(ctf, event, description);
}

/* Reports losses that became known after the last event in an empty packet. */
static int put_last_discarded(
	struct weft_export_ctf *ctf, const struct weft_trace_description *description)
{
	uint64_t before = ctf->discarded;
	int error = put_discarded(ctf, description);
	if (!error && ctf->discarded != before)
		error = close_packet(ctf, 0, description);
	return error;
}

WEFT__EXPORT int weft_export_ctf_finish(
	struct weft_export_ctf *ctf, const struct weft_trace_description *description)
{
	struct weft__bytes metadata = {0};
	int error = close_all(ctf, description);
	if (!error)
		error = put_last_discarded(ctf, description);
	weft__export_ctf_put_metadata(&metadata, description, &ctf->kinds);
	if (!error)
		error = append(ctf, "metadata", &metadata);
	weft__bytes_finish(&metadata);
	return error;
}
