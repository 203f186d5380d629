/* SPDX-License-Identifier: ISC
 *
 * Takes packets out of the ring: whole, or in parts while their threads write on. A part has a
 * header of its own, with the thread, task and time at its beginning.
 */
#include <string.h>

#include "format/weft/drain/draining.h"
#include "format/weft/event.h"

/* Changes the header to a thread that continued in the packet. */
static void pass_thread(struct weft_abi_packet *h, const struct weft__thread *thread)
{
	h->tid = thread->tid;
	h->thread = thread->number;
	if (thread->name)
		memcpy(h->name, thread->name, sizeof(h->name));
	h->task = WEFT_TASK_NONE;
	h->number = h->lost = 0;
}

/* Returns the offset of the first thread record without a name, or `size`. */
static uint32_t find_nameless(const uint8_t *at, uint32_t size)
{
	struct weft__cursor cursor =
		weft__format_cursor_begin(at, 0, (uint32_t)sizeof(struct weft_abi_packet) + size);
	struct weft__record_words words;
	enum weft__found found;
	while ((found = weft__format_cursor_next(&cursor, &words)) <= WEFT__FOUND_THREAD)
		if (found == WEFT__FOUND_THREAD && !weft__format_record_words_thread(&words).name)
			return (uint32_t)(words.at - at);
	return size;
}

/* Changes the header to the thread of the record at `at`, which has the name of the ring's packet.
 * Returns the record's size. */
static uint32_t pass_nameless(
	struct weft_abi_packet *h, const uint8_t *at, uint32_t size, const struct weft_abi_packet *ring)
{
	struct weft__cursor cursor = weft__format_cursor_begin(at, 0, (uint32_t)sizeof(*h) + size);
	struct weft__record_words words;
	weft__format_cursor_next(&cursor, &words);
	struct weft__thread thread = weft__format_record_words_thread(&words);
	thread.name = (const uint8_t *)ring->name;
	pass_thread(h, &thread);
	return words.count * (uint32_t)sizeof(uint64_t);
}

/* Changes the header to one for the records after these events, and returns the number of
 * events. */
static uint64_t pass_events(
	struct weft__drain *d, struct weft_abi_packet *h, const uint8_t *at, uint32_t size)
{
	struct weft__cursor cursor =
		weft__format_cursor_begin(at, h->base_ticks, (uint32_t)sizeof(*h) + size);
	struct weft__record_words words;
	enum weft__found found;
	uint64_t events = 0;
	while ((found = weft__format_cursor_next(&cursor, &words)) <= WEFT__FOUND_THREAD) {
		struct weft_event event = {0};
		if (found == WEFT__FOUND_THREAD) {
			const struct weft__thread thread = weft__format_record_words_thread(&words);
			pass_thread(h, &thread);
			continue;
		}
		(void)weft__format_event_decode(&d->buffer, &words, &h->task, &d->scratch, &event);
		h->opened_ticks = words.ticks;
		h->number += words.is_counted;
		events += words.is_counted;
	}
	h->base_ticks = cursor.base_ticks;
	return events;
}

/* Counts the events of a part of a packet as given. `closed` is the packet's header if this part is
 * the last one, else NULL. */
static void account(struct weft__drain *d, struct weft__drained *p, const uint8_t *events,
	uint32_t size, const struct weft_abi_packet *closed)
{
	uint64_t count;
	if (closed) {
		count = weft__format_account_close(&p->account, closed->written);
		p->is_done = true;
	} else {
		count = pass_events(d, &p->header, events, size);
		p->account.events += count;
	}
	d->piece_events += count;
}

/* Completes a chunk whose events are in the piece already. */
static void put_part(struct weft__drain *d, struct weft__drained *p,
	const struct weft_abi_packet *ring, uint32_t size)
{
	const struct weft_abi_chunk chunk = {
		.kind = WEFT_ABI_CHUNK_PACKET, .bytes = (uint32_t)sizeof(*ring) + size};
	p->header.state = p->sequence << 2 | WEFT_ABI_PACKET_CLOSED;
	p->header.committed = chunk.bytes;
	p->header.before = p->header.written = 0;
	p->header.thread_records = ring->thread_records;
	memcpy(weft__format_piece_begin_chunk(&d->packets, chunk), &p->header, sizeof(p->header));
	weft__format_piece_end_chunk(&d->packets, chunk.bytes);
	p->taken = (p->taken ? p->taken : (uint32_t)sizeof(*ring)) + size;
	d->has_taken = true;
}

