/* SPDX-License-Identifier: ISC
 *
 * Turns a buffer into pieces of a stream. A closed packet is copied whole, word by word: that is
 * nearly all the work, and as fast as memory. An open packet is copied up to its last commit, now
 * and then; its rest follows as a packet of its own, whose header has the thread, task and time at
 * the end of the first part. Only the events of such parts are decoded.
 *
 * Each position of the ring has an account of the events that were ever written there, as for a
 * follower (weft_follower.c): every one of them is either given or lost. A look settles all
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
#include "format/weft_drain.h"

#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/name_abi.h"
#include "abi/packet_abi.h"
#include "abi/stream_abi.h"
#include "format/live_memory.h"
#include "format/weft_event.h"
#include "format/weft_mark.h"
#include "format/weft_packet.h"

struct position {
	struct weft_abi_packet header; /* for the next part of the content */
	struct weft__account account;
	uint64_t sequence; /* of the content; 0: none yet */
	uint32_t taken;    /* bytes of the packet already taken; 0: none */
	bool is_done;      /* the content is taken to its end, or is damaged */
};

struct piece {
	uint8_t *bytes;
	size_t size, capacity;
};

struct weft__drain {
	struct weft__buffer buffer;
	struct weft__mark mark;
	struct weft__event_scratch scratch;
	struct weft_buffer_summary summary;
	uint64_t begun[WEFT_LOSS_CAUSES];   /* losses up to the end of the previous file */
	uint64_t written[WEFT_LOSS_CAUSES]; /* losses as of the last header */
	struct position *positions;
	uint8_t *names;              /* the table as it was last given */
	struct piece packets, front; /* `front` comes before `packets` */
	size_t piece_bytes;
	uint64_t piece_events;  /* events in `packets` that are not given yet */
	uint64_t hand;          /* claims before create */
	uint64_t contents;      /* contents taken up so far */
	uint32_t first, cursor; /* this look's first position; positions visited so far */
	uint64_t marked;        /* ticks of the last mark */
	bool with_open, begins, packets_given;
	bool can_mark;   /* the buffer's slots make sense */
	bool is_marking; /* this look ends in a mark */
	bool has_taken;  /* this look has taken packets */
	bool needs_mark; /* the last mark may not cover all packets that were taken */
	bool is_finished, is_written, has_ended;
};

