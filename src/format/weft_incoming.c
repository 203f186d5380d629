/* SPDX-License-Identifier: ISC
 *
 * A stream of a running program, read while it comes. Packets wait in a heap, by the time of their
 * next event, until a mark says that no later chunk has an earlier event. So memory holds what was
 * recorded between two marks, however long the stream is.
 *
 * A stream without marks, or with chunks that only finished traces have, is left to weft.c, which
 * reads it when all of it is there. The clock is as it is known at the first mark: weft.c knows the
 * last moment of the trace and so a better rate, and times may differ by 1 in 10,000.
 */
#include "format/weft_incoming.h"

#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/name_abi.h"
#include "abi/packet_abi.h"
#include "base/array.h"
#include "base/little_endian.h"
#include "format/weft_categories.h"
#include "format/weft_event.h"
#include "format/weft_gaps.h"
#include "format/weft_roster.h"
#include "format/weft_stream.h"
#include "model/span.h"

#define HEADER_BYTES sizeof(struct weft_abi_buffer)
#define CHUNK_BYTES  sizeof(struct weft_abi_chunk)

struct packet {
	uint64_t next_ns;  /* of the next event; before the first one: not later than it */
	uint64_t sequence; /* the packet's state word */
	uint64_t arrival;  /* which packet of the stream */
	uint64_t base_ticks, task;
	uint64_t offset; /* of the packet in the input */
	uint8_t *bytes;
	uint32_t at, end, thread;
	bool is_begun, is_rundown;
	bool tells_task; /* next comes a switch to `task`: the events that said so are lost */
};

/* Bytes that are no chunk, until the next chunk. */
struct damage {
	uint64_t offset;
	bool is_on, has_magic;
};

struct incoming {
	struct weft__reader base;
	struct weft__buffer buffer; /* without packets; its bytes are first_header */
	uint8_t first_header[HEADER_BYTES];
	struct weft__roster roster;
	struct weft__gaps gaps;
	struct weft__categories categories;
	struct weft__event_scratch scratch;
	struct damage damage;
	struct packet *heap;
	uint32_t heap_count;
	size_t heap_capacity;
	uint64_t arrivals;
	uint64_t mark_ns, last_ns; /* no event is later than last_ns */
	uint64_t given_ns;
	bool has_given; /* the first packet's event is borrowed */
	bool has_begun, has_packets, is_finished;
};

#define AT(field)        offsetof(struct weft_abi_packet, field)
#define HEADER_AT(field) offsetof(struct weft_abi_buffer, field)

static void complain(struct incoming *r, uint64_t offset, const char *message)
{
	weft_diagnostics_add(r->base.input.diagnostics, offset, message);
}

static uint64_t to_ns(const struct incoming *r, uint64_t ticks)
{
	return weft__ticks_to_ns(&r->buffer.clock, ticks);
}

/* ---- The heap: children of i are 2i + 1 and 2i + 2 ---- */

static bool comes_before(const struct packet *a, const struct packet *b)
{
	if (a->next_ns != b->next_ns)
		return a->next_ns < b->next_ns;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence;
	return a->arrival < b->arrival;
}

static void sift_down(struct incoming *r)
{
	struct packet moving = r->heap[0];
	uint32_t i = 0;
	for (uint32_t child; (child = 2 * i + 1) < r->heap_count; i = child) {
		if (child + 1 < r->heap_count && comes_before(&r->heap[child + 1], &r->heap[child]))
			child++;
		if (!comes_before(&r->heap[child], &moving))
			break;
		r->heap[i] = r->heap[child];
	}
	r->heap[i] = moving;
}

