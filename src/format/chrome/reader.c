/* SPDX-License-Identifier: ISC
 *
 * Chrome's trace events may stand in any order in the file. So their times are read first and put
 * in order; then the events are read a second time where they are, one after the other.
 */
#include "format/chrome/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/chrome/number.h"
#include "format/clock.h"
#include "format/formats.h"
#include "model/span.h"

/* Negative times are before others in the order of unsigned numbers. */
#define BIAS UINT64_C(1) << 62

/* In the offset of an X; of a B or E. */
#define IS_SLICE (UINT64_C(1) << 63)
#define IS_EDGE  (UINT64_C(1) << 62)
#define OFFSET   (IS_EDGE - 1)

/* ---- Making events ---- */

void weft__format_chrome_report(struct weft__chrome_reader *r, const char *message)
{
	weft_diagnostics_add(r->base.input.diagnostics, r->offset, message);
}

struct weft__chrome_thread *weft__format_chrome_thread(
	struct weft__chrome_reader *r, uint32_t thread)
{
	return &r->threads.list[thread];
}

uint64_t weft__format_chrome_new_task(struct weft__chrome_reader *r)
{
	return ++r->last_task;
}

struct weft_event *weft__format_chrome_make(
	struct weft__chrome_reader *r, enum weft_event_type type)
{
	const struct weft__column column = {&r->made, sizeof(*r->made)};
	int error = weft__columns_reserve(&column, 1, &r->made_capacity, r->made_count + (size_t)1);
	r->error = error ? error : r->error;
	struct weft_event *event = error ? &r->spare : &r->made[r->made_count++];
	*event = (struct weft_event){.time_ns = r->now_ns,
		.offset = r->offset,
		.text = {"", 0},
		.task = WEFT_TASK_NONE,
		.other = WEFT_TASK_NONE,
		.thread = r->thread,
		.buffer = weft__format_chrome_thread(r, r->thread)->process,
		.type = (uint8_t)type};
	return event;
}

void weft__format_chrome_make_edge(
	struct weft__chrome_reader *r, enum weft_event_type type, uint64_t task, uint64_t other)
{
	struct weft_event *event = weft__format_chrome_make(r, type);
	event->task = task;
	event->other = other;
}

void weft__format_chrome_make_text(
	struct weft__chrome_reader *r, enum weft_event_type type, uint64_t task, struct weft_slice text)
{
	struct weft_event *event = weft__format_chrome_make(r, type);
	event->task = task;
	event->text = text;
}

/* ---- Events in the order of time ---- */

static void read_entry(struct weft__chrome_reader *r)
{
	switch (r->entry.phase) {
	case 'B':
	case 'E':
	case 'X':
		weft__format_chrome_read_slice(r);
		break;
	case 'i':
	case 'I':
	case 'R':
		weft__format_chrome_read_instant(r);
		break;
	case 'C':
		weft__format_chrome_read_counter(r);
		break;
	case 's':
	case 't':
	case 'f':
		weft__format_chrome_read_flow(r);
		break;
	default:
		if (weft__format_chrome_is_node(r))
			weft__format_chrome_read_node(r);
		else
			weft__format_chrome_read_async(r);
		break;
	}
}

/* Phases that have a meaning and a time. */
static bool is_read(char phase)
{
	return phase && strchr("BEXiIRCstfbenSTpF", phase);
}

/* Reads the object at a position of the order, which was one before. The bytes may have changed
 * since then: a mapped file can be written to. */
static int read_at(struct weft__chrome_reader *r, const struct weft__position *position)
{
	struct weft__json_value object;
	size_t at = (size_t)(position->offset & OFFSET);
	r->offset = at;
	r->now_ns = position->time_ns;
	if (!weft__format_json_read(r->list.text, &at, &object) || object.type != WEFT__JSON_OBJECT)
		return 0;
	int error = weft__format_chrome_read(&r->texts, &object, &r->entry);
	if (!error)
		error = weft__format_chrome_find_thread(&r->threads, &r->entry, &r->thread);
	if (error || !is_read(r->entry.phase) || r->thread >= r->base.input.description->thread_count)
		return error;
	if (weft__format_chrome_is_own(r))
		weft__format_chrome_read_own(r);
	else
		read_entry(r);
	return r->error;
}

