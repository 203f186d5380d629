/* SPDX-License-Identifier: ISC
 *
 * Many events with one call, each with a time of its own that lies in the past.
 *
 * That is possible inside a moment alone: from its beginning on, followers expect events that are
 * as old as its stamp (moment.c). Each reservation moves the stamp forward to the time of its first
 * event, so the times of a thread's events never go back, whatever else the thread or its signal
 * handlers record in between. Outside of a moment, the call is a moment of its own.
 */
#include <weft/clocks.h>
#include <weft/weft_ffi.h>

#include "abi/event_abi.h"
#include "abi/name_abi.h"
#include "record/category.h"
#include "record/copy.h"
#include "record/put.h"
#include "record/text.h"

/* How many operands an event has besides the acting task, and which task runs from then on. */
enum shape {
	UNKNOWN,
	STATEMENT,
	EDGE,
	READS,    /* the acting task runs unless the flag says "later" */
	SIGNALS,  /* the other task runs if the flag says so */
	SWITCHES, /* the other task runs */
	CREATES,
};

static const uint8_t shapes[] = {
	[WEFT_BATCH_CREATE] = CREATES,
	[WEFT_BATCH_READ] = READS,
	[WEFT_BATCH_TRY_READ] = EDGE,
	[WEFT_BATCH_RESOLVE] = EDGE,
	[WEFT_BATCH_BECOME] = EDGE,
	[WEFT_BATCH_SWITCH] = SWITCHES,
	[WEFT_BATCH_SIGNAL] = SIGNALS,
	[WEFT_BATCH_EXPECT] = STATEMENT,
	[WEFT_BATCH_CANCEL] = EDGE,
	[WEFT_BATCH_CLOSE] = EDGE,
	[WEFT_BATCH_TIME_OUT] = EDGE,
	[WEFT_BATCH_ACQUIRE] = EDGE,
	[WEFT_BATCH_RELEASE] = EDGE,
	[WEFT_BATCH_WAIT_ANY] = EDGE,
	[WEFT_BATCH_SEND] = EDGE,
	[WEFT_BATCH_RECEIVE] = EDGE,
};

_Static_assert((int)WEFT_BATCH_CREATE == (int)WEFT_ABI_CREATE, "number");
_Static_assert((int)WEFT_BATCH_READ == (int)WEFT_ABI_READ, "number");
_Static_assert((int)WEFT_BATCH_TRY_READ == (int)WEFT_ABI_TRY_READ, "number");
_Static_assert((int)WEFT_BATCH_RESOLVE == (int)WEFT_ABI_RESOLVE, "number");
_Static_assert((int)WEFT_BATCH_BECOME == (int)WEFT_ABI_BECOME, "number");
_Static_assert((int)WEFT_BATCH_SWITCH == (int)WEFT_ABI_SWITCH, "number");
_Static_assert((int)WEFT_BATCH_SIGNAL == (int)WEFT_ABI_SIGNAL, "number");
_Static_assert((int)WEFT_BATCH_EXPECT == (int)WEFT_ABI_EXPECT, "number");
_Static_assert((int)WEFT_BATCH_CANCEL == (int)WEFT_ABI_CANCEL, "number");
_Static_assert((int)WEFT_BATCH_CLOSE == (int)WEFT_ABI_CLOSE, "number");
_Static_assert((int)WEFT_BATCH_TIME_OUT == (int)WEFT_ABI_TIME_OUT, "number");
_Static_assert((int)WEFT_BATCH_ACQUIRE == (int)WEFT_ABI_ACQUIRE, "number");
_Static_assert((int)WEFT_BATCH_RELEASE == (int)WEFT_ABI_RELEASE, "number");
_Static_assert((int)WEFT_BATCH_WAIT_ANY == (int)WEFT_ABI_WAIT_ANY, "number");
_Static_assert((int)WEFT_BATCH_SEND == (int)WEFT_ABI_SEND, "number");
_Static_assert((int)WEFT_BATCH_RECEIVE == (int)WEFT_ABI_RECEIVE, "number");
_Static_assert(sizeof(struct weft_batch_event) == 24, "batch event");

/* Fraction bits of the number of ticks in a nanosecond. */
#define RATE_BITS 20
/* Events are at most this old, 18 minutes, so that the product fits. */
#define AGE_MAX_NS ((uint64_t)1 << 40)

