/* SPDX-License-Identifier: ISC
 *
 * Functions that the lines for programs (JSON) and for people (text) share.
 */
#include "export/lines.h"

#include <math.h>
#include <string.h>

#include "base/export.h"

WEFT__EXPORT void weft_lines_init(
	struct weft_lines *lines, const struct weft_trace_description *trace, uint64_t start_ns)
{
	*lines = (struct weft_lines){.trace = trace, .start_ns = start_ns};
	lines->has_threads = trace->thread_count > 1;
	lines->has_processes = trace->buffer_count > 1;
}

uint64_t weft__lines_process(const struct weft_lines *lines, const struct weft_event *event)
{
	const struct weft_trace_description *trace = lines->trace;
	return weft_trace_buffer_at(trace->buffers, trace->buffer_count, event->buffer)->pid;
}

bool weft__lines_has_field(const struct weft_event *event, enum weft_slot slot)
{
	if (slot == WEFT_SLOT_VALUE)
		return event->has_value;
	if (slot == WEFT_SLOT_REASON)
		return event->text.size > 0;
	if (slot == WEFT_SLOT_CATEGORY)
		return event->category.size > 0;
	return true;
}

const char *weft__lines_key(const struct weft_event *event, enum weft_slot slot, const char *key)
{
	return slot == WEFT_SLOT_CHANGE && !event->is_set ? "add" : key;
}

/* A real number keeps a point, so that it remains a real number for a program that reads JSON. */
void weft__lines_add_change(struct weft_text *text, const struct weft_event *event)
{
	size_t start = text->size;
	if (!event->is_real) {
		weft_text_add_i64(text, event->value);
		return;
	}
	weft_text_add_f64(text, event->real);
	if (isfinite(event->real) && !text->error &&
		!memchr(text->bytes + start, '.', text->size - start) &&
		!memchr(text->bytes + start, 'e', text->size - start))
		weft_text_add(text, ".0", 2);
}

void weft__lines_add_value(struct weft_text *text, const struct weft_field *field,
	void (*add_text)(struct weft_text *text, struct weft_slice slice))
{
	switch (field->type) {
	case WEFT_FIELD_I64:
		weft_text_add_i64(text, field->value.i64);
		break;
	case WEFT_FIELD_U64:
		weft_text_add_u64(text, field->value.u64);
		break;
	case WEFT_FIELD_F64:
		weft_text_add_f64(text, field->value.f64);
		break;
	case WEFT_FIELD_TEXT:
		add_text(text, field->value.text);
		break;
	}
}