/* Makes the events of the next entry, or of the next end of a slice, which comes first at equal
 * times. False: there are no more. */
static bool make_next(struct weft__chrome_reader *r, int *ret_error)
{
	const bool has_next = r->at < r->order.count;
	const struct weft__position *next = has_next ? &r->order.list[r->at] : NULL;
	const uint32_t ended = weft__format_chrome_next_end(r);
	r->made_count = r->given = 0;
	*ret_error = 0;
	if (ended != WEFT__CHROME_NONE && (!has_next || r->slices[ended].end_ns <= next->time_ns)) {
		weft__format_chrome_end_next(r);
		*ret_error = r->error;
		return true;
	}
	if (!has_next)
		return false;
	r->at++;
	*ret_error = read_at(r, next);
	return true;
}

static int chrome_next(struct weft__reader *base, struct weft_event *ret_event)
{
	struct weft__chrome_reader *r = (struct weft__chrome_reader *)base;
	int error = 0;
	while (r->given == r->made_count)
		if (!make_next(r, &error) || error)
			return error ? error : WEFT_END;
	*ret_event = r->made[r->given++];
	return WEFT_OK;
}

/* ---- Opening ---- */

/* The reason why an event is left out, or NULL. */
static const char *find_fault(const struct weft__chrome_entry *entry)
{
	if (!entry->phase)
		return "an event lacks its type, \"ph\"; it is left out";
	if (!is_read(entry->phase))
		return "an event of a type that weft does not show, such as a sample";
	return entry->has_time ? NULL : "an event lacks its time, \"ts\"; it is left out";
}

static uint64_t mark_of(char phase)
{
	return phase == 'X' ? IS_SLICE : phase == 'B' || phase == 'E' ? IS_EDGE : 0;
}

static int survey_timed(struct weft__chrome_reader *r)
{
	const struct weft__chrome_entry *entry = &r->entry;
	const char *fault = find_fault(entry);
	int error = fault ? 0 : weft__format_chrome_find_thread(&r->threads, entry, &r->thread);
	if (!error && !fault && r->thread == WEFT__CHROME_NONE)
		fault = "an event of more than 65,536 threads or 4,096 processes; it is left out";
	if (fault)
		weft__format_chrome_report(r, fault);
	if (fault || error || weft__format_chrome_survey_own(r))
		return error ? error : r->error;
	return weft__format_order_add(
		&r->order, (struct weft__position){
					   (uint64_t)entry->time_ns + (BIAS), r->offset | mark_of(entry->phase)});
}

static int survey(struct weft__chrome_reader *r)
{
	struct weft__json_value object;
	size_t at = r->list.first;
	int error = 0;
	while (!error && weft__format_chrome_next(&r->list, &at, r->base.input.diagnostics, &object)) {
		r->offset = (uint64_t)(object.text.bytes - r->list.text.bytes);
		error = weft__format_chrome_read(&r->texts, &object, &r->entry);
		if (error)
			return error;
		if (r->entry.phase == 'M')
			error = weft__format_chrome_metadata(&r->threads, &r->texts, &r->entry);
		else
			error = survey_timed(r);
	}
	return error;
}

/* The longest of several X that begin at one time is around the others, wherever it stands. */
static int order_slices(struct weft__chrome_reader *r, struct weft__position *list, size_t count)
{
	struct weft__order by_length = {0};
	int error = 0;
	for (size_t i = 0; i < count && !error; i++) {
		struct weft__json_value object;
		if (!(list[i].offset & IS_SLICE))
			continue;
		size_t at = (size_t)(list[i].offset & OFFSET);
		if (!weft__format_json_read(r->list.text, &at, &object) ||
			weft__format_chrome_read(&r->texts, &object, &r->entry))
			r->entry.duration_ns = 0;
		const struct weft__position position = {
			(BIAS) - (uint64_t)r->entry.duration_ns, list[i].offset};
		error = weft__format_order_add(&by_length, position);
	}
	if (!error)
		error = weft__format_order_sort(&by_length);
	for (size_t i = 0, next = 0; i < count && !error; i++)
		if (list[i].offset & IS_SLICE)
			list[i].offset = by_length.list[next++].offset;
	weft__format_order_finish(&by_length);
	return error;
}

