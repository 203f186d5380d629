/* SPDX-License-Identifier: ISC
 *
 * Instants are notes, or marks if they have arguments. Counters are one for each of an event's
 * numbers. Flows are messages: their key is the same on both sides, also in two processes.
 */
#include "model/slice.h"
#include "format/chrome/reader.h"

#include "base/array.h"
#include "format/chrome/number.h"

/* ---- Instants ---- */

static bool set_number(const struct weft__json_value *value, struct weft_field *field)
{
	struct weft__chrome_number number;
	if (!weft__format_chrome_number(value->text, &number))
		return false;
	if (number.is_real && weft__format_chrome_id(value->text, &field->value.u64)) {
		field->type = WEFT_FIELD_U64;
		return true;
	}
	field->type = number.is_real ? WEFT_FIELD_F64 : WEFT_FIELD_I64;
	if (number.is_real)
		field->value.f64 = number.real;
	else
		field->value.i64 = number.integer;
	return true;
}

/* Objects and lists have no words in weft; they are fields with their text. */
static void set_field(
	struct weft__chrome_reader *r, const struct weft__json_value *value, struct weft_field *field)
{
	field->type = WEFT_FIELD_TEXT;
	field->value.text =
		value->type == WEFT__JSON_STRING ? weft__format_chrome_text(&r->texts, value) : value->text;
	if (value->type == WEFT__JSON_TRUE || value->type == WEFT__JSON_FALSE) {
		field->type = WEFT_FIELD_BOOL;
		field->value.u64 = value->type == WEFT__JSON_TRUE;
	} else if (value->type == WEFT__JSON_NUMBER) {
		set_number(value, field);
	}
}

uint32_t weft__format_chrome_read_fields(
	struct weft__chrome_reader *r, const struct weft__json_value *object)
{
	struct weft__json_value key, value;
	size_t at = 0, count = 0;
	while (weft__format_json_next_member(object, &at, &key, &value)) {
		const struct weft__column column = {&r->fields, sizeof(*r->fields)};
		int error = weft__columns_reserve(&column, 1, &r->field_capacity, count + 1);
		if (error) {
			r->error = error;
			break;
		}
		r->fields[count].name = weft__format_chrome_text(&r->texts, &key);
		set_field(r, &value, &r->fields[count++]);
	}
	return (uint32_t)count;
}

void weft__format_chrome_make_remark(struct weft__chrome_reader *r, uint64_t task)
{
	const uint32_t count = weft__format_chrome_read_fields(r, &r->entry.args);
	struct weft_event *event =
		weft__format_chrome_make(r, count ? WEFT_EVENT_MARK : WEFT_EVENT_NOTE);
	event->task = task;
	event->text = r->entry.name;
	event->fields = count ? r->fields : NULL;
	event->field_count = count;
}

void weft__format_chrome_read_instant(struct weft__chrome_reader *r)
{
	weft__format_chrome_make_remark(r, weft__format_chrome_actor(r));
}

/* ---- Counters ---- */

/* "memory" if its only number is its value, else "memory free". */
static struct weft_slice name_of_series(
	struct weft__chrome_reader *r, struct weft_slice counter, struct weft_slice series)
{
	if (counter.size == 0)
		return series;
	if (weft__slice_is(series, "value") || series.size == 0)
		return counter;
	return weft__format_chrome_join(&r->texts, counter, " ", series);
}

static void make_sample(struct weft__chrome_reader *r, struct weft_slice counter,
	const struct weft__json_value *key, const struct weft__json_value *value)
{
	struct weft__chrome_number number;
	if ((value->type != WEFT__JSON_NUMBER && value->type != WEFT__JSON_STRING) ||
		!weft__format_chrome_number(value->text, &number)) {
		weft__format_chrome_report(r, "a counter's value is not a number; it is left out");
		return;
	}
	struct weft_event *event = weft__format_chrome_make(r, WEFT_EVENT_COUNTER);
	event->task = weft__format_chrome_running(r);
	event->text = name_of_series(r, counter, weft__format_chrome_text(&r->texts, key));
	event->is_set = true;
	weft__format_chrome_put_number(&number, event);
}

void weft__format_chrome_read_counter(struct weft__chrome_reader *r)
{
	struct weft__json_value key, value;
	struct weft_slice counter = r->entry.name;
	size_t at = 0;
	if (r->entry.id_type != WEFT__CHROME_ID_NONE)
		counter = weft__format_chrome_join(&r->texts, counter, " ", r->entry.id);
	while (weft__format_json_next_member(&r->entry.args, &at, &key, &value))
		make_sample(r, counter, &key, &value);
}

/* ---- Flows ---- */

/* No key that weft's own recorders make begins with this byte, a "C". */
#define KEY_OF_FLOW (UINT64_C(0x43) << 56)

/* Flows are numbered, so that their keys are the same in each run. */
static uint64_t key_of(struct weft__chrome_reader *r, struct weft_slice id, bool is_bound)
{
	const struct weft__hash_key *key = &r->async_index.key;
	const struct weft_slice name = r->entry.name, category = r->entry.category;
	struct weft__hash state = weft__hash_begin(key);
	weft__hash_word(&state, is_bound ? UINT64_MAX - 2 : UINT64_MAX - 3);
	weft__hash_word(&state, weft__hash_bytes(key, id.bytes, id.size));
	if (!is_bound) {
		weft__hash_word(&state, weft__hash_bytes(key, name.bytes, name.size));
		weft__hash_word(&state, weft__hash_bytes(key, category.bytes, category.size));
	}
	const uint64_t hash = weft__hash_end(&state);
	uint32_t found = weft__format_chrome_find_async(r, hash);
	if (found == WEFT__CHROME_NONE)
		found = weft__format_chrome_add_async(r, hash);
	return KEY_OF_FLOW | found;
}

static void make_message(struct weft__chrome_reader *r, enum weft_event_type type, uint64_t key)
{
	const uint64_t task = weft__format_chrome_actor(r);
	struct weft_event *event = weft__format_chrome_make(r, type);
	event->task = task;
	event->key = key;
}

void weft__format_chrome_read_flow(struct weft__chrome_reader *r)
{
	if (r->entry.id_type == WEFT__CHROME_ID_NONE) {
		weft__format_chrome_report(r, "a flow lacks its \"id\"; it is left out");
		return;
	}
	const uint64_t key = key_of(r, r->entry.id, false);
	if (r->entry.phase != 's')
		make_message(r, WEFT_EVENT_RECEIVE, key);
	if (r->entry.phase != 'f')
		make_message(r, WEFT_EVENT_SEND, key);
}

void weft__format_chrome_read_bound_flow(struct weft__chrome_reader *r)
{
	if (r->entry.bind_id.size == 0)
		return;
	const uint64_t key = key_of(r, r->entry.bind_id, true);
	if (r->entry.flows_in)
		make_message(r, WEFT_EVENT_RECEIVE, key);
	if (r->entry.flows_out)
		make_message(r, WEFT_EVENT_SEND, key);
}
