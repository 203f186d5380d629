/* SPDX-License-Identifier: ISC
 *
 * One decoder over every format: gathers the bytes, finds the format by content, and hands the
 * rest to it. The table of formats is the only place that knows them all.
 */
#include <weft/decoder.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "format/decoder.h"
#include "format/formats.h"
#include "model/span.h"

/* In the order they are tried: those with the surest mark first. */
static const struct weft__format *const formats[] = {
	&weft__format_weft,
	&weft__format_mirage_ctf,
	&weft__format_sexp,
	NULL,
};

enum phase {
	PHASE_FEEDING,
	PHASE_READING,
	PHASE_FAILED, /* finish found nothing to read; `error` says why */
};

struct weft_decoder {
	struct weft_diagnostics diagnostics;
	struct weft_trace_description description;
	const struct weft__format *format;
	struct weft__reader *reader;
	uint8_t *copy; /* of what was fed, if it was not borrowed */
	size_t capacity;
	const uint8_t *bytes;
	size_t size;
	enum phase phase;
	bool borrowed;
	bool answered;     /* at least one event */
	uint64_t furthest; /* offset of an event */
	struct weft__span span;
	const struct weft_help *help;
	int error;
};

WEFT__EXPORT int weft_decoder_create(struct weft_decoder **ret_decoder)
{
	struct weft_decoder *decoder = calloc(1, sizeof(*decoder));
	if (!decoder)
		return WEFT_ERROR_MEMORY;
	decoder->description.format = "unknown";
	decoder->description.clock.name = "unknown";
	*ret_decoder = decoder;
	return 0;
}

WEFT__EXPORT void weft_decoder_destroy(struct weft_decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->reader)
		decoder->format->close(decoder->reader);
	free(decoder->copy);
	free(decoder);
}

WEFT__EXPORT int weft_decoder_feed(struct weft_decoder *decoder, const void *bytes, size_t size)
{
	if (decoder->phase != PHASE_FEEDING || decoder->borrowed)
		return WEFT_ERROR_STATE;
	if (size > SIZE_MAX - decoder->size)
		return WEFT_ERROR_LIMIT;
	if (size > decoder->capacity - decoder->size) {
		size_t capacity = weft__array_next_capacity(decoder->capacity, decoder->size + size);
		int error = weft__array_resize(&decoder->copy, capacity, 1);
		if (error)
			return error;
		decoder->capacity = capacity;
	}
	if (size)
		memcpy(decoder->copy + decoder->size, bytes, size);
	decoder->size += size;
	decoder->bytes = decoder->copy;
	return 0;
}

WEFT__EXPORT int weft_decoder_feed_borrowed(
	struct weft_decoder *decoder, const void *bytes, size_t size)
{
	if (decoder->phase != PHASE_FEEDING || decoder->borrowed || decoder->size)
		return WEFT_ERROR_STATE;
	decoder->borrowed = true;
	decoder->bytes = bytes;
	decoder->size = size;
	return 0;
}

static const struct weft__format *find_format(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; formats[i]; i++)
		if (formats[i]->probe(bytes, size))
			return formats[i];
	return NULL;
}

static int start_reading(struct weft_decoder *decoder)
{
	if (decoder->size == 0)
		return WEFT_ERROR_EMPTY;
	decoder->format = find_format(decoder->bytes, decoder->size);
	if (!decoder->format)
		return WEFT_ERROR_FORMAT;
	decoder->description.format = decoder->format->name;
	const struct weft__input input = {
		.bytes = decoder->bytes,
		.size = decoder->size,
		.diagnostics = &decoder->diagnostics,
		.description = &decoder->description,
		.help = decoder->help,
	};
	return decoder->format->open(&input, &decoder->reader);
}

WEFT__EXPORT int weft_decoder_finish(struct weft_decoder *decoder)
{
	if (decoder->phase != PHASE_FEEDING)
		return WEFT_ERROR_STATE;
	decoder->error = start_reading(decoder);
	decoder->phase = decoder->error ? PHASE_FAILED : PHASE_READING;
	return decoder->error;
}

WEFT__EXPORT int weft_decoder_next(struct weft_decoder *decoder, struct weft_event *ret_event)
{
	if (decoder->phase == PHASE_FEEDING)
		return WEFT_AGAIN;
	if (decoder->phase == PHASE_FAILED)
		return decoder->error;
	memset(ret_event, 0, sizeof(*ret_event));
	int status = decoder->format->next(decoder->reader, ret_event);
	if (status == WEFT_OK) {
		decoder->answered = true;
		if (ret_event->offset > decoder->furthest)
			decoder->furthest = ret_event->offset;
		if (weft__span_hold(&decoder->span, &ret_event->time_ns))
			weft_diagnostics_add(&decoder->diagnostics, ret_event->offset, WEFT__SPAN_MESSAGE);
	}
	/* An empty trace is no error, but one of which nothing could be read is. */
	if (status == WEFT_END && !decoder->answered && decoder->diagnostics.count)
		return WEFT_ERROR_DAMAGED;
	return status;
}

WEFT__EXPORT const struct weft_trace_description *weft_decoder_describe(
	const struct weft_decoder *decoder)
{
	return &decoder->description;
}

WEFT__EXPORT struct weft_diagnostics *weft_decoder_diagnostics(struct weft_decoder *decoder)
{
	return &decoder->diagnostics;
}

WEFT__EXPORT double weft_decoder_part(const struct weft_decoder *decoder)
{
	return decoder->size ? (double)decoder->furthest / (double)decoder->size : 0;
}

WEFT__EXPORT void weft_decoder_lend(struct weft_decoder *decoder, const struct weft_help *help)
{
	decoder->help = help;
}

const struct weft_help *weft__decoder_help(const struct weft_decoder *decoder)
{
	return decoder->help;
}