/* None is moved over a B or E, inside of which it may be. */
static int order_equal_times(struct weft__chrome_reader *r)
{
	const struct weft__order *order = &r->order;
	struct weft__position *list = order->list;
	int error = 0;
	for (size_t i = 0, end; i < order->count && !error; i = end) {
		size_t slices = 0;
		for (end = i; end < order->count && list[end].time_ns == list[i].time_ns &&
					  !(list[end].offset & IS_EDGE);
			 end++)
			slices += (list[end].offset & IS_SLICE) != 0;
		if (slices > 1)
			error = order_slices(r, list + i, end - i);
		end += end == i;
	}
	return error;
}

/* Times without the bias, in the period of 2^58 ns that has most events; the first one is not
 * negative. */
static void settle(struct weft__chrome_reader *r)
{
	struct weft__order *order = &r->order;
	size_t first, last;
	if (order->count == 0)
		return;
	weft__format_order_find_span(order, &first, &last);
	const uint64_t start = order->list[first].time_ns, end = order->list[last].time_ns;
	const uint64_t before = start < (BIAS) ? (BIAS)-start : 0;
	if (before)
		weft_diagnostics_add_ns(r->base.input.diagnostics, order->list[first].offset & OFFSET,
			"the clock shows times before its zero; all times are moved forward", before);
	for (size_t i = 0; i < order->count; i++) {
		uint64_t *time_ns = &order->list[i].time_ns;
		if (i < first || i > last)
			weft_diagnostics_add(
				r->base.input.diagnostics, order->list[i].offset & OFFSET, WEFT__SPAN_MESSAGE);
		*time_ns = (i < first ? start : i > last ? end : *time_ns) - (BIAS) + before;
	}
}

static int prepare(struct weft__chrome_reader *r)
{
	int error = weft__format_chrome_threads_init(&r->threads);
	if (!error)
		error = weft__index_init(&r->async_index);
	if (!error)
		error = survey(r);
	if (!error)
		error = weft__format_order_sort(&r->order);
	if (!error)
		error = order_equal_times(r);
	if (error)
		return error;
	settle(r);
	struct weft_clock *clock = &r->base.input.description->clock;
	weft__format_clock_guess(r->order.count ? r->order.list[0].time_ns : 0, clock);
	if (r->threads.clock.name)
		*clock = r->threads.clock;
	r->base.input.description->loss_periods = r->losses;
	r->base.input.description->loss_period_count = r->loss_count;
	return weft__format_chrome_describe(&r->threads, r->base.input.description);
}

static void chrome_close(struct weft__reader *base)
{
	struct weft__chrome_reader *r = (struct weft__chrome_reader *)base;
	weft__format_order_finish(&r->order);
	weft__format_chrome_threads_finish(&r->threads);
	weft__index_finish(&r->async_index);
	free(r->texts.bytes);
	free(r->made);
	free(r->fields);
	free(r->slices);
	free(r->heap);
	free(r->asyncs);
	free(r->losses);
	free(r);
}

static int chrome_open(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct weft__chrome_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	r->unused_slice = WEFT__CHROME_NONE;
	int error = weft__format_chrome_find_list(input->bytes, input->size, &r->list)
					? prepare(r)
					: WEFT_ERROR_FORMAT;
	if (error) {
		chrome_close(&r->base);
		return error;
	}
	*ret_reader = &r->base;
	return 0;
}

static bool chrome_probe(const uint8_t *bytes, size_t size)
{
	struct weft__chrome_list list;
	return weft__format_chrome_find_list(bytes, size, &list);
}

const struct weft__format weft__format_chrome = {
	.name = "chrome",
	.probe = chrome_probe,
	.open = chrome_open,
	.next = chrome_next,
	.close = chrome_close,
};
