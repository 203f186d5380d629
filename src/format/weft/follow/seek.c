/* SPDX-License-Identifier: ISC
 *
 * Leaves out the packets before a time, unread. A header does not say when its packet ends: the
 * thread's next packet begins after that. So of each thread the packet that is open at the time is
 * read, and all after it; and the one before that, because it shows whether events are missing
 * between the two, and because the time in one header may be damaged. A switch to its task is given
 * first, as behind a gap.
 *
 * A damaged time may also put a packet before others of its thread. Then the sequences, which
 * ascend, contradict the times, and all packets of that thread are read. A damaged stamp of an
 * event is not noticed: where it would move the event behind the time, it is left out with its
 * packet.
 */
#include <stdlib.h>

#include "base/array.h"
#include "format/weft/follow/followed.h"

/* A waiting packet. */
struct waiting {
	struct weft__queue_entry entry;
	uint32_t thread;
	uint32_t bytes; /* of its content */
	bool is_read;   /* always: its header does not say whose and when its events are */
};

static bool comes_first(const struct waiting *a, const struct waiting *b)
{
	if (a->thread != b->thread)
		return a->thread < b->thread;
	return weft__format_queue_comes_before(&a->entry, &b->entry);
}

static int by_thread(const void *left, const void *right)
{
	return comes_first(left, right) ? -1 : comes_first(right, left);
}

/* Lists the packets that wait, by thread and time. The caller frees the list. */
static int list_waiting(const struct weft__follower *f, struct waiting **ret_list)
{
	struct waiting *list = NULL;
	int error = weft__array_resize(&list, f->queue.count + (size_t)1, sizeof(*list));
	if (error)
		return error;
	for (uint32_t i = 0; i < f->queue.count; i++) {
		const struct weft__followed *p = &f->followed[f->queue.entries[i].followed];
		struct weft_abi_packet header = {0};
		enum weft__verdict verdict = weft__format_packet_read(&f->buffer, p->packet, &header);
		list[i] = (struct waiting){.entry = f->queue.entries[i],
			.thread = header.thread,
			.bytes = verdict == WEFT__PACKET_WHOLE ? header.committed : 0,
			.is_read = verdict != WEFT__PACKET_WHOLE || header.thread_records ||
					   header.base_ticks > weft__format_packet_opened_ticks(&header)};
	}
	qsort(list, f->queue.count, sizeof(*list), by_thread);
	*ret_list = list;
	return 0;
}

/* The first of a thread's packets that has to be read. */
static uint32_t first_needed(const struct waiting *list, uint32_t count, uint64_t time_ns)
{
	uint32_t first = 0;
	for (uint32_t i = 1; i < count; i++) {
		if (list[i].entry.sequence < list[i - 1].entry.sequence)
			return 0;
		if (list[i].entry.time_ns < time_ns)
			first = i - 1;
	}
	return first;
}

static void enqueue(struct weft__follower *f, const struct waiting *w, bool follows_skipped)
{
	f->followed[w->entry.followed].follows_skipped = follows_skipped;
	weft__format_queue_push(&f->queue, w->entry);
}

static void skip(struct weft__follower *f, const struct waiting *w)
{
	struct weft__followed *p = &f->followed[w->entry.followed];
	weft__format_followed_release(p);
	p->is_waiting = p->has_event = false;
}

/* Returns the number of the thread's packets, which are the first in the list, and whether some of
 * them are left out. */
static uint32_t seek_thread(struct weft__follower *f, const struct waiting *list, uint32_t count,
	uint64_t time_ns, bool *ret_skips)
{
	uint32_t own = 1;
	*ret_skips = false;
	while (own < count && list[own].thread == list->thread)
		own++;
	const uint32_t first = first_needed(list, own, time_ns);
	for (uint32_t i = 0; i < own; i++) {
		const bool is_left_out = i < first && !list[i].is_read;
		*ret_skips |= is_left_out;
		if (is_left_out)
			skip(f, &list[i]);
		else
			enqueue(f, &list[i], i > 0 && i <= first && !list[i - 1].is_read);
	}
	return own;
}

#define NO_THREAD UINT32_MAX

/* The thread of the event that was given last, or NO_THREAD. */
static uint32_t thread_of_given(const struct weft__follower *f)
{
	struct weft_abi_packet header;
	if (!f->has_given)
		return NO_THREAD;
	const struct weft__followed *p = &f->followed[f->queue.entries[0].followed];
	const enum weft__verdict verdict = weft__format_packet_read(&f->buffer, p->packet, &header);
	return weft__format_packet_is_readable(verdict) ? header.thread : NO_THREAD;
}

int weft__format_follower_seek(struct weft__follower *f, uint64_t time_ns, bool *ret_follows_given)
{
	struct waiting *list = NULL;
	const uint32_t given = thread_of_given(f);
	*ret_follows_given = false;
	int error = weft__format_follower_pass_given(f);
	if (!error)
		error = list_waiting(f, &list);
	if (error)
		return error;
	const uint32_t count = f->queue.count;
	f->queue.count = 0;
	for (uint32_t at = 0; at < count;) {
		bool skips;
		const uint32_t thread = list[at].thread;
		at += seek_thread(f, list + at, count - at, time_ns, &skips);
		*ret_follows_given |= skips && thread == given;
	}
	free(list);
	return 0;
}

int weft__format_follower_weigh(struct weft__follower *f, weft__format_weigh *take, void *context)
{
	struct waiting *list = NULL;
	int error = list_waiting(f, &list);
	for (uint32_t i = 0; i < f->queue.count && !error; i++) {
		const bool is_last = i + 1 == f->queue.count || list[i + 1].thread != list[i].thread;
		const uint64_t start = list[i].entry.time_ns;
		const uint64_t end = is_last ? UINT64_MAX : list[i + 1].entry.time_ns;
		error = take(context, start, end < start ? start : end, list[i].bytes);
	}
	free(list);
	return error;
}
