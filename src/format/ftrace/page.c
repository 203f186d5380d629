/* SPDX-License-Identifier: ISC
 *
 * The form of pages and events is that of the kernel's ring_buffer.
 */
#include "format/ftrace/page.h"

#include <string.h>

#include "base/little_endian.h"

/* A page's commit. */
#define SIZE_MASK   UINT64_C(0x7ffffff)
#define LOST        UINT64_C(0x80000000)
#define LOST_STORED UINT64_C(0x40000000) /* their number stands behind the events */

/* An event's type, if it is not the length of its data in words. */
enum ftrace_type {
	TYPE_LONG = 0, /* the length in bytes stands before the data, and counts itself */
	TYPE_PADDING = 29,
	TYPE_EXTEND = 30, /* more of the time since the event before */
	TYPE_STAMP = 31,  /* a time, without its highest bits */
};

#define DELTA_BITS 27
#define STAMP_BITS 59

/* The states of a thread that has ended, in the kernel's bits: dead, and a zombie. */
#define STATE_ENDED 0x30u
/* In none of these it would run on, if the scheduler let it. */
#define STATE_SLEEPS 0xffu

/* In an event's flags: it happened in an interrupt, or in what an interrupt has put off. */
#define FLAG_INTERRUPT 0x18u

bool weft__format_ftrace_begin(const struct weft__ftrace_formats *f, const uint8_t *bytes,
	size_t size, struct weft__ftrace_page *page)
{
	if (size < f->data.offset)
		return false;
	const uint64_t commit = weft__load_u64(bytes + f->commit.offset), used = commit & SIZE_MASK;
	const size_t room = size - f->data.offset;
	if (used > room)
		return false;
	*page = (struct weft__ftrace_page){.at = bytes + f->data.offset,
		.end = bytes + f->data.offset + used,
		.time = weft__load_u64(bytes + f->time.offset),
		.has_lost = commit & LOST};
	if (commit & LOST && commit & LOST_STORED && room - used >= 8)
		page->lost = weft__load_u64(page->end);
	return true;
}

static bool has_field(size_t size, struct weft__ftrace_field field)
{
	return field.offset <= size && field.size <= size - field.offset;
}

static void load_name(const uint8_t *data, struct weft__ftrace_field field, char name[])
{
	const size_t most = WEFT__FTRACE_NAME_BYTES - 1;
	const size_t size = field.size < most ? field.size : most;
	memcpy(name, data + field.offset, size);
	name[size] = '\0';
}

static uint32_t load_number(const uint8_t *data, struct weft__ftrace_field field)
{
	return weft__load_u32(data + field.offset);
}

static void fill(
	const struct weft__ftrace_field *fields, const uint8_t *data, struct weft__ftrace_event *event)
{
	const bool is_wake = event->kind >= WEFT__FTRACE_WAKING && event->kind <= WEFT__FTRACE_BORN;
	event->other = is_wake ? event->pid : load_number(data, fields[0]);
	if (is_wake) {
		event->pid = load_number(data, fields[0]);
		load_name(data, fields[1], event->name);
	}
	if (event->kind == WEFT__FTRACE_SWITCH || event->kind == WEFT__FTRACE_FORK)
		event->pid = load_number(data, fields[1]);
	if (event->kind == WEFT__FTRACE_SWITCH) {
		const uint32_t state = load_number(data, fields[2]);
		event->has_ended = state & STATE_ENDED;
		event->is_runnable = !(state & STATE_SLEEPS);
		load_name(data, fields[3], event->other_name);
		load_name(data, fields[4], event->name);
	}
}

bool weft__format_ftrace_read(const struct weft__ftrace_formats *f, const uint8_t *data,
	size_t size, uint64_t time, struct weft__ftrace_event *event)
{
	unsigned k = 0;
	if (!has_field(size, f->type) || !has_field(size, f->flags) || !has_field(size, f->actor))
		return false;
	const uint32_t id = weft__load_u16(data + f->type.offset);
	while (k < WEFT__FTRACE_KINDS && !(f->events[k].is_known && f->events[k].id == id))
		k++;
	if (k == WEFT__FTRACE_KINDS)
		return false;
	for (unsigned i = 0; i < WEFT__FTRACE_FIELDS_MAX; i++)
		if (!has_field(size, f->events[k].fields[i]))
			return false;
	*event = (struct weft__ftrace_event){.time = time,
		.kind = (enum weft__ftrace_kind)k,
		.pid = load_number(data, f->actor),
		.is_interrupt = data[f->flags.offset] & FLAG_INTERRUPT};
	fill(f->events[k].fields, data, event);
	return true;
}

/* Takes a record between events, which has only a time or padding. False if the page ends here. */
static bool take_time(struct weft__ftrace_page *page, uint32_t type, uint32_t delta)
{
	const uint64_t word = weft__load_u32(page->at + 4);
	if (type == TYPE_EXTEND)
		page->time += (word << DELTA_BITS) + delta;
	else if (type == TYPE_STAMP)
		page->time = (page->time >> STAMP_BITS << STAMP_BITS) | (word << DELTA_BITS) | delta;
	else if (!delta) /* the rest of the page is empty */
		return false;
	const size_t bytes = type == TYPE_PADDING ? (size_t)word + 4 : 8;
	page->at += bytes <= (size_t)(page->end - page->at) ? bytes : (size_t)(page->end - page->at);
	return true;
}

/* The data of the event at the page's position, behind which it moves; false if it is damaged. */
static bool take_data(
	struct weft__ftrace_page *page, uint32_t type, const uint8_t **ret_data, size_t *ret_size)
{
	const size_t rest = (size_t)(page->end - page->at) - 4;
	const size_t head = type == TYPE_LONG ? 4 : 0;
	if (rest < head)
		return false;
	const size_t length = head ? weft__load_u32(page->at + 4) : (size_t)type * 4;
	if (length > rest || length < head)
		return false;
	*ret_data = page->at + 4 + head;
	*ret_size = length - head;
	const size_t aligned = (length + 3) / 4 * 4;
	page->at += 4 + (aligned < rest ? aligned : rest);
	return true;
}

bool weft__format_ftrace_next_data(
	struct weft__ftrace_page *page, const uint8_t **ret_data, size_t *ret_size)
{
	while (page->end - page->at >= 4) {
		const uint32_t word = weft__load_u32(page->at), type = word & 31, delta = word >> 5;
		if (type >= TYPE_PADDING) {
			if (page->end - page->at < 8 || !take_time(page, type, delta))
				break;
			continue;
		}
		page->time += delta;
		if (!take_data(page, type, ret_data, ret_size))
			break;
		return true;
	}
	page->at = page->end;
	return false;
}

bool weft__format_ftrace_next(const struct weft__ftrace_formats *f, struct weft__ftrace_page *page,
	struct weft__ftrace_event *event)
{
	const uint8_t *data;
	size_t size;
	while (weft__format_ftrace_next_data(page, &data, &size))
		if (weft__format_ftrace_read(f, data, size, page->time, event))
			return true;
	return false;
}