static const struct weft_abi_buffer *header_of(const struct weft__drain *d)
{
	return (const void *)d->buffer.bytes;
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void add_loss(struct weft__drain *d, struct position *p, uint64_t written)
{
	d->summary.losses[WEFT_LOSS_STALLED] += weft__account_close(&p->account, written);
}

/* ---- Looking ---- */

/* Upper bound of the threads that claimed a packet before create and open it later. */
static const uint64_t CLAIMS_PENDING_MAX = 4096;

/* True if a recorder may have claimed this content. Sequences only grow, each is a claim that the
 * hand has counted, and there are no more contents than were there at create or were claimed since.
 * Further contents come from a hostile program: they are skipped, and count as lost if a later
 * packet says so. The hand is loaded after the state (acquire), and was moved before the state was
 * stored. */
static bool is_claimed(const struct weft__drain *d, const struct position *p, uint64_t sequence)
{
	uint64_t hand = load(&header_of(d)->hand);
	uint64_t claims = hand > d->hand ? hand - d->hand : 0;
	return sequence > p->sequence && sequence <= hand &&
		   d->contents < claims + 2 * (uint64_t)d->buffer.packet_count + CLAIMS_PENDING_MAX;
}

/* Detects new content at a position, which closes the account of the content before. */
static void settle(struct weft__drain *d, uint32_t index)
{
	struct position *p = &d->positions[index];
	struct weft_abi_packet header;
	uint64_t sequence = weft__packet_peek(&d->buffer, index, NULL);
	if (sequence == p->sequence || !is_claimed(d, p, sequence) ||
		!weft__packet_is_readable(weft__packet_read(&d->buffer, index, &header)) ||
		weft__packet_sequence(&header) != sequence)
		return;
	add_loss(d, p, header.before);
	p->sequence = sequence;
	p->taken = 0;
	p->is_done = false;
	d->contents++;
}

void weft__drain_look(struct weft__drain *d, bool with_open, uint64_t ticks)
{
	uint32_t count = d->buffer.packet_count;
	/* Reads the threads' sequences before the packets: see weft_mark.c. */
	d->is_marking = with_open && ticks && d->can_mark;
	if (d->is_marking)
		weft__mark_look(&d->mark, ticks, &d->buffer.clock);
	d->has_taken = false;
	d->first = count ? (uint32_t)(load(&header_of(d)->hand) % count) : 0;
	d->cursor = 0;
	d->with_open = with_open;
	for (uint32_t i = 0; i < count; i++)
		settle(d, i);
	weft__buffer_load_losses(&d->buffer, d->summary.losses);
}

void weft__drain_finish(struct weft__drain *d, bool is_written)
{
	d->is_finished = true;
	d->is_written = is_written;
	weft__drain_look(d, true, 0);
}

/* ---- Pieces ---- */

static int reserve(struct piece *piece, size_t more)
{
	if (more <= piece->capacity - piece->size)
		return 0;
	size_t capacity = 2 * piece->capacity + more;
	uint8_t *bytes = realloc(piece->bytes, capacity);
	if (!bytes)
		return WEFT_ERROR_MEMORY;
	piece->bytes = bytes;
	piece->capacity = capacity;
	return 0;
}

/* Writes the header of a chunk and returns where its content goes. The caller has reserved the
 * space. */
static uint8_t *begin_chunk(struct piece *piece, struct weft_abi_chunk chunk)
{
	chunk.magic = WEFT_ABI_CHUNK_MAGIC;
	memcpy(piece->bytes + piece->size, &chunk, sizeof(chunk));
	return piece->bytes + piece->size + sizeof(chunk);
}

static void end_chunk(struct piece *piece, size_t bytes)
{
	piece->size += sizeof(struct weft_abi_chunk) + bytes;
}

/* ---- Packets ---- */

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
		weft__cursor_begin(at, 0, (uint32_t)sizeof(struct weft_abi_packet) + size);
	struct weft__words words;
	enum weft__found found;
	while ((found = weft__cursor_next(&cursor, &words)) <= WEFT__FOUND_THREAD)
		if (found == WEFT__FOUND_THREAD && !weft__words_thread(&words).name)
			return (uint32_t)(words.at - at);
	return size;
}

/* Changes the header to the thread of the record at `at`, which has the name of the ring's packet.
 * Returns the record's size. */
static uint32_t pass_nameless(
	struct weft_abi_packet *h, const uint8_t *at, uint32_t size, const struct weft_abi_packet *ring)
{
	struct weft__cursor cursor = weft__cursor_begin(at, 0, (uint32_t)sizeof(*h) + size);
	struct weft__words words;
	weft__cursor_next(&cursor, &words);
	struct weft__thread thread = weft__words_thread(&words);
	thread.name = (const uint8_t *)ring->name;
	pass_thread(h, &thread);
	return words.count * (uint32_t)sizeof(uint64_t);
}

/* Changes the header to one for the records after these events, and returns the number of
 * events. */
static uint64_t pass_events(
	struct weft__drain *d, struct weft_abi_packet *h, const uint8_t *at, uint32_t size)
{
	struct weft__cursor cursor = weft__cursor_begin(at, h->base_ticks, (uint32_t)sizeof(*h) + size);
	struct weft__words words;
	enum weft__found found;
	uint64_t events = 0;
	while ((found = weft__cursor_next(&cursor, &words)) <= WEFT__FOUND_THREAD) {
		struct weft_event event = {0};
		if (found == WEFT__FOUND_THREAD) {
			const struct weft__thread thread = weft__words_thread(&words);
			pass_thread(h, &thread);
			continue;
		}
		(void)weft__event_decode(&d->buffer, &words, &h->task, &d->scratch, &event);
		h->opened_ticks = words.ticks;
		h->number++;
		events++;
	}
	h->base_ticks = cursor.base_ticks;
	return events;
}

/* Counts the events of a part of a packet as given. `closed` is the packet's header if this part is
 * the last one, else NULL. */
static void account(struct weft__drain *d, struct position *p, const uint8_t *events, uint32_t size,
	const struct weft_abi_packet *closed)
{
	uint64_t count;
	if (closed) {
		count = weft__account_close(&p->account, closed->written);
		p->is_done = true;
	} else {
		count = pass_events(d, &p->header, events, size);
		p->account.events += count;
	}
	d->piece_events += count;
}

