/* SPDX-License-Identifier: ISC
 *
 * Turns a buffer into pieces of a stream. A closed packet is copied whole, word by word: that is
 * nearly all the work, and as fast as memory. An open packet is copied up to its last commit, now
 * and then; its rest follows as a packet of its own, whose header has the thread, task and time at
 * the end of the first part. Only the events of such parts are decoded.
 *
 * Each position of the ring has an account of the events that were ever written there, as for a
 * follower (weft/follow/follower.c): every one of them is either given or lost. A look settles all
 * accounts before it copies anything, so that in the stream, losses come before the packets behind
 * the gap.
 *
 * Packets are copied before the names, but names are given before packets: a packet's names were in
 * the table before its events were committed, so the stream has every name that a packet uses.
 *
 * The program may be hostile, and the stream must not grow faster than a recorder can make it grow:
 * content is taken only if its sequence is new and was claimed, a word of the names only when it is
 * first filled, and losses alone cause a header only at the looks that take open packets too.
 */
#include <stdlib.h>
#include <string.h>

#include "format/weft/drain/draining.h"

static void add_loss(struct weft__drain *d, struct weft__drained *p, uint64_t written)
{
	d->summary.losses[WEFT_LOSS_STALLED] += weft__format_account_close(&p->account, written);
}

/* ---- Looking ---- */

/* Upper bound of the threads that claimed a packet before create and open it later. */
static const uint64_t CLAIMS_PENDING_MAX = 4096;

/* True if a recorder may have claimed this content before the look. Sequences only grow, each is a
 * claim that the hand has counted, and there are no more contents than were there at create or were
 * claimed since. Further contents come from a hostile program: they are skipped, and count as lost
 * if a later packet says so. One that was claimed during the look is left to the next one: it might
 * be visited before the rest of the packet that its thread filled first, and the stream would have
 * a gap until then. */
static bool is_claimed(
	const struct weft__drain *d, const struct weft__drained *p, uint64_t sequence)
{
	uint64_t claims = d->look_hand > d->hand ? d->look_hand - d->hand : 0;
	return sequence > p->sequence && sequence <= d->look_hand &&
		   d->contents < claims + 2 * (uint64_t)d->buffer.packet_count + CLAIMS_PENDING_MAX;
}

/* Detects new content at a position, which closes the account of the content before. */
static void settle(struct weft__drain *d, uint32_t index)
{
	struct weft__drained *p = &d->positions[index];
	struct weft_abi_packet header;
	uint64_t sequence = weft__format_packet_peek(&d->buffer, index, NULL);
	if (sequence == p->sequence || !is_claimed(d, p, sequence) ||
		!weft__format_packet_is_readable(weft__format_packet_read(&d->buffer, index, &header)) ||
		weft__format_packet_sequence(&header) != sequence)
		return;
	add_loss(d, p, header.before);
	p->sequence = sequence;
	p->taken = 0;
	p->is_done = false;
	d->contents++;
}

void weft__format_drain_look(struct weft__drain *d, bool with_open, uint64_t ticks)
{
	uint32_t count = d->buffer.packet_count;
	/* Reads the threads' sequences before the packets: see weft/follow/mark.c. */
	d->is_marking = with_open && ticks && d->can_mark;
	if (d->is_marking)
		weft__format_mark_look(&d->mark, ticks, &d->buffer.clock);
	d->has_taken = false;
	d->look_hand = weft__format_drain_load(&weft__format_drain_header(d)->hand);
	d->first = count ? (uint32_t)(d->look_hand % count) : 0; /* the oldest claim's */
	d->cursor = 0;
	d->with_open = with_open;
	d->are_tables_due |= with_open;
	for (uint32_t i = 0; i < count; i++)
		settle(d, i);
	weft__format_buffer_load_losses(&d->buffer, d->summary.losses);
}

void weft__format_drain_finish(struct weft__drain *d, bool is_written)
{
	d->is_finished = true;
	d->is_written = is_written;
	weft__format_drain_look(d, true, 0);
}

static int give(const struct weft__piece *piece, const void **ret_bytes, size_t *ret_size)
{
	*ret_bytes = piece->bytes;
	*ret_size = piece->size;
	return WEFT_OK;
}

/* Counts as lost the events that could not be read when the program ended, and gives a last header,
 * which has the time of the end. */
static int end(struct weft__drain *d, const void **ret_bytes, size_t *ret_size)
{
	uint64_t written;
	for (uint32_t i = 0; !d->is_written && i < d->buffer.packet_count; i++)
		if (weft__format_packet_written(&d->buffer, i, &written))
			add_loss(d, &d->positions[i], written);
	d->has_ended = true;
	d->front.size = 0;
	int error = weft__format_drain_add_header(d);
	return error ? error : give(&d->front, ret_bytes, ret_size);
}

int weft__format_drain_next(struct weft__drain *d, const void **ret_bytes, size_t *ret_size)
{
	int error = 0;
	if (d->packets.size == 0 || d->packets_given)
		error = weft__format_drain_fill(d);
	d->packets_given = false;
	if (!error)
		error = weft__format_drain_prepare_front(d);
	if (error)
		return error;
	if (d->front.size)
		return give(&d->front, ret_bytes, ret_size);
	if (d->packets.size) {
		d->packets_given = true;
		d->summary.events += d->piece_events;
		d->piece_events = 0;
		return give(&d->packets, ret_bytes, ret_size);
	}
	if (d->is_finished && !d->has_ended)
		return end(d, ret_bytes, ret_size);
	return d->is_finished ? WEFT_END : WEFT_AGAIN;
}

