/* SPDX-License-Identifier: ISC
 *
 * The messages of an export: each has the spans or metrics of one buffer, and is handed out when it
 * is large enough.
 */
#ifndef WEFT_OTLP_WRITER_H
#define WEFT_OTLP_WRITER_H

#include <weft/otlp.h>

#include "otlp/encoder.h"
#include "otlp/plan.h"

enum weft__otlp_field_number {
#define FIELD(id, number, type, is_repeated, key) WEFT__OTLP_##id,
#include "otlp/fields.def"
#undef FIELD
	WEFT__OTLP_FIELDS
};

struct weft__otlp_writer {
	const struct weft_model *model; /* NULL: there is none */
	const struct weft_trace_buffer *buffers;
	uint32_t buffer_count;
	struct weft_otlp_options options;
	const struct weft_otlp_sink *sink;
	struct weft__otlp_encoder encoder;
	enum weft_otlp_signal signal;
	uint32_t buffer; /* of the open message */
	uint32_t count;  /* spans or points in it; 0: none is open */
	struct weft_otlp_summary summary;
};

/* The buffers are those of the model, or the caller's to set. */
int weft__otlp_writer_init(struct weft__otlp_writer *writer, const struct weft_model *model,
	const struct weft_otlp_options *options, const struct weft_otlp_sink *sink,
	enum weft_otlp_signal signal);
void weft__otlp_writer_finish(struct weft__otlp_writer *writer);

/* Begins a message for the buffer if none is open for it. The caller adds something, and counts it.
 * 0, or an error of the sink, which got the message before. */
int weft__otlp_writer_open(struct weft__otlp_writer *writer, uint32_t buffer);
/* Hands out the open message. */
int weft__otlp_writer_flush(struct weft__otlp_writer *writer);

/* ns since 1970 for a time of the trace, within what 64 bits hold. */
uint64_t weft__otlp_unix_ns(const struct weft__otlp_writer *writer, uint64_t time_ns);

/* Attributes, as elements of the field. Those of strings without text are left out. */
void weft__otlp_attribute_text(
	struct weft__otlp_encoder *encoder, unsigned field, const char *key, const char *value);
void weft__otlp_attribute_integer(
	struct weft__otlp_encoder *encoder, unsigned field, const char *key, int64_t value);
void weft__otlp_attribute_bool(
	struct weft__otlp_encoder *encoder, unsigned field, const char *key, bool value);
void weft__otlp_attribute_field(
	struct weft__otlp_encoder *encoder, unsigned field, const struct weft_field *value);

#endif
