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

static uint32_t load_pid(const uint8_t *data, struct weft__ftrace_field field)
{
	return weft__load_u32(data + field.offset);
}

static void load_name(const uint8_t *data, struct weft__ftrace_field field, char name[])
{
	const size_t most = WEFT__FTRACE_NAME_BYTES - 1;
	const size_t size = field.size < most ? field.size : most;
	memcpy(name, data + field.offset, size);
	name[size] = '\0';
}

static bool read_switch(const struct weft__ftrace_formats *f, const uint8_t *data, size_t size,
	struct weft__ftrace_event *event)
{
	if (!has_field(size, f->prev_name) || !has_field(size, f->prev_pid) ||
		!has_field(size, f->prev_state) || !has_field(size, f->next_name) ||
		!has_field(size, f->next_pid))
		return false;
	event->pid = load_pid(data, f->next_pid);
	event->other = load_pid(data, f->prev_pid);
	event->has_ended = weft__load_u32(data + f->prev_state.offset) & STATE_ENDED;
	load_name(data, f->next_name, event->name);
	load_name(data, f->prev_name, event->other_name);
	return true;
}

static bool read_fork(const struct weft__ftrace_formats *f, const uint8_t *data, size_t size,
	struct weft__ftrace_event *event)
{
	if (!has_field(size, f->parent_pid) || !has_field(size, f->child_pid))
		return false;
	event->is_fork = true;
	event->pid = load_pid(data, f->child_pid);
	event->other = load_pid(data, f->parent_pid);
	return true;
}

/* True if the data are of an event that is wanted. */
static bool read_event(const struct weft__ftrace_formats *f, const uint8_t *data, size_t size,
	uint64_t time, struct weft__ftrace_event *event)
{
	if (!has_field(size, f->type))
		return false;
	const uint32_t id = weft__load_u16(data + f->type.offset);
	*event = (struct weft__ftrace_event){.time = time};
	return id == f->switch_id ? read_switch(f, data, size, event)
		   : id == f->fork_id ? read_fork(f, data, size, event)
							  : false;
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

bool weft__format_ftrace_next(const struct weft__ftrace_formats *f, struct weft__ftrace_page *page,
	struct weft__ftrace_event *event)
{
	while (page->end - page->at >= 4) {
		const uint32_t word = weft__load_u32(page->at), type = word & 31, delta = word >> 5;
		const uint8_t *data;
		size_t size;
		if (type >= TYPE_PADDING) {
			if (page->end - page->at < 8 || !take_time(page, type, delta))
				break;
			continue;
		}
		page->time += delta;
		if (!take_data(page, type, &data, &size))
			break;
		if (read_event(f, data, size, page->time, event))
			return true;
	}
	page->at = page->end;
	return false;
}
