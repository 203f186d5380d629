/* SPDX-License-Identifier: ISC */
#include "model/slice.h"
#include "format/spans/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/clock.h"

#define EXAMINED     4096u
#define PROGRAMS_MAX 65536u

bool weft__format_spans_probe(const uint8_t *bytes, size_t size)
{
	const struct weft_slice head = {(const char *)bytes, size < EXAMINED ? size : EXAMINED};
	size_t at = 0;
	if (!weft__format_json_skip_space(head, &at) ||
		(head.bytes[at] != '{' && head.bytes[at] != '['))
		return false;
	return weft__slice_contains(head, "\"resourceSpans\"") ||
		   weft__slice_contains(head, "\"resourceMetrics\"") ||
		   (weft__slice_contains(head, "\"traceId\"") && weft__slice_contains(head, "\"id\"") &&
			   weft__slice_contains(head, "\"timestamp\""));
}

/* ---- Rows ---- */

/* Two spans of a call have the same ids in Zipkin: they are in the index apart. */
static uint64_t hash_ids(
	const struct weft__hash_key *key, const uint64_t trace[2], uint64_t id, bool is_shared)
{
	struct weft__hash hash = weft__hash_begin(key);
	weft__hash_word(&hash, trace[0]);
	weft__hash_word(&hash, trace[1]);
	weft__hash_word(&hash, id);
	weft__hash_word(&hash, is_shared);
	return weft__hash_end(&hash);
}

static uint64_t hash_row(const struct weft__hash_key *key, const void *owner, uint32_t number)
{
	const struct weft__spans_row *row = &((const struct weft__spans_table *)owner)->rows[number];
	return hash_ids(key, row->trace, row->id, row->is_shared);
}

static uint32_t find_row(
	const struct weft__spans_table *t, const uint64_t trace[2], uint64_t id, bool is_shared)
{
	uint32_t slot = weft__index_start(&t->index, hash_ids(&t->index.key, trace, id, is_shared));
	uint32_t number;
	for (; (number = t->index.slots[slot]) != WEFT__INDEX_EMPTY;
		 slot = weft__index_next(&t->index, slot)) {
		const struct weft__spans_row *row = &t->rows[number];
		if (row->id == id && row->is_shared == is_shared && row->trace[0] == trace[0] &&
			row->trace[1] == trace[1])
			return number;
	}
	return WEFT__SPANS_NONE;
}

static uint32_t find_any(const struct weft__spans_table *t, const uint64_t trace[2], uint64_t id)
{
	const uint32_t found = find_row(t, trace, id, false);
	return found != WEFT__SPANS_NONE ? found : find_row(t, trace, id, true);
}

uint32_t weft__format_spans_parent(const struct weft__spans_table *t, uint32_t number)
{
	const struct weft__spans_row *row = &t->rows[number];
	uint32_t parent = WEFT__SPANS_NONE;
	if (row->is_shared)
		parent = find_row(t, row->trace, row->id, false);
	if (parent == WEFT__SPANS_NONE && row->parent)
		parent = find_any(t, row->trace, row->parent);
	return parent == number ? WEFT__SPANS_NONE : parent;
}

static void add_position(struct weft__spans_table *t, uint64_t time_ns, uint64_t what)
{
	const int error = weft__format_order_add(&t->order, (struct weft__position){time_ns, what});
	t->error = error ? error : t->error;
}

static void add_item(struct weft__spans_table *t, uint64_t time_ns,
	const struct weft__json_value *object, bool is_link)
{
	const struct weft__column column = {&t->items, sizeof(*t->items)};
	const int error =
		weft__columns_reserve(&column, 1, &t->item_capacity, t->item_count + (size_t)1);
	if (error) {
		t->error = error;
		return;
	}
	t->items[t->item_count] = (struct weft__spans_item){
		(uint64_t)(object->text.bytes - t->text.bytes), t->row_count, WEFT__SPANS_NONE, is_link};
	add_position(t, time_ns, WEFT__SPANS_ITEM | t->item_count++);
}

