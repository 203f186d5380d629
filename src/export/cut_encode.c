/* SPDX-License-Identifier: ISC
 *
 * Encodes one event. A record has at most 255 words, and its text is padded with NULs. If the event
 * does not fit, or its text ends with a NUL, it is encoded again with its texts outside of the
 * packet.
 *
 * Texts that repeat (names of counters, tags, marks and bands) are stored as names. Labels and
 * notes are stored in their events: most are short or occur once, and would fill the table of
 * names.
 */
#include "export/cut_encode.h"

#include <string.h>

#include <weft/text.h>

#include "abi/event_abi.h"
#include "abi/name_abi.h"

struct encoder {
	struct weft__cut_words *words;
	const struct weft_trace_description *trace;
	struct weft__cut_names *names;
	bool is_far;   /* texts are stored outside of the packet */
	bool overflow; /* it does not fit: encode it again with is_far */
	unsigned small;
	int error;
};

static void put(struct encoder *e, uint64_t word)
{
	if (e->words->count == WEFT__CUT_WORDS_MAX)
		e->overflow = true;
	else
		e->words->list[e->words->count++] = word;
}

/* Appends bytes, padded to a word. */
static void put_bytes(struct encoder *e, struct weft_slice text)
{
	if (text.size > WEFT_ABI_WORDS_MAX * sizeof(uint64_t)) {
		e->overflow = true;
		return;
	}
	for (size_t at = 0; at < text.size; at += 8) {
		uint64_t word = 0;
		memcpy(&word, text.bytes + at, text.size - at < 8 ? text.size - at : 8);
		put(e, word);
	}
}

/* Appends the text that fills the rest of the record. */
static void put_text(struct encoder *e, struct weft_slice text)
{
	if (e->is_far)
		return; /* a text record before the event refers to it */
	if (text.size && text.bytes[text.size - 1] == 0)
		e->overflow = true;
	put_bytes(e, text);
}

static uint16_t name_of(struct encoder *e, struct weft_slice text)
{
	uint16_t id = 0;
	int error = e->is_far ? 0 : weft__export_cut_name(e->names, text, &id);
	if (error)
		e->error = error;
	return id;
}

static void put_name(struct encoder *e, struct weft_slice text)
{
	e->small = name_of(e, text);
	if (e->small == 0)
		put_text(e, text);
}

static void put_field(struct encoder *e, const struct weft_field *field, unsigned *ret_type)
{
	uint64_t word = field->value.u64;
	struct weft_slice text = field->value.text;
	switch (field->type) {
	case WEFT_FIELD_I64:
		*ret_type = WEFT_ABI_VALUE_I64;
		break;
	case WEFT_FIELD_U64:
		*ret_type = WEFT_ABI_VALUE_U64;
		break;
	case WEFT_FIELD_BOOL:
		*ret_type = WEFT_ABI_VALUE_BOOL;
		break;
	case WEFT_FIELD_F64:
		*ret_type = WEFT_ABI_VALUE_F64;
		memcpy(&word, &field->value.f64, sizeof(word));
		break;
	case WEFT_FIELD_TEXT:
		if (!e->is_far) {
			*ret_type = WEFT_ABI_VALUE_TEXT;
			put(e, text.size);
			put_bytes(e, text);
			return;
		}
		*ret_type = WEFT_ABI_VALUE_LONG_TEXT;
		e->error = weft__export_cut_text(e->names, text, &word);
		break;
	}
	put(e, word);
}

/* The mark's name and its fields' names; the caller frees them. */
static struct weft_text shape_of(const struct weft_event *event)
{
	struct weft_text shape = {0};
	weft_text_add(&shape, event->text.bytes, event->text.size);
	for (uint32_t i = 0; i < event->field_count; i++) {
		weft_text_add(&shape, "", 1);
		weft_text_add(&shape, event->fields[i].name.bytes, event->fields[i].name.size);
	}
	return shape;
}

static void put_mark(struct encoder *e, const struct weft_event *event, struct weft_slice shape)
{
	unsigned types_at = e->words->count;
	uint32_t count =
		event->field_count < WEFT_ABI_VALUES_MAX ? event->field_count : WEFT_ABI_VALUES_MAX;
	uint64_t types = count;
	put(e, 0);
	e->small = name_of(e, shape);
	if (e->small == 0 && !e->is_far) {
		put(e, shape.size);
		put_bytes(e, shape);
	}
	for (uint32_t i = 0; !e->error && i < count; i++) {
		unsigned type = 0;
		put_field(e, &event->fields[i], &type);
		types |= (uint64_t)type << (4 * i + 4);
	}
	e->words->list[types_at] = types;
}