/* Completes a chunk whose events are in the piece already. */
static void put_part(
	struct weft__drain *d, struct position *p, const struct weft_abi_packet *ring, uint32_t size)
{
	const struct weft_abi_chunk chunk = {
		.kind = WEFT_ABI_CHUNK_PACKET, .bytes = (uint32_t)sizeof(*ring) + size};
	p->header.state = p->sequence << 2 | WEFT_ABI_PACKET_CLOSED;
	p->header.committed = chunk.bytes;
	p->header.before = p->header.written = 0;
	p->header.thread_records = ring->thread_records;
	memcpy(begin_chunk(&d->packets, chunk), &p->header, sizeof(p->header));
	end_chunk(&d->packets, chunk.bytes);
	p->taken = (p->taken ? p->taken : (uint32_t)sizeof(*ring)) + size;
	d->has_taken = true;
}

/* Appends the new part of the packet to the piece. False if there is another part: a thread record
 * without a name means the name in the packet's header, so a later part whose header has another
 * name must end before it. */
static bool take_part(struct weft__drain *d, uint32_t index, const struct weft_abi_packet *header)
{
	struct position *p = &d->positions[index];
	bool is_closed = weft__packet_state(header) == WEFT_ABI_PACKET_CLOSED;
	uint32_t from = p->taken ? p->taken : (uint32_t)sizeof(*header);
	uint32_t rest = header->committed - from, size = rest;
	uint8_t *to = d->packets.bytes + d->packets.size + sizeof(struct weft_abi_chunk);
	const uint8_t *events = to + sizeof(*header);
	if (!weft__packet_copy(&d->buffer, index, header, from, to + sizeof(*header)))
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
	struct position *p = &d->positions[index];
	struct weft_abi_packet header;
	if (p->is_done || !p->sequence)
		return true;
	enum weft__verdict verdict = weft__packet_read(&d->buffer, index, &header);
	if (!weft__packet_is_readable(verdict) || weft__packet_sequence(&header) != p->sequence)
		return true;
	if (weft__packet_state(&header) == WEFT_ABI_PACKET_OPEN && !d->with_open)
		return true;
	if (verdict == WEFT__PACKET_WHOLE && header.committed >= p->taken)
		return take_part(d, index, &header);
	p->is_done = true; /* its rest counts as lost when it is overwritten */
	return true;
}

/* Adds the look's mark, after all positions have been visited. Packets that were taken in this look
 * may have events after the mark, so another mark has to follow. */
static int add_mark(struct weft__drain *d)
{
	const struct weft_abi_chunk chunk = {.kind = WEFT_ABI_CHUNK_MARK, .at = d->mark.ticks};
	d->needs_mark |= d->has_taken;
	if (!d->is_marking || !d->needs_mark || d->mark.ticks <= d->marked)
		return 0;
	int error = reserve(&d->packets, sizeof(chunk));
	if (error)
		return error;
	begin_chunk(&d->packets, chunk);
	end_chunk(&d->packets, 0);
	d->marked = d->mark.ticks;
	d->needs_mark = d->has_taken;
	d->is_marking = false;
	return 0;
}

/* Copies packets until the piece is full or the look has visited all positions. */
static int fill(struct weft__drain *d)
{
	size_t most = sizeof(struct weft_abi_chunk) + d->buffer.packet_bytes;
	d->packets.size = 0;
	while (d->cursor < d->buffer.packet_count) {
		if (d->packets.size && d->packets.size + most > d->piece_bytes)
			break;
		int error = reserve(&d->packets, most);
		if (error)
			return error;
		d->cursor += take_position(d, (d->first + d->cursor) % d->buffer.packet_count);
	}
	return d->cursor == d->buffer.packet_count ? add_mark(d) : 0;
}

/* ---- Names and headers, which come before packets ---- */

static uint64_t *name_word(const struct weft__drain *d, uint32_t at)
{
	return (uint64_t *)(void *)(d->names + at);
}

/* Copies the words from `at` on that were filled since the last call, and returns where they end. A
 * recorder fills a word once; a later value comes from a hostile program and is ignored. */
static uint32_t take_new_words(struct weft__drain *d, uint32_t at, uint32_t end)
{
	for (; at < end; at += 8) {
		uint64_t word = load((const uint64_t *)(const void *)(d->buffer.names + at));
		if (*name_word(d, at) || !word)
			break;
		*name_word(d, at) = word;
	}
	return at;
}