static void add_items(
	struct weft__spans_table *t, const struct weft__span_view *view, bool is_zipkin)
{
	struct weft__json_value element, name;
	uint64_t time_ns;
	for (size_t at = 0; weft__format_json_next_element(&view->events, &at, &element);)
		if (weft__format_spans_event(&element, is_zipkin, &time_ns, &name))
			add_item(t, time_ns, &element, false);
	for (size_t at = 0; weft__format_json_next_element(&view->links, &at, &element);)
		add_item(t, view->start_ns, &element, true);
}

/* Adds the row last, because its number is that of its items. */
static void add_row(struct weft__spans_table *t, const struct weft__json_value *object,
	bool is_zipkin, uint32_t buffer, const struct weft__span_view *view)
{
	const struct weft__column column = {&t->rows, sizeof(*t->rows)};
	int error = weft__columns_reserve(&column, 1, &t->row_capacity, t->row_count + (size_t)1);
	if (!error) {
		t->rows[t->row_count] = (struct weft__spans_row){.trace = {view->trace[0], view->trace[1]},
			.id = view->id,
			.parent = view->parent,
			.start_ns = view->start_ns,
			.offset = (uint64_t)(object->text.bytes - t->text.bytes),
			.buffer = buffer,
			.is_zipkin = is_zipkin,
			.is_shared = view->is_shared};
		add_position(t, view->start_ns, WEFT__SPANS_BEGIN | t->row_count);
		add_items(t, view, is_zipkin);
		if (view->end_ns)
			add_position(t, view->end_ns, WEFT__SPANS_END | t->row_count);
		/* The first of several with the same ids is the one that others mean. */
		if (find_row(t, view->trace, view->id, view->is_shared) == WEFT__SPANS_NONE)
			error = weft__index_add(&t->index, t->row_count, hash_row, t);
		t->row_count += !error;
	}
	t->error = error ? error : t->error;
}

/* ---- Programs ---- */

static uint32_t intern(struct weft__spans_table *t, const struct weft__json_value *value)
{
	uint32_t string = 0;
	char *room = NULL;
	struct weft_slice text = {"", 0};
	if (value->type == WEFT__JSON_STRING)
		text = value->text;
	if (value->has_escapes && (room = malloc(text.size + 1)))
		text = (struct weft_slice){room, weft__format_json_unescape(value->text, room)};
	const int error = weft__strings_intern(&t->strings, text.bytes, text.size, &string);
	t->error = error ? error : t->error;
	free(room);
	return string;
}

static uint32_t find_program(struct weft__spans_table *t, struct weft__spans_program program)
{
	uint32_t number = 0;
	int error =
		weft__strings_intern(&t->programs, (const char *)&program, sizeof(program), &number);
	if (!error && number == PROGRAMS_MAX)
		error = WEFT_ERROR_LIMIT;
	t->error = error ? error : t->error;
	return number;
}

struct weft__spans_program weft__format_spans_program(
	const struct weft__spans_table *t, uint32_t number)
{
	struct weft__spans_program program;
	memcpy(&program, weft__strings_bytes(&t->programs, number), sizeof(program));
	return program;
}

static uint32_t program_of_resource(
	struct weft__spans_table *t, const struct weft__json_value *resource)
{
	struct weft__json_value list = {0}, pair, key, value, name = {0}, host = {0}, content;
	struct weft__spans_program program = {0};
	weft__format_json_find(resource, "attributes", &list);
	for (size_t at = 0; weft__format_json_next_element(&list, &at, &pair);) {
		if (!weft__format_json_find(&pair, "key", &key) ||
			!weft__format_json_find(&pair, "value", &value))
			continue;
		if (weft__slice_is(key.text, "process.pid") &&
			weft__format_json_find(&value, "intValue", &content))
			weft__format_spans_number(&content, &program.pid);
		else if (weft__slice_is(key.text, "service.name") &&
				 weft__format_json_find(&value, "stringValue", &content))
			name = content;
		else if (weft__slice_is(key.text, "host.name") &&
				 weft__format_json_find(&value, "stringValue", &content))
			host = content;
	}
	program.name = intern(t, &name);
	program.host = intern(t, &host);
	return find_program(t, program);
}

