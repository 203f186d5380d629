/* SPDX-License-Identifier: ISC
 *
 * All positions are sorted at once: trace.dat has the events of one processor after the other, and
 * perf.data those of all in pieces. A position takes 24 bytes; an event of the scheduler has 70.
 */
#include "format/ftrace/capture.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/little_endian.h"

/* ---- Cursors ---- */

const uint8_t *weft__format_ftrace_take(struct weft__ftrace_cursor *c, uint64_t size)
{
	if (c->is_short || size > c->size - c->at) {
		c->is_short = true;
		return NULL;
	}
	c->at += (size_t)size;
	return c->bytes + c->at - size;
}

uint64_t weft__format_ftrace_take_number(struct weft__ftrace_cursor *c, unsigned bytes)
{
	const uint8_t *at = weft__format_ftrace_take(c, bytes);
	uint64_t number = 0;
	for (unsigned i = bytes; at && i > 0; i--)
		number = number << 8 | at[i - 1];
	return number;
}

const char *weft__format_ftrace_take_text(struct weft__ftrace_cursor *c)
{
	const uint8_t *start = c->bytes + c->at;
	const uint8_t *end = c->is_short ? NULL : memchr(start, '\0', c->size - c->at);
	c->is_short |= !end;
	if (!end)
		return "";
	c->at += (size_t)(end - start) + 1;
	return (const char *)start;
}

/* ---- Texts of the kernel ---- */

static const char *take_sized(struct weft__ftrace_cursor *c, size_t *ret_size)
{
	const uint64_t size = weft__format_ftrace_take_number(c, 8);
	const uint8_t *text = weft__format_ftrace_take(c, size);
	*ret_size = text ? (size_t)size : 0;
	return text ? (const char *)text : "";
}

void weft__format_ftrace_learn_header(
	struct weft__ftrace_formats *formats, struct weft__ftrace_cursor *c)
{
	size_t size;
	(void)weft__format_ftrace_take_text(c); /* "header_page" */
	const char *text = take_sized(c, &size);
	c->is_short |= !weft__format_ftrace_learn_page(formats, text, size);
	(void)weft__format_ftrace_take_text(c); /* "header_event" */
	(void)take_sized(c, &size);
}

void weft__format_ftrace_skip_events(struct weft__ftrace_cursor *c)
{
	size_t size;
	for (uint64_t i = weft__format_ftrace_take_number(c, 4); i > 0 && !c->is_short; i--)
		(void)take_sized(c, &size);
}

void weft__format_ftrace_learn_systems(
	struct weft__ftrace_formats *formats, struct weft__ftrace_cursor *c)
{
	for (uint64_t i = weft__format_ftrace_take_number(c, 4); i > 0 && !c->is_short; i--) {
		(void)weft__format_ftrace_take_text(c); /* "sched" */
		for (uint64_t k = weft__format_ftrace_take_number(c, 4); k > 0 && !c->is_short; k--) {
			size_t size;
			const char *text = take_sized(c, &size);
			(void)weft__format_ftrace_learn_event(formats, text, size);
		}
	}
}

/* ---- Positions ---- */

static int add(struct weft__ftrace_capture *c, struct weft__ftrace_position position)
{
	const struct weft__column column = {&c->list, sizeof(*c->list)};
	if (position.cpu >= WEFT__FTRACE_CPUS_MAX) {
		c->damaged++;
		return 0;
	}
	int error = weft__columns_reserve(&column, 1, &c->capacity, c->count + 1);
	if (!error)
		c->list[c->count++] = position;
	return error;
}

int weft__format_ftrace_add(
	struct weft__ftrace_capture *c, uint64_t time, const uint8_t *data, size_t size, uint32_t cpu)
{
	struct weft__ftrace_event event;
	if (size > UINT32_MAX || !weft__format_ftrace_read(&c->formats, data, size, time, &event))
		return 0;
	return add(
		c, (struct weft__ftrace_position){time, (uint64_t)(data - c->bytes), (uint32_t)size, cpu});
}

int weft__format_ftrace_add_loss(
	struct weft__ftrace_capture *c, uint64_t time, uint64_t count, uint32_t cpu)
{
	return add(c, (struct weft__ftrace_position){time, count, 0, cpu});
}

/* A loss comes before the events of its time, and the events of a processor keep their order. */
static int compare(const void *a, const void *b)
{
	const struct weft__ftrace_position *first = a, *second = b;
	if (first->time != second->time)
		return first->time < second->time ? -1 : 1;
	if (!first->size != !second->size)
		return first->size ? 1 : -1;
	return (first->at > second->at) - (first->at < second->at);
}

bool weft__format_ftrace_is_capture(const uint8_t *bytes, size_t size)
{
	static const char dat[] = WEFT__FTRACE_TRACE_DAT, perf[] = WEFT__FTRACE_PERF_DATA;
	return (size >= sizeof(dat) && memcmp(bytes, dat, sizeof(dat) - 1) == 0) ||
		   (size >= sizeof(perf) && memcmp(bytes, perf, sizeof(perf) - 1) == 0);
}

int weft__format_ftrace_capture_open(
	const uint8_t *bytes, size_t size, struct weft__ftrace_capture *c)
{
	*c = (struct weft__ftrace_capture){.bytes = bytes, .size = size};
	if (!weft__format_ftrace_is_capture(bytes, size)) {
		c->wrong = "it is neither a trace.dat of trace-cmd nor a perf.data of perf";
		return WEFT_ERROR_FORMAT;
	}
	int error = bytes[0] == 'P' ? weft__format_ftrace_open_perf_data(c)
								: weft__format_ftrace_open_trace_dat(c);
	if (!error && !c->formats.events[WEFT__FTRACE_SWITCH].is_known) {
		c->wrong = "it was recorded without the event sched:sched_switch";
		return WEFT_ERROR_FORMAT;
	}
	if (c->count)
		qsort(c->list, c->count, sizeof(*c->list), compare);
	return error;
}

void weft__format_ftrace_capture_finish(struct weft__ftrace_capture *c)
{
	free(c->list);
	*c = (struct weft__ftrace_capture){0};
}

bool weft__format_ftrace_capture_next(
	struct weft__ftrace_capture *c, struct weft__ftrace_event *event, uint32_t *cpu)
{
	while (c->next < c->count) {
		const struct weft__ftrace_position *position = &c->list[c->next++];
		*cpu = position->cpu;
		if (position->size && weft__format_ftrace_read(&c->formats, c->bytes + position->at,
								  position->size, position->time, event))
			return true;
		if (position->size)
			continue;
		const uint64_t lost = position->at < UINT32_MAX ? position->at : UINT32_MAX;
		*event = (struct weft__ftrace_event){
			.time = position->time, .kind = WEFT__FTRACE_LOSS, .other = (uint32_t)lost};
		return true;
	}
	return false;
}
