/* SPDX-License-Identifier: ISC
 *
 * Events without text: one or two words, and the acting task where it is named.
 *
 * Each function is the fast path and a tail call to the slow one, which handles every case.
 */
#include "record/context_shown.h"
#include "record/copy.h"
#include "record/cpu.h"
#include "record/put.h"

WEFT__ALWAYS_INLINE void put(unsigned kind, unsigned small, uint64_t operand, uint64_t runs)
{
	weft__record_put_words(2, WEFT_ABI_HEAD(kind, 2, small), operand, 0, runs);
}

/* Records an event of a named task. */
WEFT__ALWAYS_INLINE void put_as(
	unsigned kind, unsigned small, uint64_t task, uint64_t operand, uint64_t runs)
{
	weft__record_put_words(
		3, WEFT_ABI_HEAD(kind | WEFT_ABI_EXPLICIT, 3, small), task, operand, runs);
}

static WEFT__OUT_OF_LINE void put_again(
	uint64_t head, uint64_t first, uint64_t second, uint64_t runs)
{
	if ((head >> 40 & 0xff) == 2)
		weft__record_put_words(2, head, first, 0, runs);
	else
		weft__record_put_words(3, head, first, second, runs);
}

/* Out of line, and a tail call, since the look may record an event of its own: the frames of a
 * signal handler's little stack add up. */
static WEFT__OUT_OF_LINE void look_and_run(
	uint64_t head, uint64_t first, uint64_t second, uint64_t runs)
{
	weft__record_cpu_look(runs);
	put_again(head, first, second, runs);
}

/* The same while the context of what runs is shown, or with a look at the thread's processor time,
 * mostly with the event's stamp. */
static WEFT__OUT_OF_LINE void run_watched(
	uint64_t head, uint64_t first, uint64_t second, uint64_t runs)
{
	const struct weft__fixed event = {head, first, second, runs};
	uint32_t words = head >> 40 & 0xff;
	struct weft__room room;
	if (weft__record_contexts_are_shown())
		weft__record_context_show_task(runs);
	if (!weft__record_cpu_is_watched()) {
		put_again(head, first, second, runs);
		return;
	}
	if (WEFT__LIKELY(weft__record_try_reserve(words, &room))) {
		if (WEFT__LIKELY(weft__record_cpu_look_at(room.slot, room.stamp, runs))) {
			weft__record_put_at(&room, words, &event);
			return;
		}
		weft__record_withdraw(&room);
	}
	look_and_run(head, first, second, runs);
}

/* Records an event that makes a task run. */
WEFT__ALWAYS_INLINE void run(
	uint32_t words, uint64_t head, uint64_t first, uint64_t second, uint64_t runs)
{
	if (WEFT__UNLIKELY(weft__record_cpu_is_watched()) ||
		WEFT__UNLIKELY(weft__record_contexts_are_shown()))
		run_watched(head, first, second, runs);
	else
		weft__record_put_words(words, head, first, second, runs);
}

/* The packet is full, for example. Its frame is part of the longest path of calls, so nothing else
 * is inlined here. */
static WEFT__COLD void put_in_new_room(
	struct weft_abi_slot *slot, uint64_t head, uint64_t first, uint64_t second, uint64_t runs)
{
	const struct weft__fixed event = {head, first, second, runs};
	uint32_t words = head >> 40 & 0xff;
	struct weft__room room;
	if (weft__record_reserve_slowly(slot, words, &room))
		weft__record_put_at(&room, words, &event);
}

WEFT__OUT_OF_LINE void weft__record_put_slowly_in(
	struct weft_abi_slot *slot, uint64_t head, uint64_t first, uint64_t second, uint64_t runs)
{
	const struct weft__fixed event = {head, first, second, runs};
	uint32_t words = head >> 40 & 0xff;
	struct weft__room room;
	if (WEFT__LIKELY(weft__record_try_reserve_again(slot, words, &room)))
		weft__record_put_at(&room, words, &event);
	else
		put_in_new_room(slot, head, first, second, runs);
}

WEFT__OUT_OF_LINE void weft__record_put_slowly(
	uint64_t head, uint64_t first, uint64_t second, uint64_t runs)
{
	const struct weft__self *self = weft__record_entered();
	if (self)
		weft__record_put_slowly_in(self->slot, head, first, second, runs);
}

/* The clock is a word in memory. Arguments are in the order of weft.h's calls, so that they stay in
 * their registers. */
WEFT__ALWAYS_INLINE bool put_at_clock(
	const struct weft_abi_slot *only, uint64_t first, uint64_t head, uint64_t runs)
{
	const struct weft__fixed event = {head, first, 0, runs};
	const struct weft__self *self = weft__record_self();
	struct weft__room room;
	if (self->ticket + WEFT__SLOWLY != weft__load(&weft__live.generation))
		return false;
	const uint64_t *clock = weft__record_platform()->ticks_at;
	struct weft_abi_slot *slot = weft__load_own(&self->slot);
	if (WEFT__UNLIKELY(!clock || (only && slot != only)) ||
		WEFT__UNLIKELY(!weft__record_try_reserve_at(slot, 2, clock, &room)))
		return false;
	weft__record_put_at(&room, 2, &event);
	return true;
}

