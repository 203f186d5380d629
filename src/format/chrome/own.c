/* SPDX-License-Identifier: ISC
 *
 * Events that `weft export --to chrome` wrote have their fields as in `weft dump --json`, so that
 * they are the same again. Its other lines only draw, but for activations: each is a switch.
 */
#include "model/slice.h"
#include "format/chrome/reader.h"

#include <math.h>

#include "base/array.h"
#include "format/chrome/number.h"

bool weft__format_chrome_is_own(const struct weft__chrome_reader *r)
{
	return weft__slice_is(r->entry.category, "weft");
}

/* ---- Fields ---- */

static uint64_t unsigned_of(const struct weft__json_value *value)
{
	uint64_t number;
	return weft__format_chrome_id(value->text, &number) ? number : WEFT_TASK_NONE;
}

static int64_t signed_of(const struct weft__json_value *value)
{
	struct weft__chrome_number number;
	bool is_there = weft__format_chrome_number(value->text, &number) && !number.is_real;
	return is_there ? number.integer : 0;
}

static void set_kind(
	const struct weft_slice name, const struct weft__json_value *value, struct weft_event *event)
{
	const uint64_t number = unsigned_of(value);
	event->kind = WEFT_KIND_UNKNOWN;
	if (value->type == WEFT__JSON_NUMBER && number < UINT16_MAX) {
		event->kind = (uint16_t)number;
		return;
	}
	for (unsigned kind = 0; kind <= WEFT_KIND_UNKNOWN; kind++) {
		const char *known = weft_kind_name(kind);
		if (known && weft__slice_is(name, known)) {
			event->kind = (uint16_t)kind;
			return;
		}
	}
	event->kind_name = name;
}

static void set_clock(struct weft_slice name, struct weft_event *event)
{
	for (unsigned clock = 0; clock < 256; clock++)
		if (weft__slice_is(name, weft_clock_name(clock))) {
			event->kind = (uint16_t)clock;
			return;
		}
}

static void set_change(const struct weft__json_value *value, bool is_set, struct weft_event *event)
{
	struct weft__chrome_number number = {.is_real = true, .real = NAN};
	weft__format_chrome_number(value->text, &number);
	event->is_set = is_set;
	weft__format_chrome_put_number(&number, event);
}

static void set_value(struct weft__chrome_reader *r, enum weft_slot slot,
	const struct weft__json_value *value, struct weft_event *event)
{
	const struct weft_slice text = weft__format_chrome_text(&r->texts, value);
	switch (slot) {
	case WEFT_SLOT_TASK:
		event->task = unsigned_of(value);
		break;
	case WEFT_SLOT_OTHER:
		event->other = unsigned_of(value);
		break;
	case WEFT_SLOT_KIND:
		set_kind(text, value, event);
		break;
	case WEFT_SLOT_BAND:
		event->band = weft__slice_is(text, "gc") ? WEFT_BAND_GC : WEFT_BAND_IDLE;
		break;
	case WEFT_SLOT_FLAG:
		event->flag = value->type == WEFT__JSON_TRUE;
		break;
	case WEFT_SLOT_TEXT:
	case WEFT_SLOT_REASON:
		event->text = text;
		break;
	case WEFT_SLOT_VALUE:
		event->has_value = true;
		event->value = signed_of(value);
		break;
	case WEFT_SLOT_DURATION:
		event->value = signed_of(value);
		break;
	case WEFT_SLOT_CHANGE:
		set_change(value, true, event);
		break;
	case WEFT_SLOT_FIELDS:
		event->field_count = weft__format_chrome_read_fields(r, value);
		event->fields = r->fields;
		break;
	case WEFT_SLOT_CATEGORY:
		event->category = text;
		break;
	case WEFT_SLOT_TRACK:
		event->kind_name = text;
		break;
	case WEFT_SLOT_CLOCK:
		set_clock(text, event);
		break;
	case WEFT_SLOT_BEGIN:
		event->begin_ns = unsigned_of(value);
		break;
	case WEFT_SLOT_END:
		event->end_ns = unsigned_of(value);
		break;
	case WEFT_SLOT_MESSAGE:
		event->key = unsigned_of(value);
		break;
	}
}

