/* SPDX-License-Identifier: ISC
 *
 * Spans of OpenTelemetry and of Zipkin, as lines of JSON: each is a task of its program, below the
 * one with the id of its parent, wherever that is in the file. Spans stand in the order in which
 * they ended, so their times are read first and put in order; then each is read again where it is.
 */
#include <stdlib.h>
#include <string.h>

#include "model/slice.h"
#include "base/array.h"
#include "format/chrome/number.h"
#include "format/clock.h"
#include "format/formats.h"
#include "format/spans/table.h"

/* A begin makes at most so many events. */
#define MADE_MAX 6

struct spans_reader {
	struct weft__reader base;
	struct weft__spans_table table;
	struct weft_trace_buffer *buffers;
	struct weft_trace_thread *threads;
	size_t at; /* in the order */
	struct weft_event made[MADE_MAX];
	uint32_t made_count, given;
	char *texts; /* of the object that was read last, without escapes */
	size_t text_capacity, text_used;
	struct weft_field *fields;
	size_t field_capacity;
	uint64_t messages;
	int error;
};

/* ---- Texts and attributes ---- */

static bool make_room(struct spans_reader *r, size_t size)
{
	r->text_used = 0;
	if (size > r->text_capacity) {
		const int error = weft__array_resize(&r->texts, size, 1);
		r->error = error ? error : r->error;
		r->text_capacity = error ? r->text_capacity : size;
	}
	return size <= r->text_capacity;
}

/* Objects and lists are shown as they are written. */
static struct weft_slice text_of(struct spans_reader *r, const struct weft__json_value *value)
{
	if (!value->has_escapes || value->text.size > r->text_capacity - r->text_used)
		return value->text.bytes ? value->text : (struct weft_slice){"", 0};
	char *room = r->texts + r->text_used;
	const size_t size = weft__format_json_unescape(value->text, room);
	r->text_used += size;
	return (struct weft_slice){room, size};
}

static void set_number(const struct weft__json_value *value, struct weft_field *field)
{
	struct weft__chrome_number number;
	if (!weft__format_chrome_number(value->text, &number))
		return;
	field->type = number.is_real ? WEFT_FIELD_F64 : WEFT_FIELD_I64;
	if (number.is_real)
		field->value.f64 = number.real;
	else
		field->value.i64 = number.integer;
}

static void set_field(struct spans_reader *r, const struct weft__json_value *value, bool is_number,
	struct weft_field *field)
{
	field->type = WEFT_FIELD_TEXT;
	field->value.text = text_of(r, value);
	if (value->type == WEFT__JSON_TRUE || value->type == WEFT__JSON_FALSE) {
		field->type = WEFT_FIELD_BOOL;
		field->value.u64 = value->type == WEFT__JSON_TRUE;
	} else if (is_number || value->type == WEFT__JSON_NUMBER) {
		set_number(value, field);
	}
}

static struct weft_field *new_field(struct spans_reader *r, size_t count)
{
	const struct weft__column column = {&r->fields, sizeof(*r->fields)};
	const int error = weft__columns_reserve(&column, 1, &r->field_capacity, count + 1);
	r->error = error ? error : r->error;
	return error ? NULL : &r->fields[count];
}

/* OTLP: [{"key":…,"value":{"intValue":…}}, …] */
static uint32_t read_pairs(struct spans_reader *r, const struct weft__json_value *list)
{
	struct weft__json_value pair, key, any, type, value;
	uint32_t count = 0;
	for (size_t at = 0; weft__format_json_next_element(list, &at, &pair);) {
		size_t in = 0;
		struct weft_field *field = new_field(r, count);
		if (!field)
			break;
		if (!weft__format_json_find(&pair, "key", &key) ||
			!weft__format_json_find(&pair, "value", &any) || any.type != WEFT__JSON_OBJECT ||
			!weft__format_json_next_member(&any, &in, &type, &value))
			continue;
		field->name = text_of(r, &key);
		set_field(r, &value,
			weft__slice_is(type.text, "intValue") || weft__slice_is(type.text, "doubleValue"),
			field);
		count++;
	}
	return count;
}

/* Zipkin: {"key":"value", …} */
static uint32_t read_tags(struct spans_reader *r, const struct weft__json_value *object)
{
	struct weft__json_value key, value;
	uint32_t count = 0;
	size_t at = 0;
	while (object->type == WEFT__JSON_OBJECT &&
		   weft__format_json_next_member(object, &at, &key, &value)) {
		struct weft_field *field = new_field(r, count);
		if (!field)
			break;
		field->name = text_of(r, &key);
		set_field(r, &value, false, field);
		count++;
	}
	return count;
}