static void insert(struct incoming *r, const struct packet *packet)
{
	uint32_t i = r->heap_count++;
	for (; i > 0 && comes_before(packet, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = *packet;
}

static void remove_first(struct incoming *r)
{
	free(r->heap[0].bytes);
	r->heap[0] = r->heap[--r->heap_count];
	if (r->heap_count)
		sift_down(r);
}

/* ---- Chunks ---- */

static void read_losses(struct incoming *r)
{
	uint64_t *losses = r->base.input.description->losses;
	uint64_t stalled = losses[WEFT_LOSS_STALLED];
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		losses[cause] =
			weft__load_u64(r->buffer.header + HEADER_AT(losses) + cause * sizeof(uint64_t));
	if (losses[WEFT_LOSS_STALLED] > stalled)
		r->gaps.unplaced += losses[WEFT_LOSS_STALLED] - stalled;
}

/* Not later than any event of the packet, and as late as its header can tell. */
static uint64_t opened_ns(const struct incoming *r, const uint8_t *packet)
{
	uint64_t opened = weft__load_u64(packet + AT(opened_ticks));
	return to_ns(r, opened ? opened : weft__load_u64(packet + AT(base_ticks)));
}

/* Is there anything in the packet to be read? */
static bool is_sound(struct incoming *r, const struct weft__chunk *chunk)
{
	uint64_t state = weft__load_u64(chunk->content + AT(state));
	uint32_t committed = weft__load_u32(chunk->content + AT(committed));
	if (state == 0 || (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING)
		return false;
	if (committed >= sizeof(struct weft_abi_packet) && committed <= chunk->bytes &&
		committed % 8 == 0)
		return true;
	complain(r, chunk->offset + AT(committed), "a packet's size makes no sense");
	return false;
}

static int add_packet(struct incoming *r, const struct weft__chunk *chunk)
{
	const struct weft__column column = {&r->heap, sizeof(*r->heap)};
	r->arrivals++;
	if (!weft__stream_is_packet(&r->buffer, chunk, r->base.input.diagnostics) ||
		!is_sound(r, chunk))
		return 0;
	int error = weft__columns_reserve(&column, 1, &r->heap_capacity, r->heap_count + (size_t)1);
	struct packet packet = {
		.next_ns = opened_ns(r, chunk->content),
		.sequence = weft__load_u64(chunk->content + AT(state)),
		.arrival = r->arrivals,
		.offset = chunk->offset,
		.bytes = error ? NULL : malloc(chunk->bytes),
		.at = sizeof(struct weft_abi_packet),
		.end = weft__load_u32(chunk->content + AT(committed)),
	};
	if (!packet.bytes)
		return WEFT_ERROR_MEMORY;
	memcpy(packet.bytes, chunk->content, chunk->bytes);
	if (!r->has_packets)
		r->last_ns = weft__ns_add(packet.next_ns, WEFT__SPAN_NS);
	r->has_packets = true;
	insert(r, &packet);
	return 0;
}

/* Kinds that are unknown, or that this reader does not use, are stepped over. */
static int take(struct incoming *r, const struct weft__chunk *chunk)
{
	if (chunk->kind == WEFT_ABI_CHUNK_PACKET)
		return add_packet(r, chunk);
	if (chunk->kind == WEFT_ABI_CHUNK_NAMES)
		return weft__stream_add_names(&r->buffer, chunk, r->base.input.diagnostics);
	if (chunk->kind == WEFT_ABI_CHUNK_HEADER) {
		weft__stream_take_header(&r->buffer, chunk, r->base.input.diagnostics);
		read_losses(r);
	}
	if (chunk->kind == WEFT_ABI_CHUNK_MARK && to_ns(r, chunk->at) > r->mark_ns)
		r->mark_ns = to_ns(r, chunk->at);
	return 0;
}

/* Goes on to the next chunk behind damage. WEFT_OK, or WEFT_AGAIN if it has not come. */
static int skip_damage(struct incoming *r, struct weft__window *w)
{
	size_t size = weft__chunk_find(w->bytes, w->size);
	bool is_end = w->size - size < CHUNK_BYTES;
	weft__window_take(w, is_end && w->is_whole ? w->size : size);
	if (is_end && !w->is_whole)
		return WEFT_AGAIN;
	complain(r, r->damage.offset,
		is_end && r->damage.has_magic ? WEFT__STREAM_CUT_SHORT : WEFT__STREAM_NO_CHUNK);
	r->damage.is_on = false;
	return WEFT_OK;
}

static void begin_damage(struct incoming *r, struct weft__window *w)
{
	bool has_magic = weft__chunk_begins(w->bytes, w->size);
	r->damage = (struct damage){.offset = w->offset, .is_on = true, .has_magic = has_magic};
	weft__window_take(w, 8);
}

/* WEFT_OK if a chunk was taken or damage found, WEFT_AGAIN if more bytes are needed, WEFT_END if
 * all are taken, or an error. */
static int take_next(struct incoming *r, struct weft__window *w)
{
	struct weft__chunk chunk;
	if (r->damage.is_on)
		return skip_damage(r, w);
	if (w->size < CHUNK_BYTES) {
		if (w->size == 0 || !w->is_whole)
			return w->is_whole ? WEFT_END : WEFT_AGAIN;
		complain(r, w->offset, WEFT__STREAM_CUT_SHORT);
		weft__window_take(w, w->size);
		return WEFT_OK;
	}
	enum weft__chunk_state state = weft__chunk_read(w->bytes, w->size, w->offset, &chunk);
	if (state == WEFT__CHUNK_CUT && !w->is_whole)
		return WEFT_AGAIN;
	if (state != WEFT__CHUNK_WHOLE) {
		begin_damage(r, w);
		return WEFT_OK;
	}
	int error = take(r, &chunk);
	weft__window_take(w, CHUNK_BYTES + chunk.bytes);
	return error;
}

/* ---- Events ---- */

static int find_thread(
	struct incoming *r, const struct weft__roster_thread *thread, uint32_t *ret_index)
{
	int error = weft__roster_find(&r->roster, thread, ret_index);
	r->base.input.description->threads = r->roster.list;
	r->base.input.description->thread_count = r->roster.count;
	return error ? error : weft__gaps_reserve(&r->gaps, r->roster.count);
}

/* WEFT_OK if it was a record, which is no event for users; WEFT_AGAIN if it is an event; or an
 * error. */
static int take_record(struct incoming *r, struct packet *p, const struct weft__words *w)
{
	if (w->kind == WEFT_ABI_TIME && w->count >= 2) {
		p->base_ticks = weft__load_u64(w->at + 8);
	} else if (w->kind == WEFT_ABI_THREAD && w->count >= WEFT_ABI_THREAD_WORDS) {
		const struct weft__roster_thread thread = {weft__load_u32(w->at + 12),
			weft__load_u32(w->at + 8),
			w->count >= WEFT_ABI_THREAD_WORDS + 2 ? w->at + 16 : p->bytes + AT(name)};
		int error = find_thread(r, &thread, &p->thread);
		if (error)
			return error;
		p->task = WEFT_TASK_NONE;
		r->roster.events[p->thread] = 0;
	} else if (w->kind == WEFT_ABI_TEXT && w->count >= 2) {
		complain(r, p->offset + p->at, "an event's text is missing");
	} else if (w->kind == WEFT_ABI_RUNDOWN) {
		p->is_rundown = true;
	} else {
		return WEFT_AGAIN;
	}
	p->at += w->count * 8;
	return WEFT_OK;
}

static void set_time(struct incoming *r, struct packet *p, const struct weft__words *w)
{
	uint64_t ns = to_ns(r, p->base_ticks + w->ticks);
	if (ns < p->next_ns)
		complain(r, p->offset + p->at, "time goes backwards within a packet; it is held");
	else if (ns > r->last_ns)
		complain(r, p->offset + p->at, WEFT__SPAN_MESSAGE);
	else
		p->next_ns = ns;
}

/* WEFT_OK at the packet's next event, WEFT_END behind its last, or an error. */
static int find_event(struct incoming *r, struct packet *p)
{
	struct weft__words words;
	while (p->at < p->end) {
		if (!weft__words_read(p->bytes + p->at, p->end - p->at, &words)) {
			complain(r, p->offset + p->at,
				"an event that runs out of its packet; the rest of the packet is lost");
			return WEFT_END;
		}
		int status = take_record(r, p, &words);
		if (status == WEFT_AGAIN) {
			set_time(r, p, &words);
			return WEFT_OK;
		}
		if (status)
			return status;
	}
	return WEFT_END;
}

/* The first packet goes to its next event, or away. */
static int advance(struct incoming *r)
{
	struct packet *p = &r->heap[0];
	int status = find_event(r, p);
	if (status == WEFT_OK) {
		sift_down(r);
	} else if (status == WEFT_END) {
		weft__gaps_end_packet(&r->gaps, p->thread, p->next_ns);
		remove_first(r);
		status = WEFT_OK;
	}
	return status;
}

/* As weft.c: events that were lost may have switched to another task. */
static bool must_tell_task(struct incoming *r, const struct packet *p, uint64_t number)
{
	uint64_t *known = &r->roster.events[p->thread], before = *known;
	*known = number;
	return before == 0 ? number > 0 && p->task != WEFT_TASK_NONE : number > before;
}

static int begin_packet(struct incoming *r)
{
	struct packet *p = &r->heap[0];
	const struct weft__roster_thread thread = {weft__load_u32(p->bytes + AT(thread)),
		weft__load_u32(p->bytes + AT(tid)), p->bytes + AT(name)};
	int error = find_thread(r, &thread, &p->thread);
	if (error)
		return error;
	p->is_begun = true;
	p->base_ticks = weft__load_u64(p->bytes + AT(base_ticks));
	p->task = weft__load_u64(p->bytes + AT(task));
	const struct weft__gap_packet packet = {
		.thread = p->thread,
		.known = r->roster.events[p->thread],
		.number = weft__load_u64(p->bytes + AT(number)),
		.lost = weft__load_u64(p->bytes + AT(lost)),
		.opened_ns = p->next_ns,
	};
	error = weft__gaps_take_packet(&r->gaps, &packet, r->base.input.description);
	p->tells_task = must_tell_task(r, p, packet.number);
	return error || p->tells_task ? error : advance(r);
}

static void tell_task(struct incoming *r, struct packet *p, struct weft_event *event)
{
	event->type = WEFT_EVENT_SWITCH;
	event->task = p->task;
	event->is_rundown = true;
	if (event->time_ns < r->given_ns) /* the packet's header only says "not earlier than" */
		event->time_ns = r->given_ns;
	p->tells_task = false;
}

/* WEFT_OK, or WEFT_AGAIN if it is damaged. */
static int take_event(struct incoming *r, struct weft_event *event)
{
	struct packet *p = &r->heap[0];
	struct weft__words words;
	*event = (struct weft_event){
		.time_ns = p->next_ns, .offset = p->offset + p->at, .thread = p->thread};
	if (p->tells_task) {
		tell_task(r, p, event);
		return WEFT_OK;
	}
	if (!weft__words_read(p->bytes + p->at, p->end - p->at, &words))
		return WEFT_AGAIN;
	words.is_rundown = p->is_rundown;
	const char *wrong = weft__event_decode(&r->buffer, &words, &p->task, &r->scratch, event);
	p->is_rundown = false;
	p->at += words.count * 8;
	r->roster.events[p->thread]++;
	if (wrong)
		complain(r, event->offset, wrong);
	return wrong ? WEFT_AGAIN : WEFT_OK;
}

/* One step with the first packet: WEFT_OK if it gave an event, WEFT_AGAIN, or an error. */
static int step(struct incoming *r, struct weft_event *event)
{
	int error;
	if (r->heap[0].is_begun && take_event(r, event) == WEFT_OK) {
		r->given_ns = event->time_ns;
		r->has_given = true;
		return WEFT_OK;
	}
	error = r->heap[0].is_begun ? advance(r) : begin_packet(r);
	return error ? error : WEFT_AGAIN;
}

static bool is_ready(const struct incoming *r)
{
	return r->heap_count && (r->is_finished || r->heap[0].next_ns < r->mark_ns);
}

static void finish(struct incoming *r)
{
	r->is_finished = true;
	if (weft__load_u32(r->buffer.header + HEADER_AT(stop_reason)))
		complain(r, HEADER_AT(stop_reason), WEFT__BUFFER_STOPPED_EARLY);
}

static int incoming_next(
	struct weft__reader *base, struct weft__window *window, struct weft_event *ret_event)
{
	struct incoming *r = (struct incoming *)base;
	int status = r->has_given ? advance(r) : WEFT_OK;
	r->has_given = false;
	if (!r->has_begun)
		weft__window_take(window, HEADER_BYTES);
	r->has_begun = true;
	while (status == WEFT_OK) {
		while (is_ready(r)) {
			status = step(r, ret_event);
			if (status != WEFT_AGAIN)
				return status;
		}
		status = take_next(r, window);
		if (status == WEFT_END && !r->is_finished) {
			finish(r);
			status = WEFT_OK;
		}
	}
	return status;
}

/* ---- Beginning and end ---- */

static bool is_stream(const struct weft__input *input)
{
	return weft__buffer_probe(input->bytes, input->size) &&
		   weft__load_u32(input->bytes + HEADER_AT(version)) == WEFT_ABI_VERSION &&
		   weft__load_u32(input->bytes + HEADER_AT(stream)) == 1;
}

/* WEFT_OK at the first mark, WEFT_AGAIN if it has not come, WEFT_END if this is for weft.c. */
static int find_mark(const struct weft__input *input, size_t *at)
{
	struct weft__chunk chunk;
	if (input->size < HEADER_BYTES)
		return WEFT_AGAIN;
	if (*at == 0 && !is_stream(input))
		return WEFT_END;
	if (*at == 0)
		*at = HEADER_BYTES;
	while (input->size - *at >= CHUNK_BYTES) {
		enum weft__chunk_state state =
			weft__chunk_read(input->bytes + *at, input->size - *at, *at, &chunk);
		if (state == WEFT__CHUNK_CUT)
			return WEFT_AGAIN;
		if (state == WEFT__CHUNK_BROKEN || chunk.kind == WEFT_ABI_CHUNK_TEXT ||
			chunk.kind == WEFT_ABI_CHUNK_LOST)
			return WEFT_END;
		if (chunk.kind == WEFT_ABI_CHUNK_MARK)
			return WEFT_OK;
		*at += CHUNK_BYTES + chunk.bytes;
	}
	return WEFT_AGAIN;
}

/* Back to the beginning: the packets are taken one by one from there. */
static void rewind_buffer(struct incoming *r)
{
	struct weft__buffer *b = &r->buffer;
	memcpy(r->first_header, r->base.input.bytes, HEADER_BYTES);
	memcpy(b->header, r->first_header, HEADER_BYTES);
	b->bytes = r->first_header;
	b->size = HEADER_BYTES;
	b->packet_count = 0;
}

/* There is room for all names that may come: the table of a stream grows. */
static int keep_names(struct weft__buffer *b)
{
	uint64_t bytes = b->names_bytes;
	b->names_bytes = WEFT_ABI_NAMES_MAX_BYTES;
	int error = weft__buffer_keep_names(b);
	b->names_bytes = bytes;
	return error;
}

/* `before_mark` is what came before the first mark: the clock and the threads are as known there.
 */
static int init(struct incoming *r, const struct weft__input *before_mark)
{
	struct weft_trace_description *description = before_mark->description;
	struct weft_diagnostics seen = {0};
	struct weft__input input = *before_mark;
	input.diagnostics = &seen;
	int error = weft__buffer_init_any(&r->buffer, &input);
	if (error)
		return error;
	for (size_t i = 0; i < seen.count; i++) /* what is said of packets is said again later */
		if (seen.list[i].offset == HEADER_AT(clock_hz))
			complain(r, seen.list[i].offset, seen.list[i].message);
	error = weft__roster_init(&r->roster, &r->buffer);
	if (!error)
		error = keep_names(&r->buffer);
	if (error)
		return error;
	rewind_buffer(r);
	weft__categories_read(&r->buffer, &r->categories);
	memset(description->losses, 0, sizeof(description->losses));
	error = weft__gaps_init(&r->gaps, r->roster.count, true, description);
	read_losses(r);
	description->source = *r->buffer.source ? r->buffer.source : NULL;
	description->threads = r->roster.list;
	description->thread_count = r->roster.count;
	description->categories = r->categories.list;
	description->category_count = r->categories.count;
	description->changes = r->categories.changes;
	description->change_count = r->categories.change_count;
	return error;
}

static void incoming_close(struct weft__reader *base)
{
	struct incoming *r = (struct incoming *)base;
	for (uint32_t i = 0; i < r->heap_count; i++)
		free(r->heap[i].bytes);
	free(r->heap);
	weft__gaps_finish(&r->gaps);
	weft__roster_finish(&r->roster);
	weft__buffer_finish(&r->buffer);
	weft_text_finish(&r->scratch.text);
	free(r);
}

static int incoming_start(
	const struct weft__input *input, size_t *examined, struct weft__reader **ret_reader)
{
	int status = find_mark(input, examined);
	if (status != WEFT_OK)
		return status;
	struct incoming *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	r->base.input.size = *examined;
	int error = init(r, &r->base.input);
	if (error)
		incoming_close(&r->base);
	else
		*ret_reader = &r->base;
	return error;
}

const struct weft__incoming weft__incoming_weft = {
	.start = incoming_start,
	.next = incoming_next,
	.close = incoming_close,
};