static int add_names_chunk(struct weft__drain *d, uint32_t from, uint32_t end)
{
	const struct weft_abi_chunk chunk = {
		.kind = WEFT_ABI_CHUNK_NAMES, .bytes = end - from, .at = from};
	int error = end > from ? reserve(&d->front, sizeof(chunk) + chunk.bytes) : 0;
	if (error || end == from)
		return error;
	memcpy(begin_chunk(&d->front, chunk), d->names + from, chunk.bytes);
	end_chunk(&d->front, chunk.bytes);
	return 0;
}

/* Changes with at most this gap between them go into one chunk. */
static const uint32_t NAMES_GAP_BYTES = 64;

/* Adds the names that are new in the table. They may be anywhere in it, because entries are filled
 * in any order. A new file gets the whole table. */
static int add_names(struct weft__drain *d)
{
	uint32_t used = __atomic_load_n(&header_of(d)->names_used, __ATOMIC_RELAXED);
	if (used > d->buffer.names_bytes)
		used = (uint32_t)d->buffer.names_bytes;
	used &= ~7u;
	uint32_t from = 0, end = 0; /* of a chunk */
	uint32_t at = 0;
	while (at < used) {
		uint32_t next = take_new_words(d, at, used);
		if (next == at) {
			at += 8;
			continue;
		}
		if (at > end + NAMES_GAP_BYTES) {
			int error = d->begins ? 0 : add_names_chunk(d, from, end);
			if (error)
				return error;
			from = at;
		}
		at = end = next;
	}
	return d->begins ? add_names_chunk(d, 0, used) : add_names_chunk(d, from, end);
}

/* Writes the buffer's header as the header of a stream. */
static void write_header(struct weft__drain *d, uint8_t *to)
{
	struct weft_abi_buffer header;
	weft__live_copy(&header, d->buffer.bytes, sizeof(header));
	memcpy(&header, d->buffer.header, offsetof(struct weft_abi_buffer, uuid));
	header.stream = 1;
	header.packets_offset = sizeof(header);
	header.packet_bytes = d->buffer.packet_bytes;
	header.packet_count = 0;
	header.names_offset = header.names_bytes = header.names_index = 0;
	header.slots_offset = header.slot_count = header.metrics_offset = header.metrics_bytes = 0;
	header.waiters = 0;
	memcpy(d->written, d->summary.losses, sizeof(d->written));
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		header.losses[cause] = d->summary.losses[cause] - d->begun[cause];
	memcpy(to, &header, sizeof(header));
}

static int add_header(struct weft__drain *d)
{
	const struct weft_abi_chunk chunk = {
		.kind = WEFT_ABI_CHUNK_HEADER, .bytes = sizeof(struct weft_abi_buffer)};
	int error = reserve(&d->front, sizeof(chunk) + chunk.bytes);
	if (error)
		return error;
	write_header(d, begin_chunk(&d->front, chunk));
	end_chunk(&d->front, chunk.bytes);
	return 0;
}

static int begin_file(struct weft__drain *d)
{
	int error = reserve(&d->front, sizeof(struct weft_abi_buffer));
	if (error)
		return error;
	memcpy(d->begun, d->written, sizeof(d->begun));
	write_header(d, d->front.bytes);
	d->front.size = sizeof(struct weft_abi_buffer);
	error = add_names(d);
	d->begins = error;
	return error;
}

static bool has_new_losses(const struct weft__drain *d)
{
	return memcmp(d->written, d->summary.losses, sizeof(d->written)) != 0;
}

/* Prepares the names and headers that must precede the copied packets in the file. */
static int prepare_front(struct weft__drain *d)
{
	d->front.size = 0;
	if (d->begins)
		return begin_file(d);
	bool is_due = d->packets.size || d->with_open;
	int error = is_due && has_new_losses(d) ? add_header(d) : 0;
	return error || !d->packets.size ? error : add_names(d);
}

static int give(const struct piece *piece, const void **ret_bytes, size_t *ret_size)
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
		if (weft__packet_written(&d->buffer, i, &written))
			add_loss(d, &d->positions[i], written);
	d->has_ended = true;
	d->front.size = 0;
	int error = add_header(d);
	return error ? error : give(&d->front, ret_bytes, ret_size);
}

