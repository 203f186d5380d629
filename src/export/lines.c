/* SPDX-License-Identifier: ISC
 *
 * One event as a line, by walking its row of the table of events: a JSON object for programs, or
 * aligned text for a person:
 *
 *        0.000746000  label     task=0 text="create XenStore"
 *
 * The two forms write the same values, so one function writes both. A dump spends most of its time
 * here: what is the same in all lines of a type is made from the table when this is compiled.
 */
#include <weft/lines.h>

#include <math.h>
#include <string.h>

#include "base/export.h"

/* The length of the longest event name, plus two spaces, of which the second is the field's. */
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

/* ---- Pieces ---- */

/* Appends bytes of ours. A line has ten such pieces, so this is inlined. */
static inline void put(struct weft_text *text, const char *bytes, size_t size)
{
	if (size > text->capacity - text->size) {
		weft_text_add(text, bytes, size);
		return;
	}
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
}

#define WORD_BYTES 32

/* Bytes of ours, of which always WORD_BYTES are copied: that takes no loop and no call. */
struct word {
	char bytes[WORD_BYTES];
	size_t size;
};
#define WORD(literal)                    \
	{                                    \
		literal, sizeof(literal "") - 1, \
	}

static inline void put_word(struct weft_text *text, const struct word *word)
{
	if (WORD_BYTES > text->capacity - text->size) {
		weft_text_add(text, word->bytes, word->size);
		return;
	}
	memcpy(text->bytes + text->size, word->bytes, WORD_BYTES);
	text->size += word->size;
}

/* The bytes before the value of a field; `flag`: for people, if it is a flag that is set. */
struct field {
	enum weft_slot slot;
	struct word json, text, flag;
};

/* The rows of events.def; an empty field ends each. */
struct row {
	struct word json, text; /* the event's name */
	struct field fields[WEFT_EVENT_FIELDS_MAX + 1];
};

#define FIELD(slot, key) \
	{WEFT_SLOT_##slot, WORD(",\"" key "\":"), WORD(" " key "="), WORD(" " key)},
#define EVENT(number, id, name, fields) \
	[number] = {WORD(",\"event\":\"" name "\""), WORD(name), {fields}},
static const struct row rows[WEFT_EVENT_TYPES] = {
	{WORD(",\"event\":\"unknown\""), WORD("unknown"), {{0}}},
#include <weft/events.def>
};
#undef EVENT
#undef FIELD

static const struct row *row_of(const struct weft_event *event)
{
	return &rows[event->type < WEFT_EVENT_TYPES ? event->type : 0];
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
		put(text, "\"", 1);
	weft_text_add_string(text, word);
	if (form == JSON)
		put(text, "\"", 1);
}

static inline void add_task(struct weft_text *text, enum form form, weft_task_id task)
{
	if (task == WEFT_TASK_NONE)
		put(text, form == JSON ? "null" : "none", 4);
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
		put(text, event->flag ? "true" : "false", event->flag ? 4 : 5);
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

/* Appends a key and a value; a flag for people as its key if it is set, and otherwise as nothing,
 * because "later=no" in most reads would be noise. A band without the flag ends. */
__attribute__((always_inline)) static inline void add_field_of(struct weft_text *text,
	enum form form, const struct weft_event *event, const struct field *field)
{
	const enum weft_slot slot = field->slot;
	if (form == TEXT && slot == WEFT_SLOT_FLAG) {
		if (event->flag)
			put_word(text, &field->flag);
		else if (event->type == WEFT_EVENT_BAND)
			put(text, " end", 4);
		return;
	}
	if (slot == WEFT_SLOT_CHANGE && !event->is_set)
		put(text, form == JSON ? ",\"add\":" : " add=", form == JSON ? 7 : 5);
	else
		put_word(text, form == JSON ? &field->json : &field->text);
	add_value(text, form, event, slot);
}

__attribute__((always_inline)) static inline void add_row(
	struct weft_text *text, enum form form, const struct weft_event *event)
{
	const struct row *row = row_of(event);
	for (const struct field *field = row->fields; field->json.size; field++)
		if (has_field(event, field->slot))
			add_field_of(text, form, event, field);
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
	static const struct word time = WORD("{\"time\":"), rundown = WORD(",\"rundown\":true"),
							 thread = WORD(",\"thread\":"), process = WORD(",\"process\":"),
							 buffer = WORD(",\"buffer\":");
	put_word(text, &time);
	weft_text_add_u64(text, event->time_ns);
	put_word(text, &row_of(event)->json);
	add_row(text, JSON, event);
	if (event->is_rundown)
		put_word(text, &rundown);
	if (lines->has_threads) {
		put_word(text, &thread);
		weft_text_add_u64(text, event->thread);
	}
	if (lines->has_processes) {
		put_word(text, &process);
		weft_text_add_u64(text, process_of(lines, event));
		put_word(text, &buffer);
		weft_text_add_u64(text, event->buffer);
	}
	put(text, "}\n", 2);
}

/* Appends seconds to the nanosecond, right-aligned up to 9999 s. */
static void add_seconds(struct weft_text *text, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000, fraction = ns % 1000000000;
	char rest[] = ".000000000  ";
	for (uint64_t bound = 1000; bound > 1; bound /= 10)
		if (seconds < bound)
			put(text, " ", 1);
	weft_text_add_u64(text, seconds);
	for (size_t i = 9; i > 0; fraction /= 10)
		rest[i--] = (char)('0' + fraction % 10);
	put(text, rest, sizeof(rest) - 1);
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
	const size_t start = text->size;
	put_word(text, &row_of(event)->text);
	while (!text->error && text->size - start < EVENT_COLUMNS - 1)
		put(text, " ", 1);
	add_row(text, TEXT, event);
	if (event->is_rundown && event->type != WEFT_EVENT_ALIVE)
		put(text, " rundown", 8);
	put(text, "\n", 1);
}
