/* SPDX-License-Identifier: ISC
 *
 * The input is a trace in any format. What is written of it for OpenTelemetry must be whole
 * messages: lines of JSON, fields of protobuf.
 */
#include "reader.h"

#include <weft/otlp.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_line(const char *bytes, size_t size)
{
	require(size > 2 && (bytes[0] == '{' || bytes[0] == '[') && bytes[size - 1] == '\n');
	require(bytes[size - 2] == (bytes[0] == '{' ? '}' : ']'));
	for (size_t i = 0; i + 1 < size; i++)
		require(bytes[i] != '\n');
}

/* The message is one field, of bytes, which takes all of it. */
static void check_field(const uint8_t *bytes, size_t size)
{
	uint64_t length = 0;
	size_t at = 1;
	unsigned shift = 0;
	require(size > 1 && bytes[0] == (1 << 3 | 2));
	do {
		require(at < size && shift < 64);
		length |= (uint64_t)(bytes[at] & 0x7f) << shift;
		shift += 7;
	} while (bytes[at++] & 0x80);
	require(length == size - at);
}

static int take(
	void *context, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	require(count > 0 && signal < WEFT_OTLP_SIGNALS);
	if (*(enum weft_otlp_format *)context != WEFT_OTLP_PROTOBUF)
		check_line(bytes, size);
	else
		check_field(bytes, size);
	return 0;
}

static void write_all(const struct weft_model *model, enum weft_otlp_format format, bool folds)
{
	const struct weft_otlp_options options = {.format = format,
		.folds = folds,
		.pending = folds ? WEFT_OTLP_PENDING_LOGFIRE : WEFT_OTLP_PENDING_OMIT_END,
		.offset_ns = folds ? INT64_MIN : INT64_MAX};
	const struct weft_otlp_sink sink = {take, &format};
	struct weft_otlp_summary summary;
	uint64_t points;
	require(weft_otlp_write_spans(model, &options, &sink, &summary) == 0);
	require(summary.spans + summary.folded >= model->tasks.count && summary.pending == 0);
	if (format != WEFT_OTLP_ZIPKIN)
		require(weft_otlp_write_metrics(model, &options, NULL, 0, &sink, &points) == 0);
}

/* The same events as a program would record them, in each format of a stream. */
static void stream_all(const uint8_t *bytes, size_t size, enum weft_otlp_format format, bool folds)
{
	const struct weft_otlp_options options = {.format = format,
		.folds = folds,
		.pending = WEFT_OTLP_PENDING_LOGFIRE,
		.offset_ns = format == WEFT_OTLP_JSON ? INT64_MAX : INT64_MIN};
	const struct weft_otlp_sink sink = {take, &format};
	struct weft_otlp_summary summary;
	struct weft_otlp_stream *stream;
	struct weft_decoder *decoder;
	struct weft_event event;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	require(weft_otlp_stream_create(&options, &sink, &stream) == 0);
	if (weft_decoder_finish(decoder) == 0) {
		while (weft_decoder_next(decoder, &event) == WEFT_OK)
			(void)weft_otlp_stream_add(stream, &event, weft_decoder_describe(decoder));
		require(weft_otlp_stream_flush(stream) == 0);
		require(weft_otlp_stream_finish(stream, weft_decoder_describe(decoder), &summary) == 0);
	}
	weft_otlp_stream_destroy(stream);
	weft_decoder_destroy(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder;
	struct weft_model *model;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	if (weft_decoder_finish(decoder) == 0 && weft_decoder_build_model(decoder, NULL, &model) == 0) {
		write_all(model, WEFT_OTLP_JSON, false);
		write_all(model, WEFT_OTLP_PROTOBUF, true);
		write_all(model, WEFT_OTLP_ZIPKIN, false);
		weft_model_destroy(model);
	}
	weft_decoder_destroy(decoder);
	stream_all(bytes, size, WEFT_OTLP_JSON, true);
	stream_all(bytes, size, WEFT_OTLP_PROTOBUF, false);
	return 0;
}