/* ---- Events ---- */

static struct weft_event *make(
	struct spans_reader *r, enum weft_event_type type, uint32_t row, uint64_t task)
{
	const struct weft__position *position = &r->table.order.list[r->at];
	struct weft_event *event = &r->made[r->made_count++];
	*event = (struct weft_event){.time_ns = position->time_ns,
		.offset = r->table.rows[row].offset,
		.text = {"", 0},
		.task = task,
		.other = WEFT_TASK_NONE,
		.thread = r->table.rows[row].buffer,
		.buffer = r->table.rows[row].buffer,
		.type = (uint8_t)type};
	return event;
}

static uint64_t task_of(uint32_t row)
{
	return row + UINT64_C(1);
}

/* An edge between any two spans, also of two programs. */
static void make_message(struct spans_reader *r, uint32_t from, uint32_t to)
{
	r->messages++;
	make(r, WEFT_EVENT_SEND, from, task_of(from))->key = r->messages;
	make(r, WEFT_EVENT_RECEIVE, to, task_of(to))->key = r->messages;
}

static void make_remark(
	struct spans_reader *r, uint32_t row, struct weft_slice text, uint32_t count)
{
	struct weft_event *event =
		make(r, count ? WEFT_EVENT_MARK : WEFT_EVENT_NOTE, row, task_of(row));
	event->text = text;
	event->fields = count ? r->fields : NULL;
	event->field_count = count;
}

/* OTLP's kind is a number or a name, Zipkin's a word. */
static struct weft_slice kind_of(const struct weft__span_view *view)
{
	static const char *const names[] = {"server", "client", "producer", "consumer"};
	static const char *const words[] = {"SERVER", "CLIENT", "PRODUCER", "CONSUMER"};
	const struct weft_slice text = view->kind.text;
	uint64_t number = 0;
	weft__format_spans_number(&view->kind, &number);
	for (uint64_t i = 0; i < 4; i++) {
		const size_t size = strlen(words[i]);
		if (number == i + 2 || (text.size >= size && view->kind.type == WEFT__JSON_STRING &&
								   memcmp(text.bytes + text.size - size, words[i], size) == 0))
			return (struct weft_slice){names[i], size};
	}
	return (struct weft_slice){"", 0};
}

/* A parent that begins later, by another clock, cannot have created the span. */
static uint32_t find_parent(struct spans_reader *r, uint32_t row)
{
	const uint32_t parent = weft__format_spans_parent(&r->table, row);
	if (parent == WEFT__SPANS_NONE || r->table.rows[parent].start_ns <= r->table.rows[row].start_ns)
		return parent;
	weft_diagnostics_add(r->base.input.diagnostics, r->table.rows[row].offset,
		"a span begins before its parent; it is shown without that");
	return WEFT__SPANS_NONE;
}

/* Kinds of weft have lower numbers. */
#define FIRST_KIND 100

static void begin(struct spans_reader *r, uint32_t row, const struct weft__span_view *view)
{
	const uint32_t parent = find_parent(r, row);
	const bool is_near =
		parent != WEFT__SPANS_NONE && r->table.rows[parent].buffer == r->table.rows[row].buffer;
	struct weft_event *event =
		make(r, WEFT_EVENT_CREATE, row, is_near ? task_of(parent) : WEFT_TASK_NONE);
	event->other = task_of(row);
	event->kind_name = kind_of(view);
	event->kind =
		event->kind_name.size ? (uint16_t)(FIRST_KIND + event->kind_name.bytes[0]) : WEFT_KIND_TASK;
	if (parent != WEFT__SPANS_NONE && !is_near)
		make_message(r, parent, row);
	make(r, WEFT_EVENT_LABEL, row, task_of(row))->text = text_of(r, &view->name);
	const uint32_t count = r->table.rows[row].is_zipkin ? read_tags(r, &view->attributes)
														: read_pairs(r, &view->attributes);
	if (count)
		make_remark(r, row, (struct weft_slice){"attributes", 10}, count);
}

