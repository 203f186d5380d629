/* SPDX-License-Identifier: ISC
 *
 * One event as a line, by walking its row of the table of events: a JSON object for programs, or
 * aligned text for a person:
 *
 *        0.000746000  label     task=0 text="create XenStore"
 *
 * The two forms write the same values, so one function writes both.
 */
#include <weft/lines.h>

#include <math.h>
#include <string.h>

#include "base/export.h"

/* The length of the longest event name, plus two spaces. */
#define EVENT_COLUMNS 10

/* Constants in the two public functions, into which all others are inlined. */
enum form {
	TEXT,
	JSON,
};

WEFT__EXPORT void weft_lines_init(
	struct weft_lines *lines, const struct weft_trace_description *trace, uint64_t start_ns)
{
	*lines = (struct weft_lines){.trace = trace, .start_ns = start_ns};
	lines->has_threads = trace->thread_count > 1;
	lines->has_processes = trace->buffer_count > 1;
}

/* ---- Values ---- */

static inline void add_slice(struct weft_text *text, enum form form, struct weft_slice slice)
{
	if (form == JSON)
		weft_text_add_json(text, slice.bytes, slice.size);
	else
		weft_text_add_quoted(text, slice.bytes, slice.size);
}

/* Appends one of our own words, which need no escapes. */
static inline void add_word(struct weft_text *text, enum form form, const char *word)
{
	if (form == JSON)
		weft_text_add(text, "\"", 1);
	weft_text_add_string(text, word);
	if (form == JSON)
		weft_text_add(text, "\"", 1);
}

static inline void add_task(struct weft_text *text, enum form form, weft_task_id task)
{
	if (task == WEFT_TASK_NONE)
		weft_text_add_string(text, form == JSON ? "null" : "none");
	else
		weft_text_add_u64(text, task);
}

/* Appends a kind; one without a name as a number. */
static inline void add_kind(struct weft_text *text, enum form form, const struct weft_event *event)
{
	const char *name = weft_kind_name(event->kind);
	if (event->kind_name.size)
		add_slice(text, form, event->kind_name);
	else if (name)
		add_word(text, form, name);
	else
		weft_text_add_u64(text, event->kind);
}

/* Appends a time: for people as the distance from the event's. */
static inline void add_time(
	struct weft_text *text, enum form form, const struct weft_event *event, uint64_t ns)
{
	if (form == JSON)
		weft_text_add_u64(text, ns);
	else
		weft_text_add_i64(text, (int64_t)(ns - event->time_ns));
	weft_text_add_string(text, form == JSON ? "" : "ns");
}

/* A real number keeps a point, so that it remains a real number for a program that reads JSON. */
static void add_change(struct weft_text *text, const struct weft_event *event)
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

static inline void add_field(struct weft_text *text, enum form form, const struct weft_field *field)
{
	add_slice(text, form, field->name);
	weft_text_add(text, form == JSON ? ":" : "=", 1);
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
		add_slice(text, form, field->value.text);
		break;
	case WEFT_FIELD_BOOL:
		weft_text_add_string(text, field->value.u64 ? "true" : "false");
		break;
	}
}

static inline void add_fields(
	struct weft_text *text, enum form form, const struct weft_event *event)
{
	weft_text_add(text, "{", 1);
	for (uint32_t i = 0; i < event->field_count; i++) {
		if (i)
			weft_text_add_string(text, form == JSON ? "," : ", ");
		add_field(text, form, &event->fields[i]);
	}
	weft_text_add(text, "}", 1);
}

__attribute__((always_inline)) static inline void add_value(
	struct weft_text *text, enum form form, const struct weft_event *event, enum weft_slot slot)
{
	switch (slot) {
	case WEFT_SLOT_TASK:
		add_task(text, form, event->task);
		break;
	case WEFT_SLOT_OTHER:
		add_task(text, form, event->other);
		break;
	case WEFT_SLOT_KIND:
		add_kind(text, form, event);
		break;
	case WEFT_SLOT_BAND:
		add_word(text, form, weft_band_name(event->band));
		break;
	case WEFT_SLOT_FLAG:
		weft_text_add_string(text, event->flag ? "true" : "false");
		break;
	case WEFT_SLOT_TEXT:
	case WEFT_SLOT_REASON:
		add_slice(text, form, event->text);
		break;
	case WEFT_SLOT_CHANGE:
		add_change(text, event);
		break;
	case WEFT_SLOT_DURATION:
	case WEFT_SLOT_VALUE:
		weft_text_add_i64(text, event->value);
		if (form == TEXT && slot == WEFT_SLOT_DURATION)
			weft_text_add(text, "ns", 2);
		break;
	case WEFT_SLOT_MESSAGE:
		weft_text_add_u64(text, event->key);
		break;
	case WEFT_SLOT_FIELDS:
		add_fields(text, form, event);
		break;
	case WEFT_SLOT_CATEGORY:
		add_slice(text, form, event->category);
		break;
	case WEFT_SLOT_TRACK:
		add_slice(text, form, event->kind_name);
		break;
	case WEFT_SLOT_CLOCK:
		add_word(text, form, weft_clock_name(event->kind));
		break;
	case WEFT_SLOT_BEGIN:
		add_time(text, form, event, event->begin_ns);
		break;
	case WEFT_SLOT_END:
		add_time(text, form, event, event->end_ns);
		break;
	}
}