static unsigned put_tag(struct encoder *e, const struct weft_event *event)
{
	if (event->has_value)
		put(e, (uint64_t)event->value);
	put_name(e, event->text);
	return event->has_value ? WEFT_ABI_TAG_VALUE : WEFT_ABI_TAG;
}

static unsigned put_counter(struct encoder *e, const struct weft_event *event)
{
	put(e, (uint64_t)event->value); /* also the bits of `real` */
	put_name(e, event->text);
	if (event->type == WEFT_EVENT_TOTAL)
		return event->is_real ? WEFT_ABI_TOTAL_F64 : WEFT_ABI_TOTAL;
	if (event->is_real)
		return event->is_set ? WEFT_ABI_COUNTER_SET_F64 : WEFT_ABI_COUNTER_F64;
	return event->is_set ? WEFT_ABI_COUNTER_SET : WEFT_ABI_COUNTER;
}

/* A kind with a name has the name's number, which may be another than in the trace. */
static unsigned kind_of(struct encoder *e, const struct weft_event *event)
{
	struct weft_text name = {0};
	uint16_t id = 0;
	if (!event->kind_name.size)
		return event->kind;
	weft_text_add(&name, WEFT_ABI_KIND_PREFIX, WEFT_ABI_KIND_PREFIX_BYTES);
	weft_text_add(&name, event->kind_name.bytes, event->kind_name.size);
	int error = name.error;
	if (!error)
		error = weft__export_cut_name(e->names, (struct weft_slice){name.bytes, name.size}, &id);
	weft_text_finish(&name);
	if (error)
		e->error = error;
	bool fits = id && id + WEFT_ABI_KIND_NAMED <= WEFT_ABI_KIND_MAX;
	return fits ? id + WEFT_ABI_KIND_NAMED : WEFT_KIND_UNKNOWN;
}

/* The id of the name of the task's category; 0: none. */
static uint64_t category_of(struct encoder *e, const struct weft_event *event)
{
	uint16_t id = 0;
	int error = event->category.size ? weft__export_cut_name(e->names, event->category, &id) : 0;
	if (error)
		e->error = error;
	return id;
}

static void put_create(struct encoder *e, const struct weft_event *event)
{
	uint64_t category = category_of(e, event);
	e->small = kind_of(e, event);
	put(e, event->other);
	if (category)
		put(e, category);
}

static void put_alive(struct encoder *e, const struct weft_event *event)
{
	e->small = kind_of(e, event);
	put(e, event->has_value ? (uint64_t)event->value : UINT64_MAX);
	put(e, event->other);
	put(e, category_of(e, event) << 16);
	put_text(e, event->text);
}

/* The track keeps its number, and its name gets another. */
static void put_span(struct encoder *e, const struct weft_event *event)
{
	uint64_t number = (event->other - WEFT_TRACK_FIRST) / WEFT_TRACK_LINES & WEFT_ABI_TRACK_NUMBER;
	uint16_t id = 0;
	int error = weft__export_cut_name(e->names, event->kind_name, &id);
	if (error || !id)
		e->error = error ? error : WEFT_ERROR_LIMIT;
	const struct weft__cut_span span = weft__export_cut_span(e->trace, event);
	const uint64_t pair = span.is_pair ? WEFT_ABI_TRACK_PAIR : 0;
	put(e, WEFT_ABI_TRACK(number, id, event->kind & 0xff) | pair);
	put(e, span.begin);
	put(e, span.end);
	if (span.is_pair) {
		put(e, span.now_ticks);
		put(e, span.now_ns);
	}
	put_name(e, event->text);
}

