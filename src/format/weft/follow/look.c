/* SPDX-License-Identifier: ISC
 *
 * A follower's look at the ring: moves the mark, and finds the packets that have something new.
 *
 * New content may begin earlier than the unread rest of the content before it: a thread in a moment
 * (several events that share one stamp) may claim the packet after another thread wrote later
 * stamps there. So a look also checks the packets that wait in the queue. A packet with new content
 * gets that content's time; if a copied rest of the old content is unread, the rest moves to an
 * entry of its own, which is "detached" from the ring and ends with its copy.
 */
#include "format/weft/follow/followed.h"

void weft__format_followed_enqueue(struct weft__follower *f, struct weft__followed *p)
{
	p->is_waiting = true;
	weft__format_queue_push(&f->queue, (struct weft__queue_entry){p->next_ns, p->sequence,
										   p->offset, (uint32_t)(p - f->followed)});
}

void weft__format_followed_set_content(
	const struct weft__follower *f, struct weft__followed *p, const struct weft_abi_packet *header)
{
	p->sequence = weft__format_packet_sequence(header);
	p->next_ticks = weft__format_packet_opened_ticks(header);
	p->next_ns = weft__format_ticks_to_ns(&f->buffer.clock, p->next_ticks);
	p->cursor = weft__format_cursor_begin(NULL, 0, sizeof(*header));
	p->is_begun = p->is_damaged = p->has_event = p->gives_switch = false;
	p->sure_end = 0;
}

bool weft__format_followed_begin(struct weft__follower *f, struct weft__followed *p)
{
	struct weft_abi_packet header;
	if (!weft__format_packet_is_readable(weft__format_packet_read(&f->buffer, p->packet, &header)))
		return false;
	weft__format_followed_set_content(f, p, &header);
	return true;
}

bool weft__format_followed_has_news(struct weft__follower *f, struct weft__followed *p)
{
	uint32_t committed;
	uint64_t sequence = weft__format_packet_peek(&f->buffer, p->packet, &committed);
	if (sequence == 0)
		return false;
	if (sequence != p->sequence)
		return weft__format_followed_begin(f, p);
	return !p->is_begun || (!p->is_damaged && committed > p->cursor.end);
}

/* ---- New content of a packet that waits with old content ---- */

static uint64_t count_unread(const struct weft__followed *p)
{
	return (p->has_event && p->words.is_counted) + weft__format_cursor_count(p->cursor);
}

/* Moves the unread rest of the copy to an entry of its own. Its events are added to the old
 * packet's account now, because the account of the new content begins after them. False if too many
 * rests are unread. */
static bool detach(struct weft__follower *f, struct weft__followed *p)
{
	if (!f->unused_count)
		return false;
	struct weft__followed *other = &f->followed[f->unused[--f->unused_count]];
	*other = *p;
	p->account.events += count_unread(p);
	p->copy = NULL;
	weft__format_followed_enqueue(f, other);
	return true;
}

/* The switch to the old content's task was not given and never will be. UINT64_MAX differs from the
 * number of events in any packet's header, so the thread's next packet gives its own task. */
static void forget_task(struct weft__follower *f, struct weft__followed *p)
{
	if (p->gives_switch)
		f->threads.events[p->thread] = UINT64_MAX;
	p->gives_switch = false;
}

/* True if the waiting packet has new content, and so another time. The header is read before the
 * old content is detached: if it cannot be read yet, the packet stays as it is. */
static bool renew_waiting(struct weft__follower *f, struct weft__followed *p)
{
	struct weft_abi_packet header;
	uint64_t sequence = weft__format_packet_peek(&f->buffer, p->packet, NULL);
	if (sequence == 0 || sequence == p->sequence ||
		!weft__format_packet_is_readable(weft__format_packet_read(&f->buffer, p->packet, &header)))
		return false;
	bool has_copy = p->copy;
	if (has_copy && !detach(f, p))
		return false;
	if (!has_copy)
		forget_task(f, p);
	weft__format_followed_set_content(f, p, &header);
	return true;
}

/* Restores the order of the queue after the times of some packets have changed. */
static void rebuild_queue(struct weft__follower *f)
{
	for (uint32_t i = 0; i < f->queue.count; i++) {
		struct weft__queue_entry *entry = &f->queue.entries[i];
		entry->time_ns = f->followed[entry->followed].next_ns;
		entry->sequence = f->followed[entry->followed].sequence;
	}
	weft__format_queue_settle(&f->queue);
}

/* ---- Which packets to look at ---- */

/* Looks at a packet; true if its queue entry has another time. Whether it is closed is loaded
 * first: what is committed to a closed packet does not change. */
static bool visit(struct weft__follower *f, struct weft__followed *p)
{
	uint64_t closed = weft__format_packet_closed(&f->buffer, p->packet);
	bool is_renewed = false;
	if (p->is_waiting)
		is_renewed = renew_waiting(f, p);
	else if (weft__format_followed_has_news(f, p))
		weft__format_followed_enqueue(f, p);
	p->is_settled = closed == p->sequence && closed >= p->claimed && !p->is_waiting;
	return is_renewed;
}

