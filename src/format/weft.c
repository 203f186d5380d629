/* SPDX-License-Identifier: ISC
 *
 * Our own buffer, of a running program, a dead one, or a saved one; and streams.
 *
 * Each packet is in time order, and the packets of one thread do not overlap. So a heap of packets,
 * by the time of the next event of each, gives all events in time order, whoever wrote them; equal
 * times go by the sequence in which packets were claimed. A packet is copied when its turn comes,
 * and given back when it has been read: as many are held as threads wrote at one time.
 *
 * The program may be writing. A copy counts if the packet's state word was the same before and
 * after; otherwise its events were overwritten while we read, which is a loss and no damage.
 */
#include "format/formats.h"

#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "base/little_endian.h"
#include "format/order.h"
#include "format/weft_categories.h"
#include "format/weft_event.h"
#include "format/weft_gaps.h"
#include "format/weft_incoming.h"
#include "format/weft_threads.h"
#include "model/span.h"

/* A packet that has events left. */
struct stream {
	uint64_t next_ns;  /* of the next event; before the copy: of the packet's opening */
	uint64_t sequence; /* of the packet */
	uint64_t base_ticks;
	uint64_t task;   /* current */
	uint64_t before; /* events that the packet held before these */
	uint8_t *copy;   /* NULL until its turn comes */
	uint32_t packet;
	uint32_t at, end;       /* bytes in the copy */
	uint32_t thread;        /* index */
	bool tells_task;        /* next is not an event but who runs: what told so was overwritten */
	bool is_rundown;        /* the next event: see the record of that name */
	struct weft_slice text; /* of the next event, if it lies elsewhere; else NULL */
};

struct weft_reader {
	struct weft__reader base;
	struct weft__buffer buffer;
	struct weft__threads threads;
	struct weft__categories categories;
	struct weft__gaps gaps;
	struct stream *heap; /* the earliest first */
	uint32_t heap_count;
	uint64_t last_ns; /* no event is later: see find_span */
	struct weft__event_scratch scratch;
};

bool weft__buffer_probe(const uint8_t *bytes, size_t size)
{
	const size_t magic = sizeof(WEFT_ABI_MAGIC) - 1;
	return size >= magic && memcmp(bytes, WEFT_ABI_MAGIC, magic) == 0;
}

#define AT(field) offsetof(struct weft_abi_packet, field)

static void complain(struct weft_reader *r, const uint8_t *at, const char *message)
{
	weft_diagnostics_add(r->base.input.diagnostics, (uint64_t)(at - r->buffer.bytes), message);
}

/* A stream's packets count none. */
static void add_overwritten(struct weft_reader *r, uint64_t events)
{
	if (!r->buffer.stream)
		r->base.input.description->losses[WEFT_LOSS_OVERWRITTEN] += events;
}

/* The heap: children of i are 2i + 1 and 2i + 2. */

static bool comes_before(const struct stream *a, const struct stream *b)
{
	if (a->next_ns != b->next_ns)
		return a->next_ns < b->next_ns;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence;
	return a->packet < b->packet; /* a stream has one in parts */
}

/* The earlier child of place i if it comes before `stream`, else heap_count. */
static uint32_t child_before(const struct weft_reader *r, uint32_t i, const struct stream *stream)
{
	uint32_t child = 2 * i + 1;
	if (child >= r->heap_count)
		return r->heap_count;
	if (child + 1 < r->heap_count && comes_before(&r->heap[child + 1], &r->heap[child]))
		child++;
	return comes_before(&r->heap[child], stream) ? child : r->heap_count;
}

