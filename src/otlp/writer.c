/* SPDX-License-Identifier: ISC */
#include "otlp/writer.h"

#include <stdio.h>
#include <string.h>

#include "base/options.h"

static const struct weft__otlp_field fields[] = {
#define FIELD(id, number, type, is_repeated, key) {number, WEFT__OTLP_##type, is_repeated, key},
#include "otlp/fields.def"
#undef FIELD
};

/* Receivers refuse what is larger than 4 MiB, or at least than 64 MiB. No span needs more than the
 * difference. */
enum {
	MESSAGE_BYTES = 1 << 20,
	MESSAGE_COUNT = 512,
};

/* ---- Attributes ---- */

static void begin_attribute(
	struct weft__otlp_encoder *e, unsigned field, const char *key, size_t size)
{
	weft__otlp_begin(e, field);
	weft__otlp_put_text(e, WEFT__OTLP_KEY, (struct weft_slice){key, size});
	weft__otlp_begin(e, WEFT__OTLP_VALUE);
}

static void end_attribute(struct weft__otlp_encoder *e)
{
	weft__otlp_end(e);
	weft__otlp_end(e);
}

void weft__otlp_attribute_text(
	struct weft__otlp_encoder *e, unsigned field, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	begin_attribute(e, field, key, strlen(key));
	weft__otlp_put_string(e, WEFT__OTLP_VALUE_TEXT, value);
	end_attribute(e);
}

void weft__otlp_attribute_integer(
	struct weft__otlp_encoder *e, unsigned field, const char *key, int64_t value)
{
	begin_attribute(e, field, key, strlen(key));
	weft__otlp_put_integer(e, WEFT__OTLP_VALUE_INTEGER, (uint64_t)value);
	end_attribute(e);
}

void weft__otlp_attribute_bool(
	struct weft__otlp_encoder *e, unsigned field, const char *key, bool value)
{
	begin_attribute(e, field, key, strlen(key));
	weft__otlp_put_integer(e, WEFT__OTLP_VALUE_BOOL, value);
	end_attribute(e);
}

/* OTLP's integers are signed: a larger one is a text of its digits. */
static void put_unsigned(struct weft__otlp_encoder *e, uint64_t value)
{
	char digits[24];
	if (value <= INT64_MAX) {
		weft__otlp_put_integer(e, WEFT__OTLP_VALUE_INTEGER, value);
		return;
	}
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	weft__otlp_put_string(e, WEFT__OTLP_VALUE_TEXT, digits);
}

void weft__otlp_attribute_field(
	struct weft__otlp_encoder *e, unsigned field, const struct weft_field *value)
{
	begin_attribute(e, field, value->name.bytes, value->name.size);
	switch (value->type) {
	case WEFT_FIELD_I64:
		weft__otlp_put_integer(e, WEFT__OTLP_VALUE_INTEGER, (uint64_t)value->value.i64);
		break;
	case WEFT_FIELD_U64:
		put_unsigned(e, value->value.u64);
		break;
	case WEFT_FIELD_F64:
		weft__otlp_put_real(e, WEFT__OTLP_VALUE_REAL, value->value.f64);
		break;
	case WEFT_FIELD_TEXT:
		weft__otlp_put_text(e, WEFT__OTLP_VALUE_TEXT, value->value.text);
		break;
	case WEFT_FIELD_BOOL:
		weft__otlp_put_integer(e, WEFT__OTLP_VALUE_BOOL, value->value.u64 != 0);
		break;
	}
	end_attribute(e);
}

/* ---- Messages ---- */

