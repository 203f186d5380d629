/* SPDX-License-Identifier: ISC
 *
 * Gives the events of all packets of a buffer or a stream in time order: up to the low-water mark
 * while the program goes on, up to the last event of a saved trace.
 *
 * Each packet is in time order, and the packets of one thread do not overlap. So a queue of
 * packets, ordered by the time of each one's next event or a lower bound of it, gives all events in
 * order. Packets wait in the ring, not in our memory: a packet is copied when it becomes the first
 * in the queue, and only its new part. So about one copy per thread is held at a time.
 *
 * A copy is valid if the packet's sequence is the same after it; otherwise the content was
 * overwritten. The packets count how many events were lost that way: each position of the ring has
 * an account of the events that were ever written there, and every one of them is either given or
 * lost.
 */
#include "format/weft/follow/follower.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/weft/follow/followed.h"

void weft__format_follower_report(
	struct weft__follower *f, const struct weft__followed *p, uint32_t offset, const char *message)
{
	weft_diagnostics_add(f->diagnostics, p->offset + offset, message);
}

/* ---- Losses ---- */

/* Counts as lost the events of a packet that were not read. In a saved buffer they count as
 * overwritten, not as stalled, because its reader did not have to keep up with the program. */
void weft__format_follower_settle(
	struct weft__follower *f, struct weft__followed *p, uint64_t written)
{
	enum weft_loss cause = f->is_saved ? WEFT_LOSS_OVERWRITTEN : WEFT_LOSS_STALLED;
	if (written < p->account.events)
		weft__format_follower_report(f, p, offsetof(struct weft_abi_packet, before),
			"a packet's count of events goes backwards");
	f->description->losses[cause] += weft__format_account_close(&p->account, written);
}

/* Counts as lost the events that could not be read when the program ended. */
static void settle_all(struct weft__follower *f)
{
	uint64_t written;
	for (uint32_t i = 0; i < f->buffer.packet_count; i++)
		if (weft__format_packet_written(&f->buffer, i, &written))
			weft__format_follower_settle(f, &f->followed[i], written);
}

/* ---- The first packet in the queue ---- */

/* A time before the previous event's or after the end of the trace is damaged: the event gets the
 * previous time. */
static void set_time(struct weft__follower *f, struct weft__followed *p)
{
	uint64_t ns = weft__format_ticks_to_ns(&f->buffer.clock, p->words.ticks);
	uint32_t offset = p->cursor.offset - p->words.count * (uint32_t)sizeof(uint64_t);
	if (ns < p->next_ns)
		weft__format_follower_report(
			f, p, offset, "time goes backwards within a packet; the previous time is used");
	else if (ns > f->last_ns)
		weft__format_follower_report(f, p, offset, WEFT__SPAN_MESSAGE);
	else {
		p->next_ns = ns;
		p->next_ticks = p->words.ticks;
	}
}

/* The events from here on belong to another thread, which began in this packet. */
static int change_thread(struct weft__follower *f, struct weft__followed *p)
{
	const struct weft__thread thread = weft__format_record_words_thread(&p->words);
	int error = weft__format_followed_find_thread(f, p, &thread);
	if (error)
		return error;
	p->task = WEFT_TASK_NONE;
	f->threads.events[p->thread] = 0;
	return 0;
}

/* Finds the packet's next event in its copy. Returns WEFT_OK, WEFT_AGAIN if there is none, or an
 * error. */
static int find_event(struct weft__follower *f, struct weft__followed *p)
{
	int error = 0;
	while (!error) {
		enum weft__found found = weft__format_cursor_next(&p->cursor, &p->words);
		if (found == WEFT__FOUND_EVENT) {
			set_time(f, p);
			p->has_event = true;
			return WEFT_OK;
		}
		if (found == WEFT__FOUND_END)
			return WEFT_AGAIN;
		if (found == WEFT__FOUND_DAMAGE) {
			weft__format_follower_report(f, p, p->cursor.offset,
				"an event extends past its packet's end; the rest of the packet is lost");
			p->is_damaged = true;
			return WEFT_AGAIN;
		}
		error = change_thread(f, p);
	}
	return error;
}

static void settle_first(struct weft__follower *f)
{
	const struct weft__followed *p = weft__format_first_followed(f);
	f->queue.entries[0].time_ns = p->next_ns;
	f->queue.entries[0].sequence = p->sequence;
	weft__format_queue_settle_first(&f->queue);
}