/* Mostly the next event is of the same packet, and nothing moves. */
static void sift_down(struct weft_reader *r, uint32_t i)
{
	uint32_t child = child_before(r, i, &r->heap[i]);
	if (child == r->heap_count)
		return;
	struct stream moving = r->heap[i];
	for (; child < r->heap_count; child = child_before(r, i, &moving)) {
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = moving;
}

static void remove_first(struct weft_reader *r)
{
	free(r->heap[0].copy);
	r->heap[0] = r->heap[--r->heap_count];
	if (r->heap_count)
		sift_down(r, 0);
}

/* Opening: which packets there are, and whose. */

/* How much of a packet counts; 0 if that cannot be. Acquire: what it counts is there. */
static uint32_t committed_bytes(struct weft_reader *r, uint32_t index)
{
	const uint8_t *packet = weft__buffer_packet(&r->buffer, index);
	uint32_t committed = weft__load_u32(packet + AT(committed));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (committed >= sizeof(struct weft_abi_packet) &&
		committed <= weft__buffer_packet_room(&r->buffer, index) && committed % 8 == 0)
		return committed;
	complain(r, packet + AT(committed), "a packet's size makes no sense");
	return 0;
}

/* Not later than any event of the packet, and so late as can be. */
static uint64_t opened_ns(const struct weft_reader *r, const uint8_t *packet)
{
	uint64_t opened = weft__load_u64(packet + AT(opened_ticks));
	return weft__ticks_to_ns(
		&r->buffer.clock, opened ? opened : weft__load_u64(packet + AT(base_ticks)));
}

static void add_stream(struct weft_reader *r, uint32_t index)
{
	const uint8_t *packet = weft__buffer_packet(&r->buffer, index);
	uint64_t state = weft__load_u64(packet + AT(state));
	if (state == 0)
		return; /* never used */
	if ((state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING) {
		/* What was in it is gone, what will be is not there yet. */
		add_overwritten(r, weft__load_u64(packet + AT(written)));
		return;
	}
	/* Acquire: the packet's header was written before its state. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	uint64_t before = weft__load_u64(packet + AT(before));
	add_overwritten(r, before);
	if (!committed_bytes(r, index))
		return;
	r->heap[r->heap_count++] = (struct stream){
		.next_ns = opened_ns(r, packet),
		.sequence = state,
		.before = before,
		.packet = index,
	};
}

/* The packets' times but the stretch of WEFT__SPAN_NS in which most packets begin are damaged, and
 * become its first or last one. */
static int hold_packets(struct weft_reader *r)
{
	struct weft__order order = {0};
	size_t first, last;
	int error = 0;
	for (uint32_t i = 0; i < r->heap_count && !error; i++)
		error = weft__order_add(&order, (struct weft__position){r->heap[i].next_ns, i});
	if (!error)
		error = weft__order_sort(&order);
	if (!error) {
		weft__order_find_span(&order, &first, &last);
		r->last_ns = weft__ns_add(order.list[first].time_ns, WEFT__SPAN_NS);
		for (size_t i = 0; i < order.count; i++) {
			struct stream *s = &r->heap[order.list[i].offset];
			if (i >= first && i <= last)
				continue;
			s->next_ns = order.list[i < first ? first : last].time_ns;
			complain(r, weft__buffer_packet(&r->buffer, s->packet) + AT(opened_ticks),
				WEFT__SPAN_MESSAGE);
		}
	}
	weft__order_finish(&order);
	return error;
}

/* Damage may have put a packet centuries away from the others. */
static int find_span(struct weft_reader *r)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (uint32_t i = 0; i < r->heap_count; i++) {
		first = r->heap[i].next_ns < first ? r->heap[i].next_ns : first;
		last = r->heap[i].next_ns > last ? r->heap[i].next_ns : last;
	}
	if (last > first && last - first > WEFT__SPAN_NS)
		return hold_packets(r);
	r->last_ns = weft__ns_add(first, WEFT__SPAN_NS);
	return 0;
}

static int open_reader(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct weft_reader *r = calloc(1, sizeof(*r));
	int error;
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	error = weft__buffer_init_any(&r->buffer, input);
	if (!error)
		error = weft__buffer_keep_names(&r->buffer);
	if (error)
		goto out;
	error = weft__threads_init(&r->threads, &r->buffer);
	if (error)
		goto out;
	r->heap = malloc((r->buffer.packet_count + (size_t)1) * sizeof(*r->heap));
	if (!r->heap) {
		error = WEFT_ERROR_MEMORY;
		goto out;
	}
	for (uint32_t i = 0; i < r->buffer.packet_count; i++)
		add_stream(r, i);
	error = find_span(r);
	if (error)
		goto out;
	for (uint32_t i = r->heap_count / 2; i-- > 0;)
		sift_down(r, i);
	error = weft__gaps_init(&r->gaps, r->threads.count, r->buffer.stream, input->description);
	if (!error)
		error = weft__gaps_take_told(&r->gaps, &r->buffer, &r->threads, input->description);
	if (error)
		goto out;
	input->description->source = *r->buffer.source ? r->buffer.source : NULL;
	input->description->threads = r->threads.list;
	input->description->thread_count = r->threads.count;
	weft__categories_read(&r->buffer, &r->categories);
	input->description->categories = r->categories.list;
	input->description->category_count = r->categories.count;
	input->description->changes = r->categories.changes;
	input->description->change_count = r->categories.change_count;
	*ret_reader = &r->base;
	return 0;
out:
	free(r->heap);
	weft__gaps_finish(&r->gaps);
	weft__threads_finish(&r->threads);
	weft__buffer_finish(&r->buffer);
	free(r);
	return error;
}

static void close_reader(struct weft__reader *reader)
{
	struct weft_reader *r = (struct weft_reader *)reader;
	for (uint32_t i = 0; i < r->heap_count; i++)
		free(r->heap[i].copy);
	free(r->heap);
	weft__gaps_finish(&r->gaps);
	weft__threads_finish(&r->threads);
	weft__buffer_finish(&r->buffer);
	weft_text_finish(&r->scratch.text);
	free(r);
}

/* Steps over an event that is none for users: a new base for the stamps, or another thread. */
static bool take_record(struct weft_reader *r, struct stream *s, const struct weft__words *w)
{
	if (w->kind == WEFT_ABI_TIME && w->count >= 2) {
		s->base_ticks = weft__load_u64(w->at + 8);
	} else if (w->kind == WEFT_ABI_THREAD && w->count >= WEFT_ABI_THREAD_WORDS) {
		s->thread = weft__threads_find(&r->threads, weft__load_u32(w->at + 12), s->thread);
		s->task = WEFT_TASK_NONE;
		r->threads.events[s->thread] = 0;
	} else if (w->kind == WEFT_ABI_TEXT && w->count >= 2) {
		s->text = weft__stream_text(&r->buffer, weft__load_u64(w->at + 8));
		if (!s->text.bytes)
			complain(r, weft__buffer_packet(&r->buffer, s->packet) + s->at,
				"an event's text is missing");
	} else if (w->kind == WEFT_ABI_RUNDOWN) {
		s->is_rundown = true;
	} else {
		return false;
	}
	s->at += w->count * 8;
	return true;
}

/* Finds the next event of a packet. False at its end. */
static bool find_event(struct weft_reader *r, struct stream *s, struct weft__words *ret_words)
{
	while (s->at < s->end) {
		if (!weft__words_read(s->copy + s->at, s->end - s->at, ret_words)) {
			complain(r, weft__buffer_packet(&r->buffer, s->packet) + s->at,
				"an event that runs out of its packet; the rest of the packet is lost");
			return false;
		}
		if (!take_record(r, s, ret_words))
			return true;
	}
	return false;
}

static void set_time(struct weft_reader *r, struct stream *s, const struct weft__words *w)
{
	uint64_t ns = weft__ticks_to_ns(&r->buffer.clock, s->base_ticks + w->ticks);
	if (ns < s->next_ns)
		complain(r, weft__buffer_packet(&r->buffer, s->packet) + s->at,
			"time goes backwards within a packet; it is held");
	else if (ns > r->last_ns)
		complain(r, weft__buffer_packet(&r->buffer, s->packet) + s->at, WEFT__SPAN_MESSAGE);
	else
		s->next_ns = ns;
}

/* The first stream goes to its next event, or away, and the heap is in order again. */
static void advance(struct weft_reader *r)
{
	struct stream *s = &r->heap[0];
	struct weft__words words;
	if (!find_event(r, s, &words)) {
		weft__gaps_end_packet(&r->gaps, s->thread, s->next_ns);
		remove_first(r);
		return;
	}
	set_time(r, s, &words);
	sift_down(r, 0);
}

/* Who runs at the packet's start follows from the thread's events before it, unless some of those
 * are gone: of a ring the oldest; of a stream any that were lost on the way. */
static bool must_tell_task(struct weft_reader *r, const struct stream *s)
{
	uint64_t *known = &r->threads.events[s->thread];
	uint64_t number = weft__load_u64(s->copy + AT(number)), before = *known;
	*known = number;
	if (before == 0)
		return number > 0 && s->task != WEFT_TASK_NONE;
	return r->buffer.stream && number > before;
}

/* Events that a packet had held before its present content, which may not have come yet. */
static uint64_t held_before(const uint8_t *packet)
{
	bool opening =
		(weft__load_u64(packet + AT(state)) & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING;
	return weft__load_u64(packet + (opening ? AT(written) : AT(before)));
}

/* Copies the s->end bytes that were committed before.
 * The same state word as when the packet was listed, and after the copy still: one content.
 * Otherwise that content was overwritten before it was read, and perhaps others after it. */
static bool copy_packet(struct weft_reader *r, struct stream *s)
{
	const uint8_t *packet = weft__buffer_packet(&r->buffer, s->packet);
	memcpy(s->copy, packet, s->end);
	/* Acquire: the copy's loads come before the second look at the state. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if ((weft__load_u64(packet + AT(state)) ^ s->sequence) >> 2) {
		add_overwritten(r, held_before(packet) - s->before);
		return false;
	}
	return s->end > 0;
}

static int load_first(struct weft_reader *r)
{
	struct stream *s = &r->heap[0];
	/* A stream may have many small packets open at one time: each takes what it holds. */
	s->end = committed_bytes(r, s->packet);
	s->copy = malloc(s->end + (size_t)1);
	if (!s->copy)
		return WEFT_ERROR_MEMORY;
	if (!copy_packet(r, s)) {
		remove_first(r);
		return 0;
	}
	s->at = sizeof(struct weft_abi_packet);
	s->base_ticks = weft__load_u64(s->copy + AT(base_ticks));
	s->task = weft__load_u64(s->copy + AT(task));
	s->thread = weft__threads_find(&r->threads, weft__load_u32(s->copy + AT(thread)), 0);
	const struct weft__gap_packet packet = {
		.thread = s->thread,
		.known = r->threads.events[s->thread],
		.number = weft__load_u64(s->copy + AT(number)),
		.lost = weft__load_u64(s->copy + AT(lost)),
		.opened_ns = s->next_ns,
	};
	int error = weft__gaps_take_packet(&r->gaps, &packet, r->base.input.description);
	if (error)
		return error;
	s->tells_task = must_tell_task(r, s);
	if (!s->tells_task)
		advance(r);
	return 0;
}

static void tell_task(struct weft_reader *r, struct weft_event *event)
{
	struct stream *s = &r->heap[0];
	event->type = WEFT_EVENT_SWITCH;
	event->task = s->task;
	event->is_rundown = true;
	s->tells_task = false;
}

/* WEFT_OK, or WEFT_AGAIN if what was there is not an event. */
static int take_event(struct weft_reader *r, struct weft_event *event)
{
	struct stream *s = &r->heap[0];
	const uint8_t *place = weft__buffer_packet(&r->buffer, s->packet) + s->at;
	struct weft__words words;
	const char *wrong;
	event->time_ns = s->next_ns;
	event->offset = (uint64_t)(place - r->buffer.bytes);
	event->thread = s->thread;
	if (s->tells_task) {
		tell_task(r, event);
		return WEFT_OK;
	}
	if (!weft__words_read(s->copy + s->at, s->end - s->at, &words))
		return WEFT_AGAIN;
	words.text = s->text;
	words.is_rundown = s->is_rundown;
	wrong = weft__event_decode(&r->buffer, &words, &s->task, &r->scratch, event);
	s->text = (struct weft_slice){NULL, 0};
	s->is_rundown = false;
	s->at += words.count * 8;
	r->threads.events[s->thread]++;
	if (!wrong)
		return WEFT_OK;
	complain(r, place, wrong);
	return WEFT_AGAIN;
}

/* The event that `next` gave last borrows from the first stream's copy, so that stream moves on at
 * the next call only. */
static int next(struct weft__reader *reader, struct weft_event *ret_event)
{
	struct weft_reader *r = (struct weft_reader *)reader;
	int status = WEFT_AGAIN;
	if (r->heap_count && r->heap[0].copy)
		advance(r);
	while (status == WEFT_AGAIN) {
		if (r->heap_count == 0)
			return WEFT_END;
		if (!r->heap[0].copy) {
			int error = load_first(r);
			if (error)
				return error;
			continue;
		}
		status = take_event(r, ret_event);
		if (status == WEFT_AGAIN) {
			memset(ret_event, 0, sizeof(*ret_event));
			advance(r);
		}
	}
	return status;
}

const struct weft__format weft__format_weft = {
	.name = "weft",
	.probe = weft__buffer_probe,
	.open = open_reader,
	.next = next,
	.close = close_reader,
	.incoming = &weft__incoming_weft,
};
