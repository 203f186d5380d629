/* SPDX-License-Identifier: ISC
 *
 * Writes an event as a JSON object, by walking its row of the table of events.
 */
#include "base/export.h"
#include "export/lines.h"

static void add_slice(struct weft_text *text, struct weft_slice slice)
{
	weft_text_add_json(text, slice.bytes, slice.size);
}

static void add_task(struct weft_text *text, uint64_t task)
{
	if (task == WEFT_TASK_NONE)
		weft_text_add(text, "null", 4);
	else
		weft_text_add_u64(text, task);
}

/* Appends a kind; one without a name as a number. */
static void add_kind(struct weft_text *text, const struct weft_event *event)
{
	const char *name = weft_kind_name(event->kind);
	if (event->kind_name.size) {
		add_slice(text, event->kind_name);
		return;
	}
	if (!name) {
		weft_text_add_u64(text, event->kind);
		return;
	}
	weft_text_add(text, "\"", 1);
	weft_text_add_string(text, name);
	weft_text_add(text, "\"", 1);
}

static void add_key(struct weft_text *text, const char *key)
{
	weft_text_add(text, ",\"", 2);
	weft_text_add_string(text, key);
	weft_text_add(text, "\":", 2);
}

static void add_fields(struct weft_text *text, const struct weft_event *event)
{
	weft_text_add(text, "{", 1);
	for (uint32_t i = 0; i < event->field_count; i++) {
		const struct weft_field *field = &event->fields[i];
		if (i)
			weft_text_add(text, ",", 1);
		add_slice(text, field->name);
		weft_text_add(text, ":", 1);
		weft__lines_add_value(text, field, add_slice);
	}
	weft_text_add(text, "}", 1);
}

static void add_value(struct weft_text *text, const struct weft_event *event, enum weft_slot slot)
{
	switch (slot) {
	case WEFT_SLOT_TASK:
		add_task(text, event->task);
		break;
	case WEFT_SLOT_OTHER:
		add_task(text, event->other);
		break;
	case WEFT_SLOT_KIND:
		add_kind(text, event);
		break;
	case WEFT_SLOT_BAND:
		weft_text_add(text, "\"", 1);
		weft_text_add_string(text, weft_band_name(event->band));
		weft_text_add(text, "\"", 1);
		break;
	case WEFT_SLOT_FLAG:
		weft_text_add_string(text, event->flag ? "true" : "false");
		break;
	case WEFT_SLOT_TEXT:
	case WEFT_SLOT_REASON:
		add_slice(text, event->text);
		break;
	case WEFT_SLOT_CHANGE:
		weft__lines_add_change(text, event);
		break;
	case WEFT_SLOT_VALUE:
	case WEFT_SLOT_DURATION:
		weft_text_add_i64(text, event->value);
		break;
	case WEFT_SLOT_MESSAGE:
		weft_text_add_u64(text, (uint64_t)event->value);
		break;
	case WEFT_SLOT_FIELDS:
		add_fields(text, event);
		break;
	case WEFT_SLOT_CATEGORY:
		add_slice(text, event->category);
		break;
	case WEFT_SLOT_TRACK:
		add_slice(text, event->kind_name);
		break;
	case WEFT_SLOT_CLOCK:
		weft_text_add(text, "\"", 1);
		weft_text_add_string(text, weft_clock_name(event->kind));
		weft_text_add(text, "\"", 1);
		break;
	case WEFT_SLOT_BEGIN:
		weft_text_add_u64(text, event->begin_ns);
		break;
	case WEFT_SLOT_END:
		weft_text_add_u64(text, event->end_ns);
		break;
	}
}

WEFT__EXPORT void weft_lines_add_json(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text)
{
	const struct weft_event_description *row = weft_event_describe(event->type);
	weft_text_add(text, "{\"time\":", 8);
	weft_text_add_u64(text, event->time_ns);
	weft_text_add(text, ",\"event\":\"", 10);
	weft_text_add_string(text, row->name ? row->name : "unknown");
	weft_text_add(text, "\"", 1);
	for (size_t i = 0; row->fields[i].key; i++) {
		enum weft_slot slot = row->fields[i].slot;
		if (!weft__lines_has_field(event, slot))
			continue;
		add_key(text, weft__lines_key(event, slot, row->fields[i].key));
		add_value(text, event, slot);
	}
	if (event->is_rundown)
		weft_text_add_string(text, ",\"rundown\":true");
	if (lines->has_threads) {
		add_key(text, "thread");
		weft_text_add_u64(text, event->thread);
	}
	if (lines->has_processes) {
		add_key(text, "process");
		weft_text_add_u64(text, weft__lines_process(lines, event));
		add_key(text, "buffer");
		weft_text_add_u64(text, event->buffer);
	}
	weft_text_add(text, "}\n", 2);
}
