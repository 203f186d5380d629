/* SPDX-License-Identifier: ISC
 *
 * Each packet's place in the ring is a stream that comes back: content after content, and of each
 * as much as is committed. A heap has the places with something unread, by the time of their next
 * event, or the earliest that it can have. What lies before the mark is given; the rest waits in
 * the ring, not in our memory: a place is copied from when its turn comes, only what is new of it.
 *
 * A new content may begin earlier than the unread rest of the one before it: a thread that shares
 * one stamp among several events claims the packet after another thread wrote later stamps there.
 * So each look asks the waiting places, too. A place with a new content gets that content's time;
 * if a copied rest of the old content is unread, the rest moves to a place of its own, which is
 * "detached" from the ring and ends with its copy.
 *
 * A copy counts if the packet's sequence is the same after it; otherwise what was to be copied is
 * overwritten. How much that was is told by the counts of the packets: each place has an account of
 * the events that were ever written there, and every one of them is given or lost.
 */
#include "format/weft_follower.h"

#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "base/little_endian.h"
#include "format/weft_event.h"
#include "format/weft_mark.h"
#include "format/weft_roster.h"
#include "model/span.h"

struct place {
	uint64_t sequence;  /* of the content that is being read; 0: none yet */
	uint64_t accounted; /* events ever written in this packet that were given or are lost */
	uint64_t next_ns;   /* of the next event, or not later */
	uint64_t base_ticks;
	uint64_t task;     /* current */
	uint8_t *copy;     /* of the bytes [from, end) of the packet; NULL: all are read */
	uint32_t from, at; /* bytes from the packet's start */
	uint32_t end;      /* likewise; UINT32_MAX: the content is damaged, and its rest lost */
	uint32_t thread;   /* index */
	uint32_t index;    /* of the packet */
	bool is_begun;     /* the packet's header has been read */
	uint8_t name[WEFT_ABI_NAME_BYTES]; /* of the thread that opened the packet */
	bool is_waiting;                   /* in the heap */
	bool is_sure;    /* what its thread committed before this content was looked for */
	bool tells_task; /* next is not an event but who runs: what told so is lost */
};

struct weft__follower {
	struct weft__buffer buffer;
	struct weft__mark mark;
	struct weft__roster roster;
	struct weft_diagnostics diagnostics;
	struct weft__span span;
	struct weft_trace_description description;
	struct weft__event_scratch scratch;
	struct place *places; /* one a packet, then as many for detached copies */
	uint32_t *heap;       /* of places, the earliest first */
	uint32_t heap_count;
	uint32_t *unused; /* places for detached copies */
	uint32_t unused_count;
	uint8_t **spare; /* blocks that were copies */
	uint32_t spare_count;
	uint64_t mark_ns;
	uint64_t given_ns; /* nothing earlier is given any more */
	uint32_t budget;   /* contents that this call may still begin */
	bool has_given;    /* the first place's event is borrowed */
	bool is_finished;
};

/* Kept for the next copies; more are given back. */
static const uint32_t SPARE_MAX = 64;

static const struct weft_abi_packet *packet_of(const struct weft__follower *f, uint32_t index)
{
	return (const void *)weft__buffer_packet(&f->buffer, index);
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static bool is_detached(const struct weft__follower *f, const struct place *p)
{
	return p >= f->places + f->buffer.packet_count;
}

/* ---- Losses ---- */

static void complain(struct weft__follower *f, uint32_t index, uint32_t at, const char *message)
{
	uint64_t offset = f->buffer.packets_offset + (uint64_t)index * f->buffer.packet_bytes + at;
	weft_diagnostics_add(&f->diagnostics, offset, message);
}

/* So many events were ever written at this place before what can be read there now. */
static void settle(struct weft__follower *f, uint32_t index, uint64_t written)
{
	if (written >= f->places[index].accounted)
		f->description.losses[WEFT_LOSS_STALLED] += written - f->places[index].accounted;
	else
		complain(f, index, offsetof(struct weft_abi_packet, before),
			"a packet's count of events goes backwards");
	f->places[index].accounted = written;
}

static void read_losses(struct weft__follower *f)
{
	const struct weft_abi_buffer *header = (const void *)f->buffer.bytes;
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (cause != WEFT_LOSS_OVERWRITTEN && cause != WEFT_LOSS_STALLED)
			f->description.losses[cause] = load(&header->losses[cause]);
}

/* ---- The heap: children of i are 2i + 1 and 2i + 2 ---- */

static bool comes_before(const struct weft__follower *f, uint32_t a, uint32_t b)
{
	const struct place *x = &f->places[a], *y = &f->places[b];
	if (x->next_ns != y->next_ns)
		return x->next_ns < y->next_ns;
	return x->sequence < y->sequence;
}

static void sift_down(struct weft__follower *f)
{
	uint32_t moving = f->heap[0], i = 0;
	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= f->heap_count)
			break;
		if (child + 1 < f->heap_count && comes_before(f, f->heap[child + 1], f->heap[child]))
			child++;
		if (!comes_before(f, f->heap[child], moving))
			break;
		f->heap[i] = f->heap[child];
		i = child;
	}
	f->heap[i] = moving;
}

