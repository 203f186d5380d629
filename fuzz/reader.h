/* SPDX-License-Identifier: ISC
 *
 * Checks that must hold for every format and any input: events are in time order, text is inside
 * the input or the reader, types and threads exist.
 */
#ifndef WEFT_FUZZ_READER_H
#define WEFT_FUZZ_READER_H

#include <stdint.h>
#include <stdlib.h>

#include <weft/decoder.h>
#include <weft/model.h>

#include "format/formats.h"
#include "same_summary.h"

/* Reads every byte, so that a sanitizer finds one that is out of bounds. */
static inline void touch(struct weft_slice text)
{
	const volatile char *bytes = text.bytes;
	for (size_t i = 0; i < text.size; i++)
		(void)bytes[i];
}

static inline void require(int condition)
{
	if (!condition)
		abort();
}

static inline void check_event(const struct weft_event *event, uint64_t last_ns, size_t size)
{
	require(weft_event_describe(event->type)->name != NULL);
	require(event->time_ns >= last_ns);
	require(event->offset < size);
	touch(event->text);
	for (uint32_t i = 0; i < event->field_count; i++) {
		touch(event->fields[i].name);
		if (event->fields[i].type == WEFT_FIELD_TEXT)
			touch(event->fields[i].value.text);
	}
}

static inline void check_format(
	const struct weft__format *format, const uint8_t *bytes, size_t size)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = format->name};
	const struct weft__input input = {
		.bytes = bytes, .size = size, .diagnostics = &diagnostics, .description = &description};
	struct weft__reader *reader;
	struct weft_event event = {0};
	uint64_t last_ns = 0, events = 0;
	int status;
	if (!format->probe(bytes, size) || format->open(&input, &reader))
		return;
	while ((status = format->next(reader, &event)) == WEFT_OK) {
		check_event(&event, last_ns, size);
		require(event.thread < description.thread_count);
		last_ns = event.time_ns;
		event = (struct weft_event){0};
		require(++events <= size); /* an event takes at least a byte: so the trace ends */
	}
	require(status == WEFT_END);
	require(diagnostics.count < WEFT_DIAGNOSTICS_MAX);
	format->close(reader);
}

static inline struct weft_decoder *decoder_of(const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	return decoder;
}

static inline void check_summary(const struct weft_model *model, const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder = decoder_of(bytes, size);
	struct weft_model *summary;
	require(weft_decoder_finish(decoder) == 0);
	require(weft_decoder_build_summary(decoder, NULL, &summary) == 0);
	require(has_same_summary(model, summary));
	weft_model_destroy(summary);
	weft_decoder_destroy(decoder);
}

/* The model that a decoder makes of the input. fuzz_picture.c draws it, which is slow. */
static inline void check_model(const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder = decoder_of(bytes, size);
	struct weft_model *model;
	if (weft_decoder_finish(decoder) == 0 && weft_decoder_build_model(decoder, NULL, &model) == 0) {
		require(model->summary.start <= model->summary.end);
		check_summary(model, bytes, size);
		weft_model_destroy(model);
	}
	weft_decoder_destroy(decoder);
}

#endif