static void end(struct spans_reader *r, uint32_t row, const struct weft__span_view *view)
{
	struct weft_event *event =
		make(r, view->has_failed ? WEFT_EVENT_FAIL : WEFT_EVENT_RESOLVE, row, WEFT_TASK_NONE);
	event->other = task_of(row);
	event->text = text_of(r, &view->message);
}

static void read_item(struct spans_reader *r, const struct weft__spans_item *item,
	const struct weft__json_value *object)
{
	struct weft__json_value name, list = {0};
	uint64_t time_ns;
	const bool is_zipkin = r->table.rows[item->row].is_zipkin;
	if (item->is_link) {
		if (item->other != WEFT__SPANS_NONE)
			make_message(r, item->other, item->row);
		return;
	}
	if (!weft__format_spans_event(object, is_zipkin, &time_ns, &name))
		return;
	if (!weft__format_json_find(object, "attributes", &list))
		list = (struct weft__json_value){0};
	const uint32_t count = is_zipkin ? 0 : read_pairs(r, &list);
	make_remark(r, item->row, text_of(r, &name), count);
}

/* The bytes may have changed since the first pass: a mapped file can be written to. */
static void read_position(struct spans_reader *r, const struct weft__position *position)
{
	const uint64_t type = position->offset & WEFT__SPANS_TYPE;
	const uint32_t number = WEFT__SPANS_NUMBER(position);
	const struct weft__spans_item *item = type == WEFT__SPANS_ITEM ? &r->table.items[number] : NULL;
	struct weft__json_value object;
	struct weft__span_view view;
	size_t at = (size_t)(item ? item->offset : r->table.rows[number].offset);
	if (!weft__format_json_read(r->table.text, &at, &object) || object.type != WEFT__JSON_OBJECT ||
		!make_room(r, object.text.size))
		return;
	if (item) {
		read_item(r, item, &object);
		return;
	}
	weft__format_spans_view(&object, r->table.rows[number].is_zipkin, &view);
	if (type == WEFT__SPANS_BEGIN)
		begin(r, number, &view);
	else
		end(r, number, &view);
}

static int spans_next(struct weft__reader *base, struct weft_event *ret_event)
{
	struct spans_reader *r = (struct spans_reader *)base;
	while (r->given == r->made_count) {
		if (r->at == r->table.order.count)
			return WEFT_END;
		r->made_count = r->given = 0;
		read_position(r, &r->table.order.list[r->at]);
		if (r->error)
			return r->error;
		r->at++;
	}
	*ret_event = r->made[r->given++];
	return WEFT_OK;
}

/* ---- Opening ---- */

/* A program has one thread of which nothing is known: spans do not say what ran. */
static int describe(struct spans_reader *r, struct weft_trace_description *description)
{
	const struct weft__spans_table *t = &r->table;
	const uint32_t count = t->programs.count ? t->programs.count : 1;
	r->buffers = calloc(count, sizeof(*r->buffers));
	r->threads = calloc(count, sizeof(*r->threads));
	if (!r->buffers || !r->threads)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		r->threads[i] = (struct weft_trace_thread){.name = "", .buffer = i};
		r->buffers[i] = (struct weft_trace_buffer){.process = "", .host = "", .file = ""};
		if (i == t->programs.count)
			continue;
		const struct weft__spans_program program = weft__format_spans_program(t, i);
		r->buffers[i].process = weft__strings_bytes(&t->strings, program.name);
		r->buffers[i].host = weft__strings_bytes(&t->strings, program.host);
		r->buffers[i].pid = program.pid;
	}
	description->buffers = r->buffers;
	description->buffer_count = count;
	description->threads = r->threads;
	description->thread_count = count;
	weft__format_clock_guess(t->order.count ? t->order.list[0].time_ns : 0, &description->clock);
	return 0;
}

static void spans_close(struct weft__reader *base)
{
	struct spans_reader *r = (struct spans_reader *)base;
	weft__format_spans_table_finish(&r->table);
	free(r->buffers);
	free(r->threads);
	free(r->texts);
	free(r->fields);
	free(r);
}

static int spans_open(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct spans_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	int error = weft__format_spans_table_init(&r->table, input);
	if (!error)
		error = describe(r, input->description);
	if (error) {
		spans_close(&r->base);
		return error;
	}
	*ret_reader = &r->base;
	return 0;
}

const struct weft__format weft__format_spans = {
	.name = "spans",
	.probe = weft__format_spans_probe,
	.open = spans_open,
	.next = spans_next,
	.close = spans_close,
};
