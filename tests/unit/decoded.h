/* SPDX-License-Identifier: ISC
 *
 * A trace decoded to the end, for tests: its lines as JSON, its events' times, its diagnostics.
 */
#ifndef WEFT_TESTS_DECODED_H
#define WEFT_TESTS_DECODED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>
#include <weft/lines.h>

struct decoded {
	int finished; /* what finish answered */
	int ended;    /* what the last next answered */
	size_t count;
	uint64_t last_ns;
	int in_order;
	struct weft_text lines;
	struct weft_diagnostics diagnostics;
	struct weft_clock clock;
	char format[32];
};

static inline int feed_pieces(
	struct weft_decoder *decoder, const void *bytes, size_t size, size_t piece)
{
	int error = piece ? 0 : weft_decoder_feed_borrowed(decoder, bytes, size);
	for (size_t at = 0; piece && at < size && !error; at += piece)
		error = weft_decoder_feed(
			decoder, (const char *)bytes + at, size - at < piece ? size - at : piece);
	return error;
}

/* `piece` bytes at a time; 0: all at once. */
static inline struct decoded decode(const void *bytes, size_t size, size_t piece)
{
	struct decoded d = {.in_order = 1};
	struct weft_decoder *decoder;
	struct weft_lines lines;
	struct weft_event event;
	if (weft_decoder_create(&decoder) || feed_pieces(decoder, bytes, size, piece))
		abort();
	d.finished = weft_decoder_finish(decoder);
	weft_lines_init(&lines, weft_decoder_describe(decoder), 0);
	while ((d.ended = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		weft_lines_add_json(&lines, &event, &d.lines);
		d.in_order = d.in_order && event.time_ns >= d.last_ns;
		d.last_ns = event.time_ns;
		d.count++;
	}
	d.diagnostics = *weft_decoder_diagnostics(decoder);
	d.clock = weft_decoder_describe(decoder)->clock;
	strncpy(d.format, weft_decoder_describe(decoder)->format, sizeof(d.format) - 1);
	weft_decoder_destroy(decoder);
	weft_text_add(&d.lines, "", 1); /* a NUL, to compare it as a string */
	return d;
}

/* How often a message was counted, and the offset of the first; 0 if never. */
static inline uint64_t times_reported(
	const struct decoded *decoded, const char *message, uint64_t *ret_offset)
{
	for (size_t i = 0; i < decoded->diagnostics.count; i++) {
		const struct weft_diagnostic *d = &decoded->diagnostics.list[i];
		if (strcmp(d->message, message) != 0)
			continue;
		if (ret_offset)
			*ret_offset = d->offset;
		return d->count;
	}
	return 0;
}

/* A small generator of its own: the same bytes on every machine. */
static inline uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

#endif
