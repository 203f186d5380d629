/* SPDX-License-Identifier: ISC */
#include "perfetto/packet.h"

/* All packets are of one sequence. */
#define SEQUENCE    1
#define PIECE_BYTES (256 << 10)

uint64_t weft__perfetto_track(enum weft__perfetto_track of, uint32_t number)
{
	return (uint64_t)of << 32 | number;
}

void weft__perfetto_begin_packet(struct weft__perfetto_writer *w)
{
	w->encoder.depth = 0;
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_PACKET);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_PACKET_SEQUENCE, SEQUENCE);
}

void weft__perfetto_begin_track(
	struct weft__perfetto_writer *w, uint64_t track, uint64_t parent, struct weft_slice name)
{
	weft__perfetto_begin_packet(w);
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_PACKET_TRACK);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_TRACK_ID, track);
	if (parent)
		weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_TRACK_PARENT, parent);
	if (name.size)
		weft__otlp_put_text(&w->encoder, WEFT__PERFETTO_TRACK_NAME, name);
}

void weft__perfetto_begin_event(struct weft__perfetto_writer *w, uint64_t time_ns,
	enum weft__perfetto_type type, uint64_t track)
{
	weft__perfetto_begin_packet(w);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_PACKET_TIME, time_ns);
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_PACKET_EVENT);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_EVENT_TYPE, type);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_EVENT_TRACK, track);
}

void weft__perfetto_end(struct weft__perfetto_writer *w)
{
	weft__otlp_end(&w->encoder);
	weft__otlp_end(&w->encoder);
	if (w->encoder.text.size >= PIECE_BYTES)
		weft__perfetto_flush(w);
}

void weft__perfetto_annotate(struct weft__perfetto_writer *w, const struct weft_field *field)
{
	struct weft__otlp_encoder *e = &w->encoder;
	weft__otlp_begin(e, WEFT__PERFETTO_EVENT_ANNOTATION);
	weft__otlp_put_text(e, WEFT__PERFETTO_ANNOTATION_NAME, field->name);
	switch (field->type) {
	case WEFT_FIELD_I64:
		weft__otlp_put_integer(e, WEFT__PERFETTO_ANNOTATION_SIGNED, (uint64_t)field->value.i64);
		break;
	case WEFT_FIELD_U64:
		weft__otlp_put_integer(e, WEFT__PERFETTO_ANNOTATION_UNSIGNED, field->value.u64);
		break;
	case WEFT_FIELD_F64:
		weft__otlp_put_real(e, WEFT__PERFETTO_ANNOTATION_REAL, field->value.f64);
		break;
	case WEFT_FIELD_TEXT:
		weft__otlp_put_text(e, WEFT__PERFETTO_ANNOTATION_TEXT, field->value.text);
		break;
	case WEFT_FIELD_BOOL:
		weft__otlp_put_integer(e, WEFT__PERFETTO_ANNOTATION_BOOL, field->value.u64 != 0);
		break;
	}
	weft__otlp_end(e);
}

int weft__perfetto_flush(struct weft__perfetto_writer *w)
{
	struct weft_text *text = &w->encoder.text;
	if (!w->error)
		w->error = text->error;
	if (!w->error && text->size)
		w->error = w->sink->append(w->sink->context, text->bytes, text->size);
	text->size = 0;
	return w->error;
}
