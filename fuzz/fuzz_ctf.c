/* SPDX-License-Identifier: ISC
 *
 * The input is a trace, which is exported to CTF: every event is in one packet, packets follow each
 * other without a gap, their clocks don't go back, and the metadata comes last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>
#include <weft/export.h>
#include <weft/text.h>

#include "base/little_endian.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

/* Threads whose packets are checked; of others, only the bytes are counted. */
#define STREAMS 16

struct directory {
	struct weft_text streams[STREAMS], metadata;
	uint64_t bytes;
};

static int append(void *context, const char *name, const void *bytes, size_t size)
{
	struct directory *d = context;
	unsigned thread;
	char end;
	require(d->metadata.size == 0 || strcmp(name, "metadata") == 0);
	d->bytes += size;
	if (strcmp(name, "metadata") == 0)
		weft_text_add(&d->metadata, bytes, size);
	else if (require(sscanf(name, "thread_%u%c", &thread, &end) == 1), thread < STREAMS)
		weft_text_add(&d->streams[thread], bytes, size);
	return 0;
}

/* See ctf_packet.c. */
enum {
	MAGIC_AT = 0,
	THREAD_AT = 8,
	BEGIN_AT = 16,
	END_AT = 24,
	CONTENT_AT = 32,
	SIZE_AT = 40,
	SEQUENCE_AT = 48,
	HEAD_BYTES = 80,
};

static void check_stream(const struct weft_text *stream, uint64_t thread)
{
	const uint8_t *bytes = (const uint8_t *)stream->bytes;
	uint64_t sequence = 0, last = 0, packet_bytes;
	for (size_t at = 0; at < stream->size; at += packet_bytes) {
		const uint8_t *packet = bytes + at;
		require(stream->size - at >= HEAD_BYTES);
		require(weft__load_u32(packet + MAGIC_AT) == 0xc1fc1fc1);
		require(weft__load_u64(packet + THREAD_AT) == thread);
		require(weft__load_u64(packet + BEGIN_AT) >= last);
		last = weft__load_u64(packet + END_AT);
		require(last >= weft__load_u64(packet + BEGIN_AT));
		require(weft__load_u64(packet + CONTENT_AT) == weft__load_u64(packet + SIZE_AT));
		require(weft__load_u64(packet + SEQUENCE_AT) == sequence++);
		packet_bytes = weft__load_u64(packet + SIZE_AT) / 8;
		require(packet_bytes >= HEAD_BYTES && packet_bytes <= stream->size - at);
	}
}

static void export_all(struct weft_decoder *decoder, struct directory *directory)
{
	const struct weft_export_ctf_sink sink = {append, directory};
	const struct weft_trace_description *trace = weft_decoder_describe(decoder);
	struct weft_export_ctf *ctf;
	struct weft_event event;
	uint64_t events = 0;
	require(weft_export_ctf_create(&sink, &ctf) == 0);
	for (; weft_decoder_next(decoder, &event) == WEFT_OK; events++)
		require(weft_export_ctf_add(ctf, &event, trace) == 0);
	require(weft_export_ctf_finish(ctf, trace) == 0);
	struct weft_export_ctf_summary summary = weft_export_ctf_summarize(ctf);
	require(summary.events == events && summary.bytes == directory->bytes);
	require(directory->metadata.size > 0);
	weft_export_ctf_destroy(ctf);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct directory directory = {0};
	struct weft_decoder *decoder;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	if (weft_decoder_finish(decoder) == 0)
		export_all(decoder, &directory);
	weft_decoder_destroy(decoder);
	for (unsigned i = 0; i < STREAMS; i++) {
		check_stream(&directory.streams[i], i);
		weft_text_finish(&directory.streams[i]);
	}
	weft_text_finish(&directory.metadata);
	return 0;
}