static void remove_first(struct weft__follower *f)
{
	struct weft__followed *p = weft__format_first_followed(f);
	p->is_waiting = false;
	if (weft__format_followed_is_detached(f, p))
		f->unused[f->unused_count++] = (uint32_t)(p - f->followed);
	weft__format_queue_remove_first(&f->queue);
}

/* Ends the reading of a saved packet. If nothing could be copied, it may have been overwritten
 * before its turn: its events then count as lost. */
static int end_saved(struct weft__follower *f, struct weft__followed *p)
{
	int error = p->is_begun ? weft__format_gaps_end_packet(&f->gaps, p->thread, p->next_ns) : 0;
	if (!f->buffer.stream && p->cursor.end == sizeof(struct weft_abi_packet))
		weft__format_follower_settle(f, p, weft__format_packet_gone(&f->buffer, p->packet));
	remove_first(f);
	return error;
}

/* The first packet's copy is read to its end. Content that came meanwhile may lie before the mark,
 * and the next look would find it too late: so the packet stays in the queue if it has any. */
static int renew_first(struct weft__follower *f)
{
	struct weft__followed *p = weft__format_first_followed(f);
	weft__format_followed_release(p);
	if (f->is_saved)
		return end_saved(f, p);
	bool is_exhausted = f->budget == 0;
	if (weft__format_followed_is_detached(f, p) || !weft__format_followed_has_news(f, p) ||
		(is_exhausted && f->is_finished)) {
		remove_first(f);
		return 0;
	}
	f->budget -= !is_exhausted;
	settle_first(f);
	return 0;
}

/* Moves the first packet to its next event or its next content, or removes it. */
static int advance(struct weft__follower *f)
{
	struct weft__followed *p = weft__format_first_followed(f);
	p->has_event = false;
	int status = find_event(f, p);
	if (status == WEFT_AGAIN)
		return renew_first(f);
	if (status == WEFT_OK)
		settle_first(f);
	return status;
}

/* The same, at once, if the next event is the earliest of all: nearly always. False: nothing has
 * changed. */
static bool goes_on(struct weft__follower *f)
{
	struct weft__followed *p = weft__format_first_followed(f);
	if (!weft__format_cursor_next_event(&p->cursor, &p->words))
		return false;
	const uint64_t ns = weft__format_ticks_to_ns(&f->buffer.clock, p->words.ticks);
	if (ns < weft__format_follower_earliest(f, p) || ns >= weft__format_follower_before(f)) {
		weft__format_cursor_back(&p->cursor, &p->words);
		return false;
	}
	p->next_ns = f->queue.entries[0].time_ns = ns;
	p->next_ticks = p->words.ticks;
	p->has_event = true;
	return true;
}

static int load_first(struct weft__follower *f)
{
	struct weft__followed *p = weft__format_first_followed(f);
	int status = weft__format_followed_fetch(f, p);
	if (status < 0 || p->gives_switch)
		return status < 0 ? status : 0;
	return status == WEFT_OK ? advance(f) : renew_first(f);
}

int weft__format_follower_pass_given(struct weft__follower *f)
{
	/* Bounds the call, however fast the writers are. */
	f->budget = 2 * f->buffer.packet_count;
	if (!f->has_given)
		return 0;
	f->has_given = false;
	return goes_on(f) ? 0 : advance(f);
}

/* ---- Giving ---- */

/* It stands in the packet's header, after which the input may end. */
static void give_switch(struct weft__followed *p, struct weft_event *event)
{
	event->type = WEFT_EVENT_SWITCH;
	event->task = p->task;
	event->is_rundown = true;
	event->offset = p->offset + offsetof(struct weft_abi_packet, task);
	p->gives_switch = false;
}

/* Returns NULL, or a description of the damage. */
static const char *decode(
	struct weft__follower *f, struct weft__followed *p, uint32_t offset, struct weft_event *event)
{
	if (p->words.has_text) {
		p->words.text = weft__format_stream_text(&f->buffer, p->words.text_number);
		if (!p->words.text.bytes)
			weft__format_follower_report(f, p, offset, "an event's text is missing");
	}
	return weft__format_event_decode(&f->buffer, &p->words, &p->task, &f->scratch, event);
}

/* Takes the first packet's next event. Returns WEFT_AGAIN if it is damaged or too late to be
 * given. */
