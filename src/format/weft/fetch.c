/* SPDX-License-Identifier: ISC
 *
 * Copies the new part of a followed packet, and finds out from its header whose events they are and
 * how many before them are missing.
 *
 * A copy is valid if the packet's sequence is the same after it; otherwise the content was
 * overwritten.
 */
#include <stdlib.h>
#include <string.h>

#include "format/weft/follow/followed.h"

void weft__format_followed_release(struct weft__followed *p)
{
	free(p->copy);
	p->copy = NULL;
}

int weft__format_followed_find_thread(
	struct weft__follower *f, struct weft__followed *p, const struct weft__thread *thread)
{
	int error = weft__format_threads_find(&f->threads, thread, p->name, &p->thread);
	f->description->threads = f->threads.list;
	f->description->thread_count = f->threads.count;
	return error;
}

/* For a saved buffer only: adds the gap before the packet, if events are missing there. */
static int find_gap(
	struct weft__follower *f, const struct weft__followed *p, const struct weft_abi_packet *header)
{
	const struct weft__gap_packet packet = {
		.thread = p->thread,
		.known = f->threads.events[p->thread],
		.number = header->number,
		.lost = header->lost,
		.opened_ns = p->next_ns,
	};
	return f->is_saved ? weft__format_gaps_take_packet(&f->gaps, &packet, f->description) : 0;
}

/* The task at the packet's start follows from the thread's earlier events. If some of those are
 * lost, a switch to the task in the packet's header is given first. */
static void compare_numbers(struct weft__follower *f, struct weft__followed *p, uint64_t number)
{
	uint64_t *known = &f->threads.events[p->thread];
	/* UINT64_MAX: see forget_task() and weft/follow/seek.c. */
	bool is_missing = number > *known || *known == UINT64_MAX;
	p->gives_switch = is_missing && (*known > 0 || p->task != WEFT_TASK_NONE);
	*known = number;
}

static int take_header(
	struct weft__follower *f, struct weft__followed *p, const struct weft_abi_packet *header)
{
	const struct weft__thread thread = {header->thread, header->tid, NULL};
	memcpy(p->name, header->name, sizeof(p->name));
	int error = weft__format_followed_find_thread(f, p, &thread);
	if (!error && p->follows_skipped) {
		f->threads.events[p->thread] = header->number;
		error = weft__format_gaps_skip(&f->gaps, p->thread, header->lost);
	}
	if (!error)
		error = find_gap(f, p, header);
	if (error)
		return error;
	if (p->follows_skipped)
		f->threads.events[p->thread] = UINT64_MAX;
	if (!f->is_saved)
		weft__format_follower_settle(f, p, header->before);
	p->cursor.base_ticks = header->base_ticks;
	p->task = header->task;
	p->is_begun = true;
	compare_numbers(f, p, header->number);
	return 0;
}

/* Copies the bytes from the cursor's end on; a stable input is read without a copy. Returns
 * WEFT_OK, WEFT_AGAIN if the bytes were overwritten, or an error. */
static int copy_bytes(
	struct weft__follower *f, struct weft__followed *p, const struct weft_abi_packet *header)
{
	uint32_t from = p->cursor.end, size = header->committed - from;
	if (f->is_stable) {
		p->cursor.at = weft__format_buffer_packet(&f->buffer, p->packet) + from;
	} else {
		p->copy = malloc(size);
		if (!p->copy)
			return WEFT_ERROR_MEMORY;
		if (!weft__format_packet_copy(&f->buffer, p->packet, header, from, p->copy)) {
			weft__format_followed_release(p);
			return WEFT_AGAIN;
		}
		p->cursor.at = p->copy;
	}
	p->cursor.offset = from;
	p->cursor.end = header->committed;
	return WEFT_OK;
}

/* A packet of a stream that is still arriving was copied when its chunk came. */
static int fetch_added(struct weft__follower *f, struct weft__followed *p)
{
	struct weft_abi_packet header;
	memcpy(&header, p->copy, sizeof(header));
	p->cursor =
		weft__format_cursor_begin(p->copy + sizeof(header), header.base_ticks, header.committed);
	return take_header(f, p, &header);
}

int weft__format_followed_fetch(struct weft__follower *f, struct weft__followed *p)
{
	struct weft_abi_packet header;
	if (p->copy) /* an earlier call may have failed after it was made */
		return p->is_begun ? WEFT_OK : fetch_added(f, p);
	enum weft__verdict verdict = weft__format_packet_read(&f->buffer, p->packet, &header);
	if (!weft__format_packet_is_readable(verdict) ||
		weft__format_packet_sequence(&header) != p->sequence)
		return WEFT_AGAIN;
	int error = p->is_begun ? 0 : take_header(f, p, &header);
	if (error)
		return error;
	if (verdict == WEFT__PACKET_DAMAGED || header.committed < p->cursor.end) {
		weft__format_follower_report(
			f, p, offsetof(struct weft_abi_packet, committed), "a packet's size is invalid");
		p->is_damaged = true;
		return WEFT_AGAIN;
	}
	return header.committed == p->cursor.end ? WEFT_AGAIN : copy_bytes(f, p, &header);
}