static uint32_t program_of_endpoint(
	struct weft__spans_table *t, const struct weft__json_value *endpoint)
{
	struct weft__json_value name = {0}, none = {0};
	if (!weft__format_json_find(endpoint, "serviceName", &name))
		name = none;
	return find_program(
		t, (struct weft__spans_program){.name = intern(t, &name), .host = intern(t, &none)});
}

/* ---- Lines ---- */

static void report(
	struct weft__spans_table *t, const struct weft__json_value *object, const char *message)
{
	weft_diagnostics_add(t->diagnostics, (uint64_t)(object->text.bytes - t->text.bytes), message);
}

/* True for a span that is in the table already, byte for byte: exporters send a span again if it
 * may have been lost. Different spans with equal ids are spans of their own. */
static bool is_repeated(const struct weft__spans_table *t, const struct weft__json_value *object,
	uint32_t buffer, const struct weft__span_view *view)
{
	const uint32_t found = find_row(t, view->trace, view->id, view->is_shared);
	const struct weft_slice text = object->text;
	return found != WEFT__SPANS_NONE && t->rows[found].buffer == buffer &&
		   memcmp(t->text.bytes + t->rows[found].offset, text.bytes, text.size) == 0;
}

static void add_span(struct weft__spans_table *t, const struct weft__json_value *object,
	bool is_zipkin, uint32_t buffer, const struct weft__span_view *view)
{
	if (is_repeated(t, object, buffer, view))
		report(t, object, "a repeated span is shown once");
	else
		add_row(t, object, is_zipkin, buffer, view);
}

static void read_span(struct weft__spans_table *t, const struct weft__json_value *object,
	bool is_zipkin, uint32_t buffer)
{
	struct weft__span_view view;
	weft__format_spans_view(object, is_zipkin, &view);
	if (!view.id || !(view.trace[0] | view.trace[1]))
		report(t, object, "a span lacks its ids; it is left out");
	else if (!view.has_start)
		report(t, object, "a span lacks its time; it is left out");
	else
		add_span(t, object, is_zipkin, is_zipkin ? program_of_endpoint(t, &view.endpoint) : buffer,
			&view);
}

static void read_resource(struct weft__spans_table *t, const struct weft__json_value *element)
{
	struct weft__json_value resource = {0}, scopes = {0}, scope, spans, span;
	weft__format_json_find(element, "resource", &resource);
	if (!weft__format_json_find(element, "scopeSpans", &scopes))
		return;
	const uint32_t buffer = program_of_resource(t, &resource);
	for (size_t at = 0; !t->error && weft__format_json_next_element(&scopes, &at, &scope);)
		if (weft__format_json_find(&scope, "spans", &spans))
			for (size_t in = 0; !t->error && weft__format_json_next_element(&spans, &in, &span);)
				read_span(t, &span, false, buffer);
}

static void read_object(struct weft__spans_table *t, const struct weft__json_value *object)
{
	struct weft__json_value list, element;
	if (weft__format_json_find(object, "resourceSpans", &list)) {
		for (size_t at = 0; !t->error && weft__format_json_next_element(&list, &at, &element);)
			read_resource(t, &element);
	} else if (weft__format_json_find(object, "resourceMetrics", &list) ||
			   weft__format_json_find(object, "resourceLogs", &list)) {
		return; /* they have no place in a trace of tasks */
	} else if (weft__format_json_find(object, "traceId", &list)) {
		read_span(t, object, true, 0);
	} else {
		report(t, object, "an object that is not a span; it is left out");
	}
}

static void read_value(struct weft__spans_table *t, const struct weft__json_value *value)
{
	struct weft__json_value element;
	if (value->type == WEFT__JSON_ARRAY) {
		for (size_t at = 0; !t->error && weft__format_json_next_element(value, &at, &element);)
			read_object(t, &element);
	} else {
		read_object(t, value);
	}
}