static int take_event(struct weft__follower *f, struct weft_event *event)
{
	struct weft__followed *p = weft__format_first_followed(f);
	/* The mark did not wait for this event, because its thread was inside it for too long. */
	bool is_late = p->next_ns < f->given_ns;
	uint32_t offset = p->cursor.offset;
	if (p->has_event)
		offset -= p->words.count * (uint32_t)sizeof(uint64_t);
	event->time_ns = is_late ? f->given_ns : p->next_ns;
	event->ticks = p->next_ticks;
	event->offset = p->offset + offset;
	event->thread = p->thread;
	if (p->gives_switch) {
		give_switch(p, event);
		return WEFT_OK;
	}
	const char *wrong = decode(f, p, offset, event);
	if (wrong)
		weft__format_follower_report(f, p, offset, wrong);
	/* The account is unused in a detached copy: detach() has counted its events. */
	p->account.events += p->words.is_counted;
	f->threads.events[p->thread] += p->words.is_counted;
	f->description->losses[WEFT_LOSS_STALLED] += is_late;
	return wrong || is_late ? WEFT_AGAIN : WEFT_OK;
}

/* True if the packet's next event was committed when the look scanned the ring: see note_sure(). */
static bool is_sure(const struct weft__followed *p)
{
	if (p->has_event)
		return p->cursor.offset <= p->sure_end;
	return p->cursor.offset < p->sure_end || (p->sure_end && !p->is_begun);
}

bool weft__format_follower_is_ready(const struct weft__follower *f)
{
	if (f->queue.count == 0)
		return false;
	const struct weft__followed *p = weft__format_first_followed(f);
	return p->next_ns < f->mark_ns || (p->next_ns == f->mark_ns && (f->is_finished || is_sure(p)));
}

/* The second scan of a look: see note_sure(). False if it was not due. */
static bool rescan(struct weft__follower *f)
{
	if (f->is_rescanned || f->is_finished || weft__format_first_followed(f)->next_ns < f->mark_ns)
		return false;
	f->is_rescanned = true;
	weft__format_follower_scan(f);
	return true;
}

/* Takes one step with the first packet: WEFT_OK if it gave an event, WEFT_AGAIN, or an error. */
static int step(struct weft__follower *f, struct weft_event *event)
{
	const struct weft__followed *p = weft__format_first_followed(f);
	int error;
	if (!p->has_event && !p->gives_switch) {
		error = load_first(f);
		return error ? error : WEFT_AGAIN;
	}
	if (take_event(f, event) == WEFT_OK)
		return WEFT_OK;
	memset(event, 0, sizeof(*event));
	error = advance(f);
	return error ? error : WEFT_AGAIN;
}

static void give(struct weft__follower *f, struct weft_event *event)
{
	if (!f->is_saved && weft__model_span_hold(&f->span, &event->time_ns))
		weft_diagnostics_add(f->diagnostics, event->offset, WEFT__SPAN_MESSAGE);
	f->given_ns = event->time_ns;
	f->has_given = true;
}

int weft__format_follower_take(struct weft__follower *f, struct weft_event *event)
{
	int status = weft__format_follower_pass_given(f);
	if (status)
		return status;
	while (weft__format_follower_is_ready(f)) {
		if (f->budget == 0 && !f->is_finished && !f->is_saved)
			return WEFT_AGAIN; /* no later event may overtake the first packet's */
		if (rescan(f))
			continue;
		status = step(f, event);
		if (status == WEFT_OK)
			give(f, event);
		if (status != WEFT_AGAIN)
			return status;
	}
	/* All events before the mark have been given. */
	if (!f->is_finished && f->given_ns < f->mark_ns)
		f->given_ns = f->mark_ns;
	if (!f->is_finished || f->queue.count)
		return WEFT_AGAIN;
	if (f->is_saved)
		return weft__format_follower_take_last_value(f, event);
	settle_all(f);
	return WEFT_END;
}

int weft__format_follower_next(struct weft__follower *f, struct weft_event *ret_event)
{
	struct weft_event event = {0};
	int status = weft__format_follower_take(f, &event);
	if (status == WEFT_OK)
		*ret_event = event;
	return status;
}

/* ---- Beginning and end ---- */

int weft__format_follower_add_followed(struct weft__follower *f, size_t count)
{
	size_t before = f->followed_count, after = before + count;
	int error = weft__array_resize(&f->followed, after, sizeof(*f->followed));
	if (!error)
		error = weft__array_resize(&f->unused, after, sizeof(*f->unused));
	if (!error)
		error = weft__array_resize(&f->queue.entries, after, sizeof(*f->queue.entries));
	if (error)
		return error;
	memset(f->followed + before, 0, count * sizeof(*f->followed));
	f->followed_count = after;
	for (size_t i = after; i-- > before;)
		f->unused[f->unused_count++] = (uint32_t)i;
	return 0;
}