/* The events that are left, and how their times become ticks. */
struct batch {
	const struct weft_category *category; /* NULL: "program" */
	const struct weft_batch_event *events, *end;
	uint64_t time;           /* of the first of these, but for its delta */
	uint64_t now, now_ticks; /* by the batch's clock, and the recorder's */
	uint64_t rate;           /* ticks per unit, << RATE_BITS; 0: units are ticks */
	bool is_filtered;
};

/* Without a division of 64 bits, for which some compilers call a library. `of` is not 0. */
static uint64_t divide(uint64_t number, uint64_t of)
{
	uint64_t quotient = 0, rest = 0;
	for (unsigned bit = 64; bit-- > 0;) {
		rest = rest << 1 | (number >> bit & 1);
		quotient <<= 1;
		if (rest >= of) {
			rest -= of;
			quotient |= 1;
		}
	}
	return quotient;
}

/* The recorder's clock since the buffer was begun tells its rate; the older, the more exact. */
static uint64_t rate_since(const struct weft_abi_clock_reading *start, const struct batch *b)
{
	uint64_t ticks = b->now_ticks - weft__load(&start->ticks);
	uint64_t from = weft__load(&start->monotonic_ns), ns = b->now - from;
	if (from == 0 || b->now <= from)
		return 0;
	for (; ticks >> (63 - RATE_BITS); ns >>= 1)
		ticks >>= 1;
	return ns ? divide(ticks << RATE_BITS, ns) : 0;
}

/* False: the clock cannot be read, or says nothing about the recorder's. */
static bool read_clock(struct batch *b, unsigned clock, const struct weft_abi_clock_reading *start)
{
	b->rate = 0;
	b->now_ticks = weft__record_ticks(weft__record_platform());
	if (clock == WEFT_CLOCK_RECORDER) {
		b->now = b->now_ticks;
		return true;
	}
	if (clock != WEFT_CLOCK_MONOTONIC || !weft__platform_clock(clock, &b->now))
		return false;
	b->rate = rate_since(start, b);
	return b->rate != 0;
}

WEFT__ALWAYS_INLINE uint64_t ticks_of(const struct batch *b, uint64_t time)
{
	if (time >= b->now)
		return b->now_ticks;
	if (!b->rate)
		return time;
	uint64_t age = b->now - time;
	age = (age < AGE_MAX_NS ? age : AGE_MAX_NS) * b->rate >> RATE_BITS;
	return age < b->now_ticks ? b->now_ticks - age : 0;
}

WEFT__ALWAYS_INLINE enum shape shape_of(const struct weft_batch_event *event)
{
	return event->event < sizeof(shapes) ? (enum shape)shapes[event->event] : UNKNOWN;
}

/* The task that runs from this event on; WEFT_TASK_CURRENT: the same as before. */
WEFT__ALWAYS_INLINE uint64_t runs(const struct weft_batch_event *event)
{
	enum shape shape = shape_of(event);
	if (shape == READS && event->kind != 1)
		return event->task;
	if (shape == SWITCHES || (shape == SIGNALS && event->kind == 1))
		return event->other;
	return WEFT_TASK_CURRENT;
}

WEFT__ALWAYS_INLINE bool has_category(const struct batch *b, const struct weft_batch_event *event)
{
	return b->category && shape_of(event) == CREATES && event->kind <= WEFT_ABI_KIND_NAMED;
}

/* A switch is no act of a task. */
WEFT__ALWAYS_INLINE bool is_explicit(const struct weft_batch_event *event)
{
	return event->task != WEFT_TASK_CURRENT && shape_of(event) != SWITCHES;
}

/* 0: not to be recorded. */
WEFT__ALWAYS_INLINE uint32_t words_of(const struct batch *b, const struct weft_batch_event *event)
{
	if (b->is_filtered)
		return runs(event) != WEFT_TASK_CURRENT ? 2 : 0;
	if (shape_of(event) == UNKNOWN)
		return 0;
	return 1 + is_explicit(event) + (shape_of(event) != STATEMENT) + has_category(b, event);
}

WEFT__ALWAYS_INLINE void put(const struct batch *b, const struct weft__room *room, uint32_t words,
	const struct weft_batch_event *event)
{
	uint64_t runs_then = runs(event);
	unsigned kind = b->is_filtered ? WEFT_ABI_SWITCH : event->event;
	unsigned small = b->is_filtered ? 0 : event->kind;
	uint32_t at = 1;
	if (!b->is_filtered && is_explicit(event)) {
		kind |= WEFT_ABI_EXPLICIT;
		weft__store(&room->at[at++], event->task);
	}
	if (at < words)
		weft__store(&room->at[at++], b->is_filtered ? runs_then : event->other);
	if (at < words)
		weft__store(&room->at[at], weft__record_category_name(room->slot, b->category));
	weft__record_store_head(room, WEFT_ABI_HEAD(kind, words, small));
	if (runs_then != WEFT_TASK_CURRENT)
		weft__store(&room->slot->task, runs_then);
}