/* The stamp is the moment's. `only`: only if this is the thread's slot; NULL: in any slot. */
WEFT__ALWAYS_INLINE bool put_in_moment(
	const struct weft_abi_slot *only, uint64_t first, uint64_t head, uint64_t runs)
{
	const struct weft__fixed event = {head, first, 0, runs};
	const struct weft__self *self = weft__record_self();
	struct weft__room room;
	if (!weft__record_is_in_moment(self))
		return false;
	struct weft_abi_slot *slot = weft__load_own(&self->slot);
	if (WEFT__UNLIKELY(only && slot != only) ||
		WEFT__UNLIKELY(!weft__record_try_reserve_in_moment(slot, 2, &room)))
		return false;
	weft__record_put_at(&room, 2, &event);
	return true;
}

static WEFT__OUT_OF_LINE void put_two_at_clock(uint64_t first, uint64_t head, uint64_t runs)
{
	if (WEFT__UNLIKELY(!put_at_clock(NULL, first, head, runs)) && !weft__record_is_off())
		weft__record_put_slowly(head, first, 0, runs);
}

WEFT__OUT_OF_LINE void weft__record_put_two(uint64_t first, uint64_t head, uint64_t runs)
{
	if (!put_in_moment(NULL, first, head, runs))
		put_two_at_clock(first, head, runs);
}

WEFT__OUT_OF_LINE void weft__record_put_two_in(
	struct weft_abi_slot *slot, uint64_t first, uint64_t head)
{
	if (!put_in_moment(slot, first, head, WEFT_TASK_CURRENT) &&
		!put_at_clock(slot, first, head, WEFT_TASK_CURRENT))
		weft__record_put_slowly_in(slot, head, first, 0, WEFT_TASK_CURRENT);
}

WEFT__EXPORT void weft__runs(uint64_t task)
{
	if (task != WEFT_TASK_CURRENT)
		weft_switch(task);
}

WEFT__EXPORT void weft_switch(uint64_t task)
{
	run(2, WEFT_ABI_HEAD(WEFT_ABI_SWITCH, 2, 0), task, 0, task);
}

/* A call of calls.def by the thread's current task, by its RUNS. */
#define OWN_SAME(kind, small, other)  put(kind, small, other, WEFT_TASK_CURRENT)
#define OWN_TASK(kind, small, other)  OWN_SAME(kind, small, other)
#define OWN_OTHER(kind, small, other) run(2, WEFT_ABI_HEAD(kind, 2, small), other, 0, other)
/* The same by a task that is named. */
#define NAMED_SAME(kind, small, task, other) put_as(kind, small, task, other, WEFT_TASK_CURRENT)
#define NAMED_TASK(kind, small, task, other) \
	run(3, WEFT_ABI_HEAD((kind) | WEFT_ABI_EXPLICIT, 3, small), task, other, task)
#define NAMED_OTHER(kind, small, task, other) \
	run(3, WEFT_ABI_HEAD((kind) | WEFT_ABI_EXPLICIT, 3, small), task, other, other)

#define WEFT__EDGE(name, parameter, event, small, runs, text)         \
	WEFT__EXPORT void weft_##name(uint64_t other)                     \
	{                                                                 \
		OWN_##runs(WEFT_ABI_##event, small, other);                   \
	}                                                                 \
	WEFT__EXPORT void weft_##name##_as(uint64_t task, uint64_t other) \
	{                                                                 \
		if (task == WEFT_TASK_CURRENT)                                \
			weft_##name(other);                                       \
		else                                                          \
			NAMED_##runs(WEFT_ABI_##event, small, task, other);       \
	}
#define WEFT__MESSAGE(name, event, text) WEFT__EDGE(name, key, event, 0, SAME, text)

/* Events without an operand. */
#define STATEMENT(name, kind)                                                                    \
	WEFT__EXPORT void weft_##name(void)                                                          \
	{                                                                                            \
		weft__record_put_words(1, WEFT_ABI_HEAD(kind, 1, 0), 0, 0, WEFT_TASK_CURRENT);           \
	}                                                                                            \
	WEFT__EXPORT void weft_##name##_as(uint64_t task)                                            \
	{                                                                                            \
		if (task == WEFT_TASK_CURRENT)                                                           \
			weft_##name();                                                                       \
		else                                                                                     \
			weft__record_put_words(                                                              \
				2, WEFT_ABI_HEAD((kind) | WEFT_ABI_EXPLICIT, 2, 0), task, 0, WEFT_TASK_CURRENT); \
	}
#define WEFT__STATEMENT(name, event, text) STATEMENT(name, WEFT_ABI_##event)

#include <weft/calls.def>
STATEMENT(end, WEFT_ABI_END)

WEFT__EXPORT void weft_gc(uint64_t duration_ns)
{
	put(WEFT_ABI_GC, 0, duration_ns, WEFT_TASK_CURRENT);
}

WEFT__EXPORT void weft_off_cpu(uint64_t duration_ns)
{
	put(WEFT_ABI_OFF_CPU, 0, duration_ns, WEFT_TASK_CURRENT);
}