static void insert(struct weft__follower *f, uint32_t index)
{
	uint32_t i = f->heap_count++;
	for (; i > 0 && comes_before(f, index, f->heap[(i - 1) / 2]); i = (i - 1) / 2)
		f->heap[i] = f->heap[(i - 1) / 2];
	f->heap[i] = index;
	f->places[index].is_waiting = true;
}

/* Restores the heap's order after times of places in it have changed. */
static void rebuild(struct weft__follower *f)
{
	uint32_t count = f->heap_count;
	f->heap_count = 0;
	for (uint32_t i = 0; i < count; i++)
		insert(f, f->heap[i]);
}

static void remove_first(struct weft__follower *f)
{
	uint32_t first = f->heap[0];
	f->places[first].is_waiting = false;
	if (is_detached(f, &f->places[first]))
		f->unused[f->unused_count++] = first;
	f->heap[0] = f->heap[--f->heap_count];
	if (f->heap_count)
		sift_down(f);
}

/* ---- Copies ---- */

static uint8_t *take_block(struct weft__follower *f)
{
	return f->spare_count ? f->spare[--f->spare_count] : malloc(f->buffer.packet_bytes);
}

static void release_copy(struct weft__follower *f, struct place *p)
{
	if (p->copy && f->spare_count < SPARE_MAX)
		f->spare[f->spare_count++] = p->copy;
	else
		free(p->copy);
	p->copy = NULL;
}

/* By words, which the writer stores as words: none is torn. */
static void copy_words(uint8_t *to, const uint8_t *from, uint32_t size)
{
	for (uint32_t i = 0; i < size; i += 8) {
		uint64_t word = load((const uint64_t *)(const void *)(from + i));
		memcpy(to + i, &word, sizeof(word));
	}
}

/* Was all that was loaded up to now of that content? The writer stores "opening" before the first
 * byte of the next one, with a release fence between; with the acquire fence here, who has loaded
 * such a byte sees another state. */
static bool is_same(const struct weft_abi_packet *packet, uint64_t sequence)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return load(&packet->state) >> 2 == sequence;
}

/* ---- From the ring ---- */

static uint64_t to_ns(const struct weft__follower *f, uint64_t ticks)
{
	return weft__ticks_to_ns(&f->buffer.clock, ticks);
}

/* Makes the place ready for a new content. False if that changes under our eyes. */
static bool begin(struct weft__follower *f, uint32_t index, uint64_t sequence)
{
	const struct weft_abi_packet *packet = packet_of(f, index);
	struct place *p = &f->places[index];
	uint64_t opened = load(&packet->opened_ticks);
	if (!opened)
		opened = load(&packet->base_ticks);
	if (!is_same(packet, sequence))
		return false;
	p->sequence = sequence;
	p->next_ns = to_ns(f, opened);
	p->from = p->at = p->end = sizeof(*packet);
	p->is_begun = p->is_sure = p->tells_task = false;
	return true;
}