static void format_uuid(const uint8_t uuid[16], char text[37])
{
	char *at = text;
	for (int i = 0; i < 16; i++)
		at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static void write_resource(struct weft__otlp_writer *w, const struct weft_trace_buffer *buffer)
{
	struct weft__otlp_encoder *e = &w->encoder;
	char uuid[37];
	weft__otlp_begin(e, WEFT__OTLP_RESOURCE);
	weft__otlp_attribute_text(e, WEFT__OTLP_RESOURCE_ATTRIBUTE, "service.name",
		buffer->process[0] ? buffer->process : "unknown_service");
	if (weft__otlp_is_random(buffer)) {
		format_uuid(buffer->uuid, uuid);
		weft__otlp_attribute_text(e, WEFT__OTLP_RESOURCE_ATTRIBUTE, "service.instance.id", uuid);
	}
	if (buffer->pid)
		weft__otlp_attribute_integer(
			e, WEFT__OTLP_RESOURCE_ATTRIBUTE, "process.pid", (int64_t)buffer->pid);
	weft__otlp_attribute_text(e, WEFT__OTLP_RESOURCE_ATTRIBUTE, "host.name", buffer->host);
	weft__otlp_attribute_text(e, WEFT__OTLP_RESOURCE_ATTRIBUTE, "telemetry.sdk.name", "weft");
	weft__otlp_attribute_text(
		e, WEFT__OTLP_RESOURCE_ATTRIBUTE, "telemetry.sdk.version", w->options.version);
	weft__otlp_end(e);
}

static void begin_message(struct weft__otlp_writer *w, uint32_t buffer)
{
	const bool is_traces = w->signal == WEFT_OTLP_TRACES;
	struct weft__otlp_encoder *e = &w->encoder;
	w->buffer = buffer;
	if (w->options.format == WEFT_OTLP_ZIPKIN) {
		weft_text_add(&e->text, "[", 1);
		return;
	}
	weft__otlp_open(e);
	weft__otlp_begin(e, is_traces ? WEFT__OTLP_TRACES : WEFT__OTLP_METRICS);
	write_resource(w, weft_trace_buffer_at(w->buffers, w->buffer_count, buffer));
	weft__otlp_begin(e, is_traces ? WEFT__OTLP_SCOPE_SPANS : WEFT__OTLP_SCOPE_METRICS);
	weft__otlp_begin(e, WEFT__OTLP_SCOPE);
	weft__otlp_put_string(e, WEFT__OTLP_SCOPE_NAME, "weft");
	if (w->options.version)
		weft__otlp_put_string(e, WEFT__OTLP_SCOPE_VERSION, w->options.version);
	weft__otlp_end(e);
}

int weft__otlp_writer_flush(struct weft__otlp_writer *w)
{
	struct weft__otlp_encoder *e = &w->encoder;
	if (w->count == 0)
		return 0;
	if (w->options.format == WEFT_OTLP_ZIPKIN) {
		weft_text_add(&e->text, "]", 1);
	} else {
		weft__otlp_end(e);
		weft__otlp_end(e);
		weft__otlp_close(e);
	}
	if (e->is_json)
		weft_text_add(&e->text, "\n", 1);
	int error = e->text.error;
	if (!error)
		error = w->sink->take(w->sink->context, w->signal, e->text.bytes, e->text.size, w->count);
	e->text.size = 0;
	w->count = 0;
	return error;
}

int weft__otlp_writer_open(struct weft__otlp_writer *w, uint32_t buffer)
{
	int error = w->encoder.text.error;
	if (!error && w->count > 0 &&
		(w->buffer != buffer || w->count >= MESSAGE_COUNT || w->encoder.text.size >= MESSAGE_BYTES))
		error = weft__otlp_writer_flush(w);
	if (error)
		return error;
	if (w->count == 0)
		begin_message(w, buffer);
	return 0;
}

int weft__otlp_writer_init(struct weft__otlp_writer *w, const struct weft_model *model,
	const struct weft_otlp_options *options, const struct weft_otlp_sink *sink,
	enum weft_otlp_signal signal)
{
	*w = (struct weft__otlp_writer){.model = model, .sink = sink, .signal = signal};
	if (model) {
		w->buffers = model->buffers;
		w->buffer_count = model->buffer_count;
	}
	WEFT__OPTIONS_COPY(&w->options, options);
	if (w->options.format >= WEFT_OTLP_FORMATS || w->options.pending >= WEFT_OTLP_PENDINGS ||
		(w->options.format == WEFT_OTLP_ZIPKIN && signal != WEFT_OTLP_TRACES))
		return WEFT_ERROR_ARGUMENT;
	w->encoder.fields = fields;
	w->encoder.is_json = w->options.format != WEFT_OTLP_PROTOBUF;
	return 0;
}

void weft__otlp_writer_finish(struct weft__otlp_writer *w)
{
	weft_text_finish(&w->encoder.text);
}

uint64_t weft__otlp_unix_ns(const struct weft__otlp_writer *w, uint64_t time_ns)
{
	const int64_t offset = w->options.offset_ns;
	const uint64_t back = offset < 0 ? -(uint64_t)offset : 0;
	if (offset < 0)
		return time_ns > back ? time_ns - back : 0;
	return time_ns > UINT64_MAX - (uint64_t)offset ? UINT64_MAX : time_ns + (uint64_t)offset;
}
