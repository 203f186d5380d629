/* SPDX-License-Identifier: ISC
 *
 * One event as one aligned line for a person, by walking its row of the table of events:
 *
 *        0.000746000  label     task=0 text="create XenStore"
 */
#include "base/export.h"
#include "export/lines.h"

/* The length of the longest event name, plus two spaces. */
#define EVENT_COLUMNS 10

static void add_slice(struct weft_text *text, struct weft_slice slice)
{
	weft_text_add_quoted(text, slice.bytes, slice.size);
}

/* Appends seconds to the nanosecond, right-aligned up to 9999 s. */
static void add_time(struct weft_text *text, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000, fraction = ns % 1000000000;
	char digits[9];
	for (uint64_t bound = 1000; bound > 1; bound /= 10)
		if (seconds < bound)
			weft_text_add(text, " ", 1);
	weft_text_add_u64(text, seconds);
	for (size_t i = sizeof(digits); i-- > 0; fraction /= 10)
		digits[i] = (char)('0' + fraction % 10);
	weft_text_add(text, ".", 1);
	weft_text_add(text, digits, sizeof(digits));
	weft_text_add(text, "  ", 2);
}

static void add_task(struct weft_text *text, uint64_t task)
{
	if (task == WEFT_TASK_NONE)
		weft_text_add_string(text, "none");
	else
		weft_text_add_u64(text, task);
}

static void add_fields(struct weft_text *text, const struct weft_event *event)
{
	weft_text_add(text, "{", 1);
	for (uint32_t i = 0; i < event->field_count; i++) {
		const struct weft_field *field = &event->fields[i];
		weft_text_add_string(text, i ? ", " : "");
		add_slice(text, field->name);
		weft_text_add(text, "=", 1);
		weft__lines_add_value(text, field, add_slice);
	}
	weft_text_add(text, "}", 1);
}

/* Appends a time as the distance from the event's time. */
static void add_distance(struct weft_text *text, uint64_t distance)
{
	weft_text_add_i64(text, (int64_t)distance);
	weft_text_add(text, "ns", 2);
}

static void add_kind(struct weft_text *text, const struct weft_event *event)
{
	const char *name = weft_kind_name(event->kind);
	if (event->kind_name.size)
		add_slice(text, event->kind_name);
	else if (name)
		weft_text_add_string(text, name);
	else
		weft_text_add_u64(text, event->kind);
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
		weft_text_add_string(text, weft_band_name(event->band));
		break;
	case WEFT_SLOT_FLAG: /* the key says it */
		break;
	case WEFT_SLOT_TEXT:
	case WEFT_SLOT_REASON:
		add_slice(text, event->text);
		break;
	case WEFT_SLOT_CHANGE:
		weft__lines_add_change(text, event);
		break;
	case WEFT_SLOT_VALUE:
		weft_text_add_i64(text, event->value);
		break;
	case WEFT_SLOT_DURATION:
		weft_text_add_i64(text, event->value);
		weft_text_add(text, "ns", 2);
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
		weft_text_add_string(text, weft_clock_name(event->kind));
		break;
	case WEFT_SLOT_BEGIN:
		add_distance(text, event->begin_ns - event->time_ns);
		break;
	case WEFT_SLOT_END:
		add_distance(text, event->end_ns - event->time_ns);
		break;
	}
}

/* Appends the key if the flag is set; otherwise nothing, because "later=no" in most reads would be
 * noise. A band without the flag ends. */
static void add_flag(struct weft_text *text, const struct weft_event *event, const char *key)
{
	if (!event->flag && event->type != WEFT_EVENT_BAND)
		return;
	weft_text_add(text, " ", 1);
	weft_text_add_string(text, event->flag ? key : "end");
}

/* Appends the thread in a column of its own, with the process if there are several. */
static void add_thread(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text)
{
	size_t start = text->size;
	if (lines->has_processes) {
		weft_text_add_u64(text, weft__lines_process(lines, event));
		weft_text_add(text, ":", 1);
	}
	weft_text_add_u64(text, event->thread);
	weft_text_pad(text, start, lines->has_processes ? 12 : 5);
}

WEFT__EXPORT void weft_lines_add_text(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text)
{
	const struct weft_event_description *row = weft_event_describe(event->type);
	add_time(text, event->time_ns - lines->start_ns);
	if (lines->has_threads)
		add_thread(lines, event, text);
	size_t start = text->size;
	weft_text_add_string(text, row->name ? row->name : "unknown");
	weft_text_pad(text, start, EVENT_COLUMNS);
	for (size_t i = 0; row->fields[i].key; i++) {
		enum weft_slot slot = row->fields[i].slot;
		if (!weft__lines_has_field(event, slot))
			continue;
		if (slot == WEFT_SLOT_FLAG) {
			add_flag(text, event, row->fields[i].key);
			continue;
		}
		weft_text_add_string(text, i ? " " : "");
		weft_text_add_string(text, weft__lines_key(event, slot, row->fields[i].key));
		weft_text_add(text, "=", 1);
		add_value(text, event, slot);
	}
	if (event->is_rundown && event->type != WEFT_EVENT_ALIVE)
		weft_text_add_string(text, " rundown");
	weft_text_add(text, "\n", 1);
}