/* Only a running program overwrites packets, so only then is room for detached copies needed. */
static int allocate(struct weft__follower *f)
{
	uint32_t packets = f->buffer.packet_count;
	int error = weft__format_follower_add_followed(f, (size_t)packets + 1);
	f->unused_count = 0;
	f->watched = malloc((packets + (size_t)1) * sizeof(*f->watched));
	if (!f->watched)
		error = WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; !error && i < packets; i++) {
		f->followed[i].packet = i;
		f->followed[i].offset =
			(uint64_t)(weft__format_buffer_packet(&f->buffer, i) - f->buffer.bytes);
	}
	return error || f->is_saved ? error : weft__format_follower_add_followed(f, packets);
}

/* Events that were overwritten before create are in the accounts from the beginning. A stream's
 * packets have no such counts. */
static void open_accounts(struct weft__follower *f)
{
	for (uint32_t i = 0; i < f->buffer.packet_count && !f->buffer.stream; i++) {
		f->followed[i].account.events = weft__format_packet_gone(&f->buffer, i);
		f->description->losses[WEFT_LOSS_OVERWRITTEN] += f->followed[i].account.events;
	}
}

int weft__format_follower_name(struct weft__follower *f)
{
	int error = weft__format_buffer_keep_names(&f->buffer);
	return error ? error : weft__format_threads_init(&f->threads, &f->buffer);
}

int weft__format_follower_init(struct weft__follower *f)
{
	int error = allocate(f);
	if (error)
		return error;
	f->last_ns = UINT64_MAX;
	f->description->threads = f->threads.list;
	f->description->thread_count = f->threads.count;
	open_accounts(f);
	return 0;
}

static int init(struct weft__follower *f, const struct weft__guest_facts *guest_facts,
	const uint8_t *bytes, size_t size)
{
	const struct weft__input input = {.bytes = bytes,
		.size = size,
		.diagnostics = f->diagnostics,
		.description = f->description,
		.guest_facts = guest_facts};
	f->description->format = "weft";
	int error = weft__format_buffer_init(&f->buffer, &input);
	if (!error)
		error = weft__format_mark_init(&f->mark, &f->buffer, size);
	if (!error)
		error = weft__format_follower_name(f);
	if (!error)
		error = weft__format_follower_init(f);
	if (!error)
		weft__format_buffer_load_losses(&f->buffer, f->description->losses);
	return error;
}

int weft__format_follower_create_at(const struct weft__guest_facts *guest_facts,
	const uint8_t *bytes, size_t size, struct weft__follower **ret_follower)
{
	if (!weft__format_buffer_probe(bytes, size))
		return size ? WEFT_ERROR_FORMAT : WEFT_ERROR_EMPTY;
	struct weft__follower *f = calloc(1, sizeof(*f));
	if (!f)
		return WEFT_ERROR_MEMORY;
	f->diagnostics = &f->own_diagnostics;
	f->description = &f->own_description;
	int error = init(f, guest_facts, bytes, size);
	if (error)
		weft__format_follower_destroy(f);
	else
		*ret_follower = f;
	return error;
}

int weft__format_follower_create(
	const uint8_t *bytes, size_t size, struct weft__follower **ret_follower)
{
	return weft__format_follower_create_at(NULL, bytes, size, ret_follower);
}

void weft__format_follower_destroy(struct weft__follower *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->followed_count; i++)
		free(f->followed[i].copy);
	free(f->followed);
	free(f->unused);
	free(f->watched);
	weft__format_queue_finish(&f->queue);
	weft__format_mark_finish(&f->mark);
	weft__format_gaps_finish(&f->gaps);
	weft__format_threads_finish(&f->threads);
	weft__format_buffer_finish(&f->buffer);
	weft_text_finish(&f->scratch.text);
	free(f);
}

void weft__format_follower_load_end(
	struct weft__follower *f, enum weft_abi_ending ending, uint64_t ticks)
{
	weft__format_buffer_load_end(&f->buffer, ending, ticks);
}

uint64_t weft__format_follower_mark_ns(const struct weft__follower *f)
{
	return f->mark_ns;
}

const struct weft__buffer *weft__format_follower_buffer(const struct weft__follower *f)
{
	return &f->buffer;
}

const struct weft_trace_description *weft__format_follower_describe(const struct weft__follower *f)
{
	return f->description;
}

struct weft_diagnostics *weft__format_follower_diagnostics(struct weft__follower *f)
{
	return f->diagnostics;
}