void weft__format_drain_set_end(
	struct weft__drain *d, enum weft_abi_ending ending, const struct weft_abi_clock_reading *end)
{
	d->ending = ending;
	d->end = *end;
}

/* Counts events that will not be taken as lost. Only closed packets say how many they have. */
static void lose_rest(struct weft__drain *d)
{
	for (uint32_t i = 0; i < d->buffer.packet_count; i++) {
		struct weft__drained *p = &d->positions[i];
		struct weft_abi_packet header;
		if (!p->is_done && p->sequence &&
			weft__format_packet_is_readable(weft__format_packet_read(&d->buffer, i, &header)) &&
			weft__format_packet_sequence(&header) == p->sequence &&
			weft__format_packet_state(&header) == WEFT_ABI_PACKET_CLOSED)
			add_loss(d, p, header.written);
		p->is_done = true;
	}
}

void weft__format_drain_cut(struct weft__drain *d)
{
	weft__format_drain_finish(d, true);
	lose_rest(d);
	d->with_open = false; /* one header is enough */
	d->cursor = d->buffer.packet_count;
	if (d->packets_given)
		return;
	/* The piece was copied but not given: its events are lost, too. */
	d->summary.losses[WEFT_LOSS_STALLED] += d->piece_events;
	d->piece_events = d->packets.size = 0;
}

void weft__format_drain_set_guest_facts(
	struct weft__drain *d, const struct weft__guest_facts *guest_facts)
{
	struct weft_abi_buffer header;
	memcpy(&header, d->buffer.header, sizeof(header));
	d->guest_facts = *guest_facts;
	d->has_guest_facts = d->has_new_guest_facts = true;
	weft__format_guest_facts_store(guest_facts, &header);
	d->summary.pid = header.pid;
	memcpy(d->summary.program, header.program, sizeof(header.program));
}

void weft__format_drain_set_series(struct weft__drain *d, uint64_t series)
{
	d->series = series;
}

void weft__format_drain_begin(struct weft__drain *d)
{
	d->begins = true;
}

/* ---- Beginning and end ---- */

static int init(struct weft__drain *d, const uint8_t *bytes, size_t size)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {
		.bytes = bytes, .size = size, .diagnostics = &diagnostics, .description = &description};
	int error = weft__format_buffer_init(&d->buffer, &input);
	if (!error)
		error = weft__format_buffer_keep_names(&d->buffer);
	if (error)
		return error;
	if ((uintptr_t)d->buffer.names % 8)
		d->buffer.names_bytes = 0;
	d->positions = calloc(d->buffer.packet_count + (size_t)1, sizeof(*d->positions));
	d->names = calloc(1, (size_t)d->buffer.names_bytes + 8);
	if (!d->positions || !d->names)
		return WEFT_ERROR_MEMORY;
	error = weft__format_mark_init(&d->mark, &d->buffer, size);
	d->can_mark = !error;
	if (error == WEFT_ERROR_MEMORY)
		return error;
	/* Events that were overwritten before create are in the accounts from the beginning. */
	d->hand = weft__format_drain_load(&weft__format_drain_header(d)->hand);
	for (uint32_t i = 0; i < d->buffer.packet_count; i++) {
		d->positions[i].account.events = weft__format_packet_gone(&d->buffer, i);
		d->summary.losses[WEFT_LOSS_OVERWRITTEN] += d->positions[i].account.events;
	}
	d->summary.pid = d->buffer.pid;
	memcpy(d->summary.program, d->buffer.program, sizeof(d->summary.program));
	d->begins = true;
	weft__format_buffer_load_losses(&d->buffer, d->summary.losses);
	return weft__format_drain_find_tables(d);
}

int weft__format_drain_create(
	const uint8_t *bytes, size_t size, size_t piece_bytes, struct weft__drain **ret_drain)
{
	if (!weft__format_buffer_probe(bytes, size))
		return size ? WEFT_ERROR_FORMAT : WEFT_ERROR_EMPTY;
	struct weft__drain *d = calloc(1, sizeof(*d));
	if (!d)
		return WEFT_ERROR_MEMORY;
	d->piece_bytes = piece_bytes;
	int error = init(d, bytes, size);
	if (error)
		weft__format_drain_destroy(d);
	else
		*ret_drain = d;
	return error;
}

void weft__format_drain_destroy(struct weft__drain *d)
{
	if (!d)
		return;
	weft__format_buffer_finish(&d->buffer);
	weft__format_mark_finish(&d->mark);
	free(d->positions);
	free(d->names);
	weft__format_drain_free_tables(d);
	free(d->packets.bytes);
	free(d->front.bytes);
	weft_text_finish(&d->scratch.text);
	free(d);
}

uint64_t weft__format_drain_latest(const struct weft__drain *d)
{
	return weft__format_mark_latest(&d->mark, &d->buffer);
}

uint32_t weft__format_drain_packet_count(const struct weft__drain *d)
{
	return d->buffer.packet_count;
}

void weft__format_drain_abandon(struct weft__drain *d, uint64_t unwritten, void *ret_header)
{
	d->summary.losses[WEFT_LOSS_STALLED] += unwritten;
	weft__format_drain_write_header(d, ret_header);
	d->summary.losses[WEFT_LOSS_STALLED] -= unwritten;
}

const struct weft_buffer_summary *weft__format_drain_summary(const struct weft__drain *d)
{
	return &d->summary;
}