/* The events that share a reservation: as many as fit a record, and stamps with one upper half. */
struct part {
	const struct weft_batch_event *end;
	uint64_t first, time; /* ticks of the first one; the time of the last one */
	uint32_t words, count;
};

static struct part next_part(const struct batch *b, uint64_t floor)
{
	struct part part = {.end = b->events, .time = b->time};
	for (; part.end < b->end; part.end++) {
		uint64_t time = part.time + part.end->delta, ticks = ticks_of(b, time);
		uint32_t words = words_of(b, part.end);
		ticks = ticks > floor ? ticks : floor;
		if (part.count == 0)
			part.first = ticks;
		if (part.words + words > WEFT_ABI_WORDS_MAX || ticks >> 32 != part.first >> 32)
			break;
		part.time = time;
		part.words += words;
		part.count += words != 0;
	}
	return part;
}

/* Fills the room, and commits all of it at once. No stamp is lower than the one before; `last` is
 * that of the reservation, which may be later than planned, because of a signal handler. */
static void put_part(
	const struct batch *b, const struct weft__room *room, const struct part *part, uint64_t last)
{
	struct weft_abi_slot *slot = room->slot;
	struct weft__room one = *room;
	uint64_t time = b->time;
	for (const struct weft_batch_event *event = b->events; event < part->end; event++) {
		uint32_t words = words_of(b, event);
		time += event->delta;
		if (!words)
			continue;
		uint64_t ticks = ticks_of(b, time);
		last = ticks > last ? ticks : last;
		one.stamp = (uint32_t)last;
		put(b, &one, words, event);
		one.at += words;
	}
	weft__store(&slot->moment, last);
	weft__store(&slot->surplus, weft__load(&slot->surplus) + part->words - 2 * part->count);
	weft__record_publish(room, part->words);
	/* Release, as in weft__record_commit. */
	weft__store_release(room->guard, room->clear);
}

/* The moment's stamp becomes `*ticks` or, if it is later already, stays and is returned. */
static bool reserve_at(
	struct weft_abi_slot *slot, uint32_t words, uint64_t *ticks, struct weft__room *ret)
{
	uint32_t events;
	if (weft__record_guard_moment(slot, &events)) {
		if (*ticks > weft__load(&slot->moment))
			weft__store(&slot->moment, *ticks);
		/* From 0 on, so that this reservation does not renew it. */
		weft__store_release(&slot->moment_events, 0);
	}
	if (!weft__record_reserve_slowly(slot, words, ret))
		return false;
	*ticks = weft__load(&slot->moment);
	return true;
}

/* The refused reservation counts as one lost event. */
static WEFT__COLD void count_lost(struct weft_abi_slot *slot, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		weft__record_count_loss(slot, WEFT_ABI_LOSS_FULL);
}

static void put_all(struct weft_abi_slot *slot, struct batch *b)
{
	while (b->events < b->end) {
		struct part part = next_part(b, weft__load(&slot->moment));
		struct weft__room room;
		uint64_t ticks = part.first;
		if (part.words && reserve_at(slot, part.words, &ticks, &room))
			put_part(b, &room, &part, ticks);
		else
			count_lost(slot, part.count);
		b->events = part.end;
		b->time = part.time;
	}
}

void weft__record_batch(const struct weft_category *category, bool is_filtered, unsigned clock,
	uint64_t begin, const struct weft_batch_event *events, size_t count)
{
	const struct weft__self *self = weft__record_entered();
	if (!self || weft__record_is_off() || !count)
		return;
	struct batch b = {
		.category = category == &weft_category_program ? NULL : category,
		.events = events,
		.end = events + count,
		.time = begin,
		.is_filtered = is_filtered,
	};
	bool needs_moment = !weft__record_is_in_moment(self);
	if (needs_moment)
		weft_moment_begin();
	if (!read_clock(&b, clock, &weft__record_header_of(self->slot)->start))
		b.now = 0; /* all events happen now */
	put_all(self->slot, &b);
	if (needs_moment)
		weft_moment_end();
}