/* Appends the new part of the packet to the piece. False if there is another part: a thread record
 * without a name means the name in the packet's header, so a later part whose header has another
 * name must end before it. */
static bool take_part(struct weft__drain *d, uint32_t index, const struct weft_abi_packet *header)
{
	struct weft__drained *p = &d->positions[index];
	bool is_closed = weft__format_packet_state(header) == WEFT_ABI_PACKET_CLOSED;
	uint32_t from = p->taken ? p->taken : (uint32_t)sizeof(*header);
	uint32_t rest = header->committed - from, size = rest;
	uint8_t *to = d->packets.bytes + d->packets.size + sizeof(struct weft_abi_chunk);
	const uint8_t *events = to + sizeof(*header);
	if (!weft__format_packet_copy(&d->buffer, index, header, from, to + sizeof(*header)))
		return true;
	if (!p->taken)
		p->header = *header;
	else if (memcmp(p->header.name, header->name, sizeof(header->name)) != 0)
		size = find_nameless(events, rest);
	if (size)
		put_part(d, p, header, size);
	account(d, p, events, size, is_closed && size == rest ? header : NULL);
	if (size == rest)
		return true;
	p->taken = from + size + pass_nameless(&p->header, events + size, rest - size, header);
	return false;
}

/* Takes the next part of the position's content. False if there is another part. */
static bool take_position(struct weft__drain *d, uint32_t index)
{
	struct weft__drained *p = &d->positions[index];
	struct weft_abi_packet header;
	if (p->is_done || !p->sequence)
		return true;
	enum weft__verdict verdict = weft__format_packet_read(&d->buffer, index, &header);
	if (!weft__format_packet_is_readable(verdict) ||
		weft__format_packet_sequence(&header) != p->sequence)
		return true;
	if (weft__format_packet_state(&header) == WEFT_ABI_PACKET_OPEN && !d->with_open)
		return true;
	if (verdict == WEFT__PACKET_WHOLE && header.committed >= p->taken)
		return take_part(d, index, &header);
	p->is_done = true; /* its rest counts as lost when it is overwritten */
	return true;
}

/* From one mark to the next while nothing is recorded, at least: however often the caller looks,
 * there is not always something to be taken. */
#define IDLE_NS UINT64_C(50000000)

static bool was_idle(const struct weft__drain *d)
{
	const struct weft__ticks *clock = &d->buffer.clock;
	uint64_t marked = weft__format_ticks_to_ns(clock, d->marked);
	return weft__format_ticks_to_ns(clock, d->mark.ticks) - marked >= IDLE_NS;
}

/* Adds the look's mark, after all positions have been visited. Packets that were taken in this look
 * may have events after the mark, so another mark has to follow. A program that records nothing has
 * marks, too, because a reader of several streams waits for the marks of each. */
static int add_mark(struct weft__drain *d)
{
	const struct weft_abi_chunk chunk = {.kind = WEFT_ABI_CHUNK_MARK, .at = d->mark.ticks};
	d->needs_mark |= d->has_taken;
	if (!d->is_marking || d->mark.ticks <= d->marked || !(d->needs_mark || was_idle(d)))
		return 0;
	int error = weft__format_piece_reserve(&d->packets, sizeof(chunk));
	if (error)
		return error;
	weft__format_piece_begin_chunk(&d->packets, chunk);
	weft__format_piece_end_chunk(&d->packets, 0);
	d->marked = d->mark.ticks;
	d->needs_mark = d->has_taken;
	d->is_marking = false;
	return 0;
}

/* Copies packets until the piece is full or the look has visited all positions. */
int weft__format_drain_fill(struct weft__drain *d)
{
	size_t most = sizeof(struct weft_abi_chunk) + d->buffer.packet_bytes;
	d->packets.size = 0;
	while (d->cursor < d->buffer.packet_count) {
		if (d->packets.size && d->packets.size + most > d->piece_bytes)
			break;
		int error = weft__format_piece_reserve(&d->packets, most);
		if (error)
			return error;
		d->cursor += take_position(d, (d->first + d->cursor) % d->buffer.packet_count);
	}
	return d->cursor == d->buffer.packet_count ? add_mark(d) : 0;
}