static void watch(struct weft__follower *f, struct weft__followed *p)
{
	if (p->is_settled || p->is_watched)
		return;
	p->is_watched = true;
	f->watched[f->watched_count++] = p->packet;
}

/* Visits the packets that may have changed since the last look without a claim. */
static bool visit_watched(struct weft__follower *f)
{
	uint32_t count = f->watched_count;
	bool is_renewed = false;
	f->watched_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct weft__followed *p = &f->followed[f->watched[i]];
		is_renewed |= visit(f, p);
		p->is_watched = false;
		watch(f, p);
	}
	return is_renewed;
}

/* Visits the packet of a claim; 0: none was there. */
static bool visit_claimed(struct weft__follower *f, uint32_t packet, uint64_t claim)
{
	struct weft__followed *p = &f->followed[packet];
	p->claimed = claim;
	bool is_renewed = visit(f, p);
	watch(f, p);
	return is_renewed;
}

static bool visit_all(struct weft__follower *f, uint64_t hand)
{
	const uint32_t packets = f->buffer.packet_count;
	bool is_renewed = false;
	for (uint32_t i = 0; i < packets; i++) {
		uint64_t behind = (hand - 1 - i) % packets; /* claims since that of this packet */
		is_renewed |= visit_claimed(f, i, hand > i ? hand - behind : 0);
	}
	return is_renewed;
}

/* A claim moves the hand before it takes the packet there, so only packets under the hand have new
 * content. A thread may be slow to take one, or skip it because it is open: it is watched until it
 * has the content of that claim or of a later one, as is a packet that is open, or waits. */
void weft__format_follower_scan(struct weft__follower *f)
{
	const struct weft_abi_buffer *header = (const void *)f->buffer.bytes;
	const uint32_t packets = f->buffer.packet_count;
	bool is_live = !f->is_saved && !f->is_finished;
	uint64_t hand = is_live ? __atomic_load_n(&header->hand, __ATOMIC_ACQUIRE) : 0;
	bool is_renewed = false;
	/* A damaged hand may go back. */
	if (!is_live || !f->has_scanned || hand < f->hand || hand - f->hand > packets) {
		is_renewed = visit_all(f, hand);
	} else {
		is_renewed = visit_watched(f);
		for (uint64_t claim = f->hand + 1; claim <= hand; claim++)
			is_renewed |= visit_claimed(f, (uint32_t)((claim - 1) % packets), claim);
	}
	f->hand = hand;
	f->has_scanned = true;
	if (is_renewed)
		rebuild_queue(f);
}

/* ---- Looking ---- */

uint64_t weft__format_follower_latest(struct weft__follower *f)
{
	return weft__format_mark_latest(&f->mark, &f->buffer);
}

/* Events with the mark's own stamp must be ready in the right order. More of them may still come,
 * because a moment may go on; and the scan may have missed one that precedes an event it found: a
 * thread commits one event to a packet that the scan has already visited, and the next to a packet
 * that the scan visits later. A second scan finds the missed event, because it was committed before
 * the one that the first scan found. So only events that were committed at the first scan are sure,
 * and they are ready after the second, which weft__format_follower_take() makes if there are any.
 * Events before the mark need no second scan: they were committed before the first. */
static void note_sure(struct weft__follower *f)
{
	for (uint32_t i = 0; i < f->queue.count; i++) {
		struct weft__followed *p = &f->followed[f->queue.entries[i].followed];
		uint32_t committed;
		bool is_same = !weft__format_followed_is_detached(f, p) &&
					   weft__format_packet_peek(&f->buffer, p->packet, &committed) == p->sequence;
		p->sure_end = is_same ? committed : p->cursor.end;
	}
	f->is_rescanned = false;
}

int weft__format_follower_look(struct weft__follower *f, uint64_t ticks)
{
	int error = weft__format_follower_pass_given(f);
	if (error || f->is_finished)
		return error;
	weft__format_mark_look(&f->mark, ticks, &f->buffer.clock);
	f->mark_ns = weft__format_ticks_to_ns(&f->buffer.clock, f->mark.ticks);
	/* Reads the commits after the sequences, which were loaded with acquire order. */
	weft__format_follower_scan(f);
	note_sure(f);
	weft__format_buffer_load_losses(&f->buffer, f->description->losses);
	return 0;
}

bool weft__format_follower_is_stopped(const struct weft__follower *f)
{
	const struct weft_abi_buffer *header = (const void *)f->buffer.bytes;
	return __atomic_load_n(&header->stopped, __ATOMIC_ACQUIRE);
}

bool weft__format_follower_is_settled(const struct weft__follower *f)
{
	return f->mark.has_looked && f->mark.ticks >= f->mark.previous_ticks;
}

int weft__format_follower_finish(struct weft__follower *f)
{
	int error = weft__format_follower_pass_given(f);
	if (error || f->is_finished)
		return error;
	f->is_finished = true;
	f->mark_ns = UINT64_MAX;
	weft__format_follower_scan(f);
	if (!f->is_saved)
		weft__format_buffer_load_losses(&f->buffer, f->description->losses);
	return 0;
}