/* Is there something at this place that has not been copied? */
static bool has_news(struct weft__follower *f, uint32_t index)
{
	const struct weft_abi_packet *packet = packet_of(f, index);
	const struct place *p = &f->places[index];
	/* Acquire: the header was stored before "open". */
	uint64_t state = __atomic_load_n(&packet->state, __ATOMIC_ACQUIRE);
	if (state == 0 || (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING)
		return false;
	if (state >> 2 != p->sequence)
		return begin(f, index, state >> 2);
	return !p->is_begun || __atomic_load_n(&packet->committed, __ATOMIC_RELAXED) > p->end;
}

static int find_thread(
	struct weft__follower *f, const struct weft__roster_thread *thread, uint32_t *ret_index)
{
	int error = weft__roster_find(&f->roster, thread, ret_index);
	f->description.threads = f->roster.list;
	f->description.thread_count = f->roster.count;
	return error;
}

/* Who runs at the packet's start follows from the thread's events before it, unless some of those
 * are lost. */
static void compare_numbers(struct weft__follower *f, struct place *p, uint64_t number)
{
	uint64_t *known = &f->roster.events[p->thread];
	p->tells_task = number != *known && (*known > 0 || p->task != WEFT_TASK_NONE);
	*known = number;
}

/* WEFT_OK, WEFT_AGAIN if it is gone, or an error. */
static int read_header(struct weft__follower *f, uint32_t index)
{
	const struct weft_abi_packet *live = packet_of(f, index);
	struct place *p = &f->places[index];
	struct weft_abi_packet header;
	copy_words((uint8_t *)&header, (const uint8_t *)live, sizeof(header));
	if (!is_same(live, p->sequence))
		return WEFT_AGAIN;
	const struct weft__roster_thread thread = {
		header.thread, header.tid, (const uint8_t *)header.name};
	int error = find_thread(f, &thread, &p->thread);
	if (error)
		return error;
	settle(f, index, header.before);
	p->base_ticks = header.base_ticks;
	p->task = header.task;
	memcpy(p->name, header.name, sizeof(p->name));
	p->is_begun = true;
	compare_numbers(f, p, header.number);
	return WEFT_OK;
}

/* Copies what is new. WEFT_OK, WEFT_AGAIN if nothing could be had, or an error. */
static int fetch(struct weft__follower *f, uint32_t index)
{
	const struct weft_abi_packet *live = packet_of(f, index);
	struct place *p = &f->places[index];
	int status = p->is_begun ? WEFT_OK : read_header(f, index);
	if (status)
		return status;
	/* Acquire: an event's bytes were stored before the commit that covers them. */
	uint32_t committed = __atomic_load_n(&live->committed, __ATOMIC_ACQUIRE);
	if (committed > f->buffer.packet_bytes || committed % 8 || committed < p->end) {
		if (is_same(live, p->sequence)) {
			complain(f, index, offsetof(struct weft_abi_packet, committed),
				"a packet's size makes no sense");
			p->end = UINT32_MAX;
		}
		return WEFT_AGAIN;
	}
	if (committed == p->end)
		return WEFT_AGAIN;
	uint8_t *copy = take_block(f);
	if (!copy)
		return WEFT_ERROR_MEMORY;
	p->copy = copy;
	copy_words(copy, (const uint8_t *)live + p->end, committed - p->end);
	if (!is_same(live, p->sequence)) {
		release_copy(f, p);
		return WEFT_AGAIN;
	}
	p->from = p->at = p->end;
	p->end = committed;
	return WEFT_OK;
}

/* ---- A new content at a place that waits with an old one ---- */

/* Events in the copy that were not given. Damage ends the count, as it ends their reading. */
static uint64_t count_unread(const struct place *p)
{
	struct weft__words words;
	uint64_t count = 0;
	for (uint32_t at = p->at; at < p->end; at += words.count * 8) {
		if (!weft__words_read(p->copy + (at - p->from), p->end - at, &words))
			break;
		count += words.kind != WEFT_ABI_TIME && words.kind != WEFT_ABI_THREAD;
	}
	return count;
}

/* The unread rest of the copy is on its own from here on. Its events count as given already, for
 * the new content's account begins behind them. False if too many rests are unread. */
static bool detach(struct weft__follower *f, uint32_t index)
{
	struct place *p = &f->places[index];
	if (!f->unused_count)
		return false;
	uint32_t other = f->unused[--f->unused_count];
	f->places[other] = *p;
	f->places[other].is_waiting = false;
	f->places[index].accounted += count_unread(p);
	p->copy = NULL;
	p->tells_task = false;
	insert(f, other);
	return true;
}

/* The task that ran when the old content began was not given: the thread's next packet gives its
 * own, because no packet begins with this number of events. */
static void forget_task(struct weft__follower *f, struct place *p)
{
	if (p->tells_task)
		f->roster.events[p->thread] = UINT64_MAX;
	p->tells_task = false;
}

/* True if the waiting place got another time. */
static bool renew_waiting(struct weft__follower *f, uint32_t index)
{
	struct place *p = &f->places[index];
	uint64_t state = __atomic_load_n(&packet_of(f, index)->state, __ATOMIC_ACQUIRE);
	if ((state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING || state >> 2 == p->sequence)
		return false;
	if (p->copy && !detach(f, index))
		return false;
	forget_task(f, p);
	return begin(f, index, state >> 2);
}

/* No event is borrowed meanwhile: a renewed place may no longer be the first. */
static void scan(struct weft__follower *f)
{
	bool is_renewed = false;
	for (uint32_t i = 0; i < f->buffer.packet_count; i++)
		if (f->places[i].is_waiting)
			is_renewed |= renew_waiting(f, i);
		else if (has_news(f, i))
			insert(f, i);
	if (is_renewed)
		rebuild(f);
}

/* ---- From the copies ---- */

static const uint8_t *bytes_at(const struct place *p)
{
	return p->copy + (p->at - p->from);
}

/* Steps over an event that is none for users. WEFT_OK, WEFT_AGAIN if it is one for users, or an
 * error. */
static int take_record(struct weft__follower *f, struct place *p, const struct weft__words *w)
{
	if (w->kind == WEFT_ABI_TIME && w->count >= 2) {
		p->base_ticks = weft__load_u64(w->at + 8);
	} else if (w->kind == WEFT_ABI_THREAD && w->count >= WEFT_ABI_THREAD_WORDS) {
		const struct weft__roster_thread thread = {weft__load_u32(w->at + 12),
			weft__load_u32(w->at + 8),
			w->count >= WEFT_ABI_THREAD_WORDS + 2 ? w->at + 16 : p->name};
		int error = find_thread(f, &thread, &p->thread);
		if (error)
			return error;
		p->task = WEFT_TASK_NONE;
		f->roster.events[p->thread] = 0;
	} else {
		return WEFT_AGAIN;
	}
	p->at += w->count * 8;
	return WEFT_OK;
}

static void set_time(struct weft__follower *f, struct place *p, const struct weft__words *w)
{
	uint64_t ns = to_ns(f, p->base_ticks + w->ticks);
	if (ns < p->next_ns)
		complain(f, p->index, p->at, "time goes backwards within a packet; it is held");
	else
		p->next_ns = ns;
}

/* Finds the first place's next event in its copy. WEFT_AGAIN if there is none, or an error. */
static int find_event(struct weft__follower *f, struct place *p)
{
	struct weft__words words;
	while (p->at < p->end) {
		if (!weft__words_read(bytes_at(p), p->end - p->at, &words)) {
			complain(f, p->index, p->at,
				"an event that runs out of its packet; the rest of the packet is lost");
			p->end = UINT32_MAX;
			return WEFT_AGAIN;
		}
		int status = take_record(f, p, &words);
		if (status == WEFT_AGAIN) {
			set_time(f, p, &words);
			return WEFT_OK;
		}
		if (status)
			return status;
	}
	return WEFT_AGAIN;
}

/* The first place has nothing more in its copy. What came meanwhile may lie before the mark, and
 * the next look would be too late for it. */
static void renew_first(struct weft__follower *f)
{
	struct place *p = &f->places[f->heap[0]];
	release_copy(f, p);
	bool is_exhausted = f->budget == 0;
	if (is_detached(f, p) || !has_news(f, p->index) || (is_exhausted && f->is_finished)) {
		remove_first(f);
		return;
	}
	f->budget -= !is_exhausted;
	sift_down(f);
}

/* The first place goes to its next event, to its next content, or away. */
static int advance(struct weft__follower *f)
{
	struct place *p = &f->places[f->heap[0]];
	int status = p->copy ? find_event(f, p) : WEFT_AGAIN;
	if (status == WEFT_AGAIN)
		renew_first(f);
	else if (status == WEFT_OK)
		sift_down(f);
	return status < 0 ? status : 0;
}

static int load_first(struct weft__follower *f)
{
	const struct place *p = &f->places[f->heap[0]];
	int status = fetch(f, f->heap[0]);
	if (status < 0 || p->tells_task)
		return status < 0 ? status : 0;
	if (status == WEFT_OK)
		return advance(f);
	renew_first(f);
	return 0;
}

static void tell_task(struct place *p, struct weft_event *event)
{
	event->type = WEFT_EVENT_SWITCH;
	event->task = p->task;
	event->is_rundown = true;
	p->tells_task = false;
}

/* The first place's next event. WEFT_AGAIN if it can't be given. */
static int take_event(struct weft__follower *f, struct weft_event *event)
{
	struct place *p = &f->places[f->heap[0]];
	struct weft__words words;
	*event = (struct weft_event){
		.time_ns = p->next_ns < f->given_ns ? f->given_ns : p->next_ns,
		.offset = f->buffer.packets_offset + (uint64_t)p->index * f->buffer.packet_bytes + p->at,
		.thread = p->thread,
	};
	if (p->tells_task) {
		tell_task(p, event);
		return WEFT_OK;
	}
	if (!weft__words_read(bytes_at(p), p->end - p->at, &words))
		return WEFT_AGAIN;
	const char *wrong = weft__event_decode(&f->buffer, &words, &p->task, &f->scratch, event);
	if (wrong)
		complain(f, p->index, p->at, wrong);
	p->at += words.count * 8;
	p->accounted++; /* unused in a detached place: detach() has counted its events */
	f->roster.events[p->thread]++;
	/* Held up for so long that the mark did not wait for it. */
	bool is_late = p->next_ns < f->given_ns;
	if (is_late)
		f->description.losses[WEFT_LOSS_STALLED]++;
	return wrong || is_late ? WEFT_AGAIN : WEFT_OK;
}

/* Of the mark's own nanosecond a thread may go on: see look_for_equals(). */
bool weft__follower_is_ready(const struct weft__follower *f)
{
	if (f->heap_count == 0)
		return false;
	const struct place *p = &f->places[f->heap[0]];
	return p->next_ns < f->mark_ns || (p->next_ns == f->mark_ns && (p->is_sure || f->is_finished));
}

/* What was at each place when the program ended, and could not be read. */
static void settle_all(struct weft__follower *f)
{
	for (uint32_t i = 0; i < f->buffer.packet_count; i++) {
		const struct weft_abi_packet *packet = packet_of(f, i);
		uint64_t state = load(&packet->state);
		if (state && (state & WEFT_ABI_PACKET_STATE) != WEFT_ABI_PACKET_OPEN)
			settle(f, i, load(&packet->written));
	}
}

/* The event that was given last is no longer borrowed. */
static int pass_given(struct weft__follower *f)
{
	/* However fast the writers are, a call ends. */
	f->budget = 2 * f->buffer.packet_count;
	if (!f->has_given)
		return 0;
	f->has_given = false;
	return advance(f);
}

/* One step with the first place: WEFT_OK if it gave an event, WEFT_AGAIN, or an error. */
static int step(struct weft__follower *f, struct weft_event *event)
{
	const struct place *p = &f->places[f->heap[0]];
	int error;
	if (!p->copy && !p->tells_task) {
		error = load_first(f);
		return error ? error : WEFT_AGAIN;
	}
	if (take_event(f, event) == WEFT_OK)
		return WEFT_OK;
	error = advance(f);
	return error ? error : WEFT_AGAIN;
}

int weft__follower_next(struct weft__follower *f, struct weft_event *ret_event)
{
	struct weft_event event;
	int status = pass_given(f);
	if (status)
		return status;
	while (weft__follower_is_ready(f)) {
		if (f->budget == 0 && !f->is_finished)
			return WEFT_AGAIN; /* all stay where they are: what follows must not overtake them */
		status = step(f, &event);
		if (status < 0)
			return status;
		if (status == WEFT_OK) {
			if (weft__span_hold(&f->span, &event.time_ns))
				weft_diagnostics_add(&f->diagnostics, event.offset, WEFT__SPAN_MESSAGE);
			f->given_ns = event.time_ns;
			f->has_given = true;
			*ret_event = event;
			return WEFT_OK;
		}
	}
	/* All before the mark was given. */
	if (!f->is_finished && f->given_ns < f->mark_ns)
		f->given_ns = f->mark_ns;
	if (!f->is_finished || f->heap_count)
		return WEFT_AGAIN;
	settle_all(f);
	return WEFT_END;
}

/* ---- Looking ---- */

uint64_t weft__follower_latest(struct weft__follower *f)
{
	return weft__mark_latest(&f->mark, &f->buffer);
}

/* What has the mark's own stamp need not be all that will have it: a moment may go on, from a
 * packet that the scan found read to the next one, that it found later. What is before the mark was
 * committed before the scan; of equals, one scan more finds what was committed before those that
 * the first one found, and only these are given. */
static void look_for_equals(struct weft__follower *f)
{
	bool has_equals = false;
	for (uint32_t i = 0; i < f->heap_count; i++) {
		struct place *p = &f->places[f->heap[i]];
		p->is_sure = true;
		has_equals |= p->next_ns == f->mark_ns;
	}
	if (has_equals)
		scan(f);
}

int weft__follower_look(struct weft__follower *f, uint64_t ticks)
{
	int error = pass_given(f);
	if (error || f->is_finished)
		return error;
	weft__mark_look(&f->mark, ticks, &f->buffer.clock);
	f->mark_ns = to_ns(f, f->mark.ticks);
	/* The commits are read after the sequences, which were loaded with acquire order. */
	scan(f);
	look_for_equals(f);
	read_losses(f);
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
	int error = pass_given(f);
	if (error || f->is_finished)
		return error;
	f->is_finished = true;
	f->mark_ns = UINT64_MAX;
	scan(f);
	read_losses(f);
	return 0;
}

/* ---- Beginning and end ---- */

static int allocate(struct weft__follower *f)
{
	size_t count = f->buffer.packet_count + (size_t)1;
	f->places = calloc(2 * count, sizeof(*f->places));
	f->heap = calloc(2 * count, sizeof(*f->heap));
	f->unused = calloc(count, sizeof(*f->unused));
	f->spare = calloc(SPARE_MAX, sizeof(*f->spare));
	if (!f->places || !f->heap || !f->unused || !f->spare)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < f->buffer.packet_count; i++) {
		f->places[i].index = i;
		f->unused[f->unused_count++] = f->buffer.packet_count + i;
	}
	return 0;
}

/* The accounts begin with what is gone already. One load each: any count that a packet ever showed
 * is a good beginning. */
static void open_accounts(struct weft__follower *f)
{
	for (uint32_t i = 0; i < f->buffer.packet_count; i++) {
		f->places[i].accounted = load(&packet_of(f, i)->before);
		f->description.losses[WEFT_LOSS_OVERWRITTEN] += f->places[i].accounted;
	}
}

static int init(struct weft__follower *f, const uint8_t *bytes, size_t size)
{
	const struct weft__input input = {bytes, size, &f->diagnostics, &f->description, NULL};
	f->description.format = "weft";
	int error = weft__buffer_init(&f->buffer, &input);
	if (!error)
		error = weft__buffer_keep_names(&f->buffer);
	if (!error)
		error = weft__mark_init(&f->mark, &f->buffer, size);
	if (!error)
		error = weft__roster_init(&f->roster, &f->buffer);
	if (!error)
		error = allocate(f);
	if (error)
		return error;
	f->description.threads = f->roster.list;
	f->description.thread_count = f->roster.count;
	open_accounts(f);
	read_losses(f);
	return 0;
}

int weft__follower_create(const uint8_t *bytes, size_t size, struct weft__follower **ret_follower)
{
	if (!weft__buffer_probe(bytes, size))
		return size ? WEFT_ERROR_FORMAT : WEFT_ERROR_EMPTY;
	struct weft__follower *f = calloc(1, sizeof(*f));
	if (!f)
		return WEFT_ERROR_MEMORY;
	int error = init(f, bytes, size);
	if (error)
		weft__follower_destroy(f);
	else
		*ret_follower = f;
	return error;
}

void weft__follower_destroy(struct weft__follower *f)
{
	if (!f)
		return;
	for (uint64_t i = 0; f->places && i < 2 * (uint64_t)f->buffer.packet_count; i++)
		free(f->places[i].copy);
	for (uint32_t i = 0; i < f->spare_count; i++)
		free(f->spare[i]);
	free(f->places);
	free(f->heap);
	free(f->unused);
	free(f->spare);
	weft__mark_finish(&f->mark);
	weft__buffer_finish(&f->buffer);
	weft__roster_finish(&f->roster);
	weft_text_finish(&f->scratch.text);
	free(f);
}

uint64_t weft__follower_mark_ns(const struct weft__follower *f)
{
	return f->mark_ns;
}

const struct weft_trace_description *weft__follower_describe(const struct weft__follower *f)
{
	return &f->description;
}

struct weft_diagnostics *weft__follower_diagnostics(struct weft__follower *f)
{
	return &f->diagnostics;
}