int weft__drain_next(struct weft__drain *d, const void **ret_bytes, size_t *ret_size)
{
	int error = 0;
	if (d->packets.size == 0 || d->packets_given)
		error = fill(d);
	d->packets_given = false;
	if (!error)
		error = prepare_front(d);
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

/* Counts events that will not be taken as lost. Only closed packets say how many they have. */
static void lose_rest(struct weft__drain *d)
{
	for (uint32_t i = 0; i < d->buffer.packet_count; i++) {
		struct position *p = &d->positions[i];
		struct weft_abi_packet header;
		if (!p->is_done && p->sequence &&
			weft__packet_is_readable(weft__packet_read(&d->buffer, i, &header)) &&
			weft__packet_sequence(&header) == p->sequence &&
			weft__packet_state(&header) == WEFT_ABI_PACKET_CLOSED)
			add_loss(d, p, header.written);
		p->is_done = true;
	}
}

void weft__drain_cut(struct weft__drain *d)
{
	weft__drain_finish(d, true);
	lose_rest(d);
	d->with_open = false; /* one header is enough */
	d->cursor = d->buffer.packet_count;
	if (d->packets_given)
		return;
	/* The piece was copied but not given: its events are lost, too. */
	d->summary.losses[WEFT_LOSS_STALLED] += d->piece_events;
	d->piece_events = d->packets.size = 0;
}

void weft__drain_begin(struct weft__drain *d)
{
	d->begins = true;
}

/* ---- Beginning and end ---- */

static int init(struct weft__drain *d, const uint8_t *bytes, size_t size)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {bytes, size, &diagnostics, &description, NULL, false};
	int error = weft__buffer_init(&d->buffer, &input);
	if (!error)
		error = weft__buffer_keep_names(&d->buffer);
	if (error)
		return error;
	if ((uintptr_t)d->buffer.names % 8)
		d->buffer.names_bytes = 0;
	d->positions = calloc(d->buffer.packet_count + (size_t)1, sizeof(*d->positions));
	d->names = calloc(1, (size_t)d->buffer.names_bytes + 8);
	if (!d->positions || !d->names)
		return WEFT_ERROR_MEMORY;
	error = weft__mark_init(&d->mark, &d->buffer, size);
	d->can_mark = !error;
	if (error == WEFT_ERROR_MEMORY)
		return error;
	/* Events that were overwritten before create are in the accounts from the beginning. */
	d->hand = load(&header_of(d)->hand);
	for (uint32_t i = 0; i < d->buffer.packet_count; i++) {
		d->positions[i].account.events = weft__packet_gone(&d->buffer, i);
		d->summary.losses[WEFT_LOSS_OVERWRITTEN] += d->positions[i].account.events;
	}
	d->summary.pid = d->buffer.pid;
	memcpy(d->summary.program, d->buffer.program, sizeof(d->summary.program));
	d->begins = true;
	weft__buffer_load_losses(&d->buffer, d->summary.losses);
	return 0;
}

int weft__drain_create(
	const uint8_t *bytes, size_t size, size_t piece_bytes, struct weft__drain **ret_drain)
{
	if (!weft__buffer_probe(bytes, size))
		return size ? WEFT_ERROR_FORMAT : WEFT_ERROR_EMPTY;
	struct weft__drain *d = calloc(1, sizeof(*d));
	if (!d)
		return WEFT_ERROR_MEMORY;
	d->piece_bytes = piece_bytes;
	int error = init(d, bytes, size);
	if (error)
		weft__drain_destroy(d);
	else
		*ret_drain = d;
	return error;
}

void weft__drain_destroy(struct weft__drain *d)
{
	if (!d)
		return;
	weft__buffer_finish(&d->buffer);
	weft__mark_finish(&d->mark);
	free(d->positions);
	free(d->names);
	free(d->packets.bytes);
	free(d->front.bytes);
	weft_text_finish(&d->scratch.text);
	free(d);
}

uint64_t weft__drain_latest(const struct weft__drain *d)
{
	return weft__mark_latest(&d->mark, &d->buffer);
}

uint32_t weft__drain_packet_count(const struct weft__drain *d)
{
	return d->buffer.packet_count;
}

void weft__drain_abandon(struct weft__drain *d, uint64_t unwritten, void *ret_header)
{
	d->summary.losses[WEFT_LOSS_STALLED] += unwritten;
	write_header(d, ret_header);
	d->summary.losses[WEFT_LOSS_STALLED] -= unwritten;
}

const struct weft_buffer_summary *weft__drain_summary(const struct weft__drain *d)
{
	return &d->summary;
}