/* Behind damage the next line goes on. */
static void read_all(struct weft__spans_table *t)
{
	struct weft__json_value value;
	size_t at = 0;
	while (!t->error && weft__format_json_skip_space(t->text, &at)) {
		const size_t start = at;
		if (weft__format_json_read(t->text, &at, &value)) {
			read_value(t, &value);
			continue;
		}
		weft_diagnostics_add(t->diagnostics, start,
			at >= t->text.size ? "the last line is cut off"
							   : "malformed JSON; its line is left out");
		const char *end =
			at < t->text.size ? memchr(t->text.bytes + at, '\n', t->text.size - at) : NULL;
		at = end ? (size_t)(end - t->text.bytes) : t->text.size;
	}
}

/* ---- Links ---- */

/* A link has no time, but weft's own have an attribute. Both spans exist then. */
static uint64_t time_of_link(const struct weft__spans_table *t, const struct weft__json_value *link,
	const struct weft__spans_item *item)
{
	const uint64_t here = t->rows[item->row].start_ns, there = t->rows[item->other].start_ns;
	struct weft__json_value list = {0}, pair, key, any, value;
	uint64_t time_ns = 0;
	weft__format_json_find(link, "attributes", &list);
	for (size_t at = 0; weft__format_json_next_element(&list, &at, &pair);)
		if (weft__format_json_find(&pair, "key", &key) &&
			weft__slice_is(key.text, "weft.time_unix_nano") &&
			weft__format_json_find(&pair, "value", &any) &&
			weft__format_json_find(&any, "intValue", &value))
			weft__format_spans_number(&value, &time_ns);
	time_ns = time_ns > here ? time_ns : here;
	return time_ns > there ? time_ns : there;
}

/* A link may lead to any span of the file, so links are read when all spans are known. */
static void find_links(struct weft__spans_table *t)
{
	for (size_t i = 0; i < t->order.count; i++) {
		struct weft__position *position = &t->order.list[i];
		struct weft__json_value link;
		uint64_t trace[2], id;
		if ((position->offset & WEFT__SPANS_TYPE) != WEFT__SPANS_ITEM)
			continue;
		struct weft__spans_item *item = &t->items[WEFT__SPANS_NUMBER(position)];
		if (!item->is_link)
			continue;
		size_t at = (size_t)item->offset;
		if (weft__format_json_read(t->text, &at, &link) &&
			weft__format_spans_link(&link, trace, &id))
			item->other = find_any(t, trace, id);
		if (item->other != WEFT__SPANS_NONE)
			position->time_ns = time_of_link(t, &link, item);
	}
}

/* ---- The table ---- */

/* All times in the period of 2^58 ns that has most of them. */
static void settle(struct weft__spans_table *t)
{
	struct weft__order *order = &t->order;
	size_t first, last;
	if (order->count == 0)
		return;
	weft__format_order_find_span(order, &first, &last);
	for (size_t i = 0; i < order->count; i++) {
		if (i >= first && i <= last)
			continue;
		weft_diagnostics_add(t->diagnostics, 0, WEFT__SPAN_MESSAGE);
		order->list[i].time_ns = order->list[i < first ? first : last].time_ns;
	}
}

int weft__format_spans_table_init(struct weft__spans_table *t, const struct weft__input *input)
{
	*t = (struct weft__spans_table){
		.text = {(const char *)input->bytes, input->size}, .diagnostics = input->diagnostics};
	int error = weft__strings_init(&t->strings);
	if (!error)
		error = weft__strings_init(&t->programs);
	if (!error)
		error = weft__index_init(&t->index);
	if (error)
		return error;
	read_all(t);
	find_links(t);
	if (!t->error)
		t->error = weft__format_order_sort(&t->order);
	settle(t);
	return t->error;
}

void weft__format_spans_table_finish(struct weft__spans_table *t)
{
	weft__format_order_finish(&t->order);
	weft__index_finish(&t->index);
	weft__strings_finish(&t->strings);
	weft__strings_finish(&t->programs);
	free(t->rows);
	free(t->items);
}