/* ---- Events ---- */

static unsigned type_of(struct weft_slice name)
{
	for (unsigned type = 1; type < WEFT_EVENT_TYPES; type++)
		if (weft__slice_is(name, weft_event_describe(type)->name))
			return type;
	return 0;
}

/* The ids of tracks are no others. */
static void limit_span(struct weft_event *event)
{
	const uint64_t number = (event->other - WEFT_TRACK_FIRST) / WEFT_TRACK_LINES;
	event->other = WEFT_TRACK_FIRST + WEFT_TRACK_LINES * (number & UINT32_MAX);
	if (event->kind_name.size == 0)
		event->kind_name = (struct weft_slice){"track", 5};
}

static void make_event(
	struct weft__chrome_reader *r, unsigned type, const struct weft__json_value *fields)
{
	const struct weft_event_description *row = weft_event_describe(type);
	struct weft_event *event = weft__format_chrome_make(r, (enum weft_event_type)type);
	struct weft__json_value value;
	for (size_t i = 0; row->fields[i].key; i++)
		if (weft__format_json_find(fields, row->fields[i].key, &value))
			set_value(r, row->fields[i].slot, &value, event);
		else if (row->fields[i].slot == WEFT_SLOT_CHANGE &&
				 weft__format_json_find(fields, "add", &value))
			set_change(&value, false, event);
	if (type == WEFT_EVENT_SPAN)
		limit_span(event);
	event->is_rundown = weft__format_json_find(fields, "rundown", &value);
}

static uint64_t member(const struct weft__json_value *fields, const char *key)
{
	struct weft__json_value value;
	uint64_t number;
	return weft__format_json_find(fields, key, &value) &&
				   weft__format_chrome_id(value.text, &number)
			   ? number
			   : 0;
}

static uint8_t cause_of(const struct weft__json_value *fields)
{
	struct weft__json_value value;
	uint8_t cause = 0;
	if (!weft__format_json_find(fields, "cause", &value))
		return WEFT_LOSS_CAUSES;
	while (cause < WEFT_LOSS_CAUSES &&
		   !weft__slice_is(value.text, weft_loss_name((enum weft_loss)cause)))
		cause++;
	return cause;
}

static void add_loss(struct weft__chrome_reader *r, const struct weft__json_value *fields)
{
	const struct weft__column column = {&r->losses, sizeof(*r->losses)};
	int error = weft__columns_reserve(&column, 1, &r->loss_capacity, r->loss_count + (size_t)1);
	if (error)
		r->error = error;
	else if (member(fields, "start") <= member(fields, "end"))
		r->losses[r->loss_count++] = (struct weft_loss_period){.start = member(fields, "start"),
			.end = member(fields, "end"),
			.count = member(fields, "count"),
			.thread = r->thread,
			.cause = cause_of(fields)};
}

/* The fields of the event, and its name; false if the entry only draws. */
static bool find_fields(const struct weft__chrome_reader *r, struct weft__json_value *ret_fields,
	struct weft__json_value *ret_name)
{
	*ret_fields = r->entry.weft;
	return (ret_fields->type == WEFT__JSON_OBJECT ||
			   weft__format_json_find(&r->entry.args, "weft", ret_fields)) &&
		   weft__format_json_find(ret_fields, "event", ret_name);
}

bool weft__format_chrome_survey_own(struct weft__chrome_reader *r)
{
	struct weft__json_value fields, name;
	if (!weft__format_chrome_is_own(r))
		return false;
	const bool has_fields = find_fields(r, &fields, &name);
	if (has_fields && weft__slice_is(name.text, "loss"))
		add_loss(r, &fields);
	return !has_fields || !type_of(name.text);
}

void weft__format_chrome_read_own(struct weft__chrome_reader *r)
{
	struct weft__json_value fields, name;
	if (find_fields(r, &fields, &name) && type_of(name.text))
		make_event(r, type_of(name.text), &fields);
}