/* ---- Keys ---- */

static inline bool has_field(const struct weft_event *event, enum weft_slot slot)
{
	if (slot == WEFT_SLOT_VALUE)
		return event->has_value;
	if (slot == WEFT_SLOT_REASON)
		return event->text.size > 0;
	if (slot == WEFT_SLOT_CATEGORY)
		return event->category.size > 0;
	return true;
}

static inline void add_key(struct weft_text *text, const char *key)
{
	weft_text_add(text, ",\"", 2);
	weft_text_add_string(text, key);
	weft_text_add(text, "\":", 2);
}

/* Appends a flag for people: its key if it is set; otherwise nothing, because "later=no" in most
 * reads would be noise. A band without the flag ends. */
static inline void add_flag(struct weft_text *text, const struct weft_event *event, const char *key)
{
	if (!event->flag && event->type != WEFT_EVENT_BAND)
		return;
	weft_text_add(text, " ", 1);
	weft_text_add_string(text, event->flag ? key : "end");
}

__attribute__((always_inline)) static inline void add_row(
	struct weft_text *text, enum form form, const struct weft_event *event)
{
	const struct weft_event_description *row = weft_event_describe(event->type);
	for (size_t i = 0; row->fields[i].key; i++) {
		enum weft_slot slot = row->fields[i].slot;
		const char *key = row->fields[i].key;
		if (!has_field(event, slot))
			continue;
		if (slot == WEFT_SLOT_CHANGE && !event->is_set)
			key = "add";
		if (form == JSON) {
			add_key(text, key);
		} else if (slot == WEFT_SLOT_FLAG) {
			add_flag(text, event, key);
			continue;
		} else {
			weft_text_add_string(text, i ? " " : "");
			weft_text_add_string(text, key);
			weft_text_add(text, "=", 1);
		}
		add_value(text, form, event, slot);
	}
}

static const char *name_of(const struct weft_event *event)
{
	const char *name = weft_event_describe(event->type)->name;
	return name ? name : "unknown";
}

static uint64_t process_of(const struct weft_lines *lines, const struct weft_event *event)
{
	const struct weft_trace_description *trace = lines->trace;
	return weft_trace_buffer_at(trace->buffers, trace->buffer_count, event->buffer)->pid;
}

/* ---- Lines ---- */

WEFT__EXPORT void weft_lines_add_json(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text)
{
	weft_text_add(text, "{\"time\":", 8);
	weft_text_add_u64(text, event->time_ns);
	weft_text_add(text, ",\"event\":\"", 10);
	weft_text_add_string(text, name_of(event));
	weft_text_add(text, "\"", 1);
	add_row(text, JSON, event);
	if (event->is_rundown)
		weft_text_add_string(text, ",\"rundown\":true");
	if (lines->has_threads) {
		add_key(text, "thread");
		weft_text_add_u64(text, event->thread);
	}
	if (lines->has_processes) {
		add_key(text, "process");
		weft_text_add_u64(text, process_of(lines, event));
		add_key(text, "buffer");
		weft_text_add_u64(text, event->buffer);
	}
	weft_text_add(text, "}\n", 2);
}

/* Appends seconds to the nanosecond, right-aligned up to 9999 s. */
static void add_seconds(struct weft_text *text, uint64_t ns)
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

/* Appends the thread in a column of its own, with the process if there are several. */
static void add_thread(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text)
{
	size_t start = text->size;
	if (lines->has_processes) {
		weft_text_add_u64(text, process_of(lines, event));
		weft_text_add(text, ":", 1);
	}
	weft_text_add_u64(text, event->thread);
	weft_text_pad(text, start, lines->has_processes ? 12 : 5);
}

WEFT__EXPORT void weft_lines_add_text(
	const struct weft_lines *lines, const struct weft_event *event, struct weft_text *text)
{
	add_seconds(text, event->time_ns - lines->start_ns);
	if (lines->has_threads)
		add_thread(lines, event, text);
	size_t start = text->size;
	weft_text_add_string(text, name_of(event));
	weft_text_pad(text, start, EVENT_COLUMNS);
	add_row(text, TEXT, event);
	if (event->is_rundown && event->type != WEFT_EVENT_ALIVE)
		weft_text_add_string(text, " rundown");
	weft_text_add(text, "\n", 1);
}