/* Appends the operands; returns the record's kind. */
static unsigned put_operands(
	struct encoder *e, const struct weft_event *event, struct weft_slice text)
{
	switch ((enum weft_event_type)event->type) {
	case WEFT_EVENT_CREATE:
		put_create(e, event);
		break;
	case WEFT_EVENT_READ:
		e->small = event->flag;
		put(e, event->other);
		break;
	case WEFT_EVENT_TRY_READ:
	case WEFT_EVENT_RESOLVE:
	case WEFT_EVENT_CANCEL:
	case WEFT_EVENT_CLOSE:
	case WEFT_EVENT_TIME_OUT:
	case WEFT_EVENT_WAIT_ANY:
	case WEFT_EVENT_ACQUIRE:
	case WEFT_EVENT_RELEASE:
	case WEFT_EVENT_BECOME:
		put(e, event->other);
		break;
	case WEFT_EVENT_FAIL:
		put(e, event->other);
		put_text(e, text);
		break;
	case WEFT_EVENT_LABEL:
	case WEFT_EVENT_NOTE:
		put_text(e, text);
		break;
	case WEFT_EVENT_BEGIN:
	case WEFT_EVENT_STACK:
		put_name(e, text);
		break;
	case WEFT_EVENT_SPAN:
		put_span(e, event);
		break;
	case WEFT_EVENT_TAG:
		return put_tag(e, event);
	case WEFT_EVENT_MARK:
		put_mark(e, event, text);
		break;
	case WEFT_EVENT_BAND:
		put(e, (uint64_t)event->band | (uint64_t)event->flag << 8);
		put_name(e, text);
		break;
	case WEFT_EVENT_COUNTER:
	case WEFT_EVENT_TOTAL:
		return put_counter(e, event);
	case WEFT_EVENT_SWITCH:
		put(e, event->task);
		break;
	case WEFT_EVENT_SIGNAL:
		e->small = event->flag;
		put(e, event->task);
		break;
	case WEFT_EVENT_GC:
	case WEFT_EVENT_OFF_CPU:
		put(e, (uint64_t)event->value);
		break;
	case WEFT_EVENT_SEND:
	case WEFT_EVENT_RECEIVE:
		put(e, event->key);
		break;
	case WEFT_EVENT_ALIVE:
		put_alive(e, event);
		break;
	case WEFT_EVENT_EXPECT:
	case WEFT_EVENT_END:
	case WEFT_EVENT_TYPES:
		break;
	}
	return event->type;
}

/* The event's actor; for events without one, the current task. */
static weft_task_id actor_of(const struct weft_event *event, weft_task_id current)
{
	switch (event->type) {
	case WEFT_EVENT_SIGNAL:
		return event->other;
	case WEFT_EVENT_SWITCH:
	case WEFT_EVENT_BAND:
	case WEFT_EVENT_GC:
	case WEFT_EVENT_SPAN:
		return current;
	default:
		return event->task;
	}
}

/* The thread's current task after the event, as a reader computes it. */
static weft_task_id task_after(const struct weft_event *event, weft_task_id current)
{
	bool runs = event->type == WEFT_EVENT_SWITCH ||
				(event->type == WEFT_EVENT_SIGNAL && event->flag) ||
				(event->type == WEFT_EVENT_READ && !event->flag);
	return runs ? event->task : current;
}

static void encode(
	struct encoder *e, const struct weft_event *event, struct weft_slice text, weft_task_id current)
{
	struct weft__cut_words *w = e->words;
	weft_task_id actor = actor_of(event, current);
	uint64_t number;
	w->count = 0;
	e->small = 0;
	e->overflow = false;
	if (e->is_far) {
		e->error = weft__export_cut_text(e->names, text, &number);
		put(e, WEFT_ABI_HEAD(WEFT_ABI_TEXT, 2, 0));
		put(e, number);
	}
	if (event->is_rundown &&
		event->type != WEFT_EVENT_ALIVE) /* alive events are always part of a rundown */
		put(e, WEFT_ABI_HEAD(WEFT_ABI_RUNDOWN, 1, 0));
	w->head = w->count;
	put(e, 0);
	if (actor != current)
		put(e, actor);
	unsigned kind = put_operands(e, event, text);
	unsigned count = w->count - w->head;
	if (count > WEFT_ABI_WORDS_MAX)
		e->overflow = true;
	if (actor != current)
		kind |= WEFT_ABI_EXPLICIT;
	w->list[w->head] = WEFT_ABI_HEAD(kind, count, e->small);
}

int weft__export_cut_encode(const struct weft_event *event,
	const struct weft_trace_description *trace, struct weft__cut_names *names, weft_task_id *task,
	struct weft__cut_words *ret_words)
{
	/* The format has no field for a switch's reason. */
	struct encoder e = {.words = ret_words, .trace = trace, .names = names};
	struct weft_text shape = {0};
	struct weft_slice text = event->text;
	e.is_far = event->type == WEFT_EVENT_SWITCH && text.size > 0;
	if (event->type == WEFT_EVENT_MARK) {
		shape = shape_of(event);
		text = (struct weft_slice){shape.bytes, shape.size};
		e.error = shape.error;
	}
	if (!e.error)
		encode(&e, event, text, *task);
	if (!e.error && e.overflow) {
		e.is_far = true;
		encode(&e, event, text, *task);
	}
	weft_text_finish(&shape);
	*task = task_after(event, *task);
	return e.error;
}
