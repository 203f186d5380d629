/* SPDX-License-Identifier: ISC
 *
 * What a follower finds when it looks at the ring: the mark, and at which places something is new.
 *
 * A new content may begin earlier than the unread rest of the one before it: a thread that shares
 * one stamp among several events claims the packet after another thread wrote later stamps there.
 * So a look also asks the places that wait in the queue. A place with a new content gets that
 * content's time; if a copied rest of the old content is unread, the rest moves to a place of its
 * own, which is "detached" from the ring and ends with its copy.
 */
#include "format/weft_places.h"

void weft__place_enqueue(struct weft__follower *f, struct weft__place *p)
{
	p->is_waiting = true;
	weft__queue_push(&f->queue,
		(struct weft__queue_entry){p->next_ns, p->sequence, p->offset, (uint32_t)(p - f->places)});
}

void weft__place_set_content(
	const struct weft__follower *f, struct weft__place *p, const struct weft_abi_packet *header)
{
	p->sequence = weft__packet_sequence(header);
	p->next_ns = weft__ticks_to_ns(&f->buffer.clock, weft__packet_opened_ticks(header));
	p->cursor = weft__cursor_begin(NULL, 0, sizeof(*header));
	p->is_begun = p->is_damaged = p->is_sure = p->has_event = p->tells_task = false;
}

bool weft__place_begin(struct weft__follower *f, struct weft__place *p)
{
	struct weft_abi_packet header;
	if (!weft__packet_is_readable(weft__packet_read(&f->buffer, p->packet, &header)))
		return false;
	weft__place_set_content(f, p, &header);
	return true;
}

bool weft__place_has_news(struct weft__follower *f, struct weft__place *p)
{
	uint32_t committed;
	uint64_t sequence = weft__packet_peek(&f->buffer, p->packet, &committed);
	if (sequence == 0)
		return false;
	if (sequence != p->sequence)
		return weft__place_begin(f, p);
	return !p->is_begun || (!p->is_damaged && committed > p->cursor.end);
}

/* ---- A new content at a place that waits with an old one ---- */

static uint64_t count_unread(const struct weft__place *p)
{
	return p->has_event + weft__cursor_count(p->cursor);
}

/* The unread rest of the copy is on its own from here on. Its events count as given already, for
 * the new content's account begins behind them. False if too many rests are unread. */
static bool detach(struct weft__follower *f, struct weft__place *p)
{
	if (!f->unused_count)
		return false;
	struct weft__place *other = &f->places[f->unused[--f->unused_count]];
	*other = *p;
	p->account.events += count_unread(p);
	p->copy = NULL;
	weft__place_enqueue(f, other);
	return true;
}

/* The task that ran when the old content began was not given. No packet begins with this number of
 * events, so the thread's next packet gives its own. */
static void forget_task(struct weft__follower *f, struct weft__place *p)
{
	if (p->tells_task && !p->copy)
		f->threads.events[p->thread] = UINT64_MAX;
	p->tells_task = false;
}

/* True if the waiting place got another time. */
static bool renew_waiting(struct weft__follower *f, struct weft__place *p)
{
	uint64_t sequence = weft__packet_peek(&f->buffer, p->packet, NULL);
	if (sequence == 0 || sequence == p->sequence)
		return false;
	bool has_copy = p->copy;
	if (has_copy && !detach(f, p))
		return false;
	if (!has_copy)
		forget_task(f, p);
	return weft__place_begin(f, p);
}

/* After times of places in the queue have changed. */
static void rebuild_queue(struct weft__follower *f)
{
	for (uint32_t i = 0; i < f->queue.count; i++) {
		struct weft__queue_entry *entry = &f->queue.entries[i];
		entry->time_ns = f->places[entry->place].next_ns;
		entry->sequence = f->places[entry->place].sequence;
	}
	weft__queue_settle(&f->queue);
}

void weft__follower_scan(struct weft__follower *f)
{
	bool is_renewed = false;
	for (uint32_t i = 0; i < f->buffer.packet_count; i++) {
		struct weft__place *p = &f->places[i];
		if (p->is_waiting)
			is_renewed |= renew_waiting(f, p);
		else if (weft__place_has_news(f, p))
			weft__place_enqueue(f, p);
	}
	if (is_renewed)
		rebuild_queue(f);
}

/* ---- Looking ---- */

uint64_t weft__follower_latest(struct weft__follower *f)
{
	return weft__mark_latest(&f->mark, &f->buffer);
}

/* The events seen with the mark's own stamp need not be all that will have it: a moment may go on,
 * from a packet that the scan found read to the next one, that it found later. Events before the
 * mark were committed before the scan. Of those with its stamp, a second scan finds what was
 * committed before the ones that the first scan found, and only these are given. */
static void look_for_equals(struct weft__follower *f)
{
	bool has_equals = false;
	for (uint32_t i = 0; i < f->queue.count; i++) {
		struct weft__place *p = &f->places[f->queue.entries[i].place];
		p->is_sure = true;
		has_equals |= p->next_ns == f->mark_ns;
	}
	if (has_equals)
		weft__follower_scan(f);
}

int weft__follower_look(struct weft__follower *f, uint64_t ticks)
{
	int error = weft__follower_pass_given(f);
	if (error || f->is_finished)
		return error;
	weft__mark_look(&f->mark, ticks, &f->buffer.clock);
	f->mark_ns = weft__ticks_to_ns(&f->buffer.clock, f->mark.ticks);
	/* The commits are read after the sequences, which were loaded with acquire order. */
	weft__follower_scan(f);
	look_for_equals(f);
	weft__buffer_load_losses(&f->buffer, f->description->losses);
	return 0;
}

bool weft__follower_is_stopped(const struct weft__follower *f)
{
	const struct weft_abi_buffer *header = (const void *)f->buffer.bytes;
	return __atomic_load_n(&header->stopped, __ATOMIC_ACQUIRE);
}

bool weft__follower_is_settled(const struct weft__follower *f)
{
	return f->mark.has_looked && f->mark.ticks >= f->mark.previous_ticks;
}

int weft__follower_finish(struct weft__follower *f)
{
	int error = weft__follower_pass_given(f);
	if (error || f->is_finished)
		return error;
	f->is_finished = true;
	f->mark_ns = UINT64_MAX;
	weft__follower_scan(f);
	if (!f->is_saved)
		weft__buffer_load_losses(&f->buffer, f->description->losses);
	return 0;
}
