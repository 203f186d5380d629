/* SPDX-License-Identifier: ISC
 *
 * Records an event of a few words: the fast path inline, and a tail call to the slow one.
 */
#ifndef WEFT_RECORD_PUT_H
#define WEFT_RECORD_PUT_H

#include "record/reserve.h"

/* An event of up to two operands. */
struct weft__fixed {
	uint64_t head;
	uint64_t first, second;
	uint64_t runs; /* the current task from then on; WEFT_TASK_CURRENT: unchanged */
};

/* Writes an event without committing it. */
WEFT__ALWAYS_INLINE void weft__record_write_at(
	const struct weft__room *room, uint32_t words, const struct weft__fixed *event)
{
	weft__record_store_head(room, event->head);
	if (words > 1)
		weft__store(&room->at[1], event->first);
	if (words > 2)
		weft__store(&room->at[2], event->second);
	if (event->runs != WEFT_TASK_CURRENT)
		weft__store(&room->slot->task, event->runs);
}

WEFT__ALWAYS_INLINE void weft__record_put_at(
	const struct weft__room *room, uint32_t words, const struct weft__fixed *event)
{
	weft__record_write_at(room, words, event);
	weft__record_commit(room, words);
}

/* The next of the ids that the slot has reserved; `tasks_left` must not be 0. */
WEFT__ALWAYS_INLINE uint64_t weft__record_next_task(struct weft_abi_slot *slot)
{
	uint32_t left = weft__load(&slot->tasks_left);
	uint64_t task = weft__load(&slot->next_task);
	/* In this order, a signal handler that never returns may waste an id, but never duplicates one.
	 */
	weft__store(&slot->tasks_left, left - 1);
	weft__signal_fence();
	weft__store(&slot->next_task, task + 1);
	return task;
}

/* Records two words, as most events have, if the clock is a word in memory or the thread is in a
 * moment; other cases continue in the function below. */
void weft__record_put_two(uint64_t first, uint64_t head, uint64_t runs);
void weft__record_put_two_in(struct weft_abi_slot *slot, uint64_t first, uint64_t head);

/* Records up to two operands in any case. */
void weft__record_put_slowly(uint64_t head, uint64_t first, uint64_t second, uint64_t runs);
void weft__record_put_slowly_in(
	struct weft_abi_slot *slot, uint64_t head, uint64_t first, uint64_t second, uint64_t runs);

/* Records an event: `words` is a constant at each call, and also in the head. */
WEFT__ALWAYS_INLINE void weft__record_put_words(
	uint32_t words, uint64_t head, uint64_t first, uint64_t second, uint64_t runs)
{
	const struct weft__fixed event = {head, first, second, runs};
	struct weft__room room;
	if (WEFT__LIKELY(weft__record_try_reserve(words, &room)))
		weft__record_put_at(&room, words, &event);
	else if (words == 2)
		weft__record_put_two(first, head, runs);
	else if (!weft__record_is_off())
		weft__record_put_slowly(head, first, second, runs);
}

/* Records an event that refers to a name of the slot's buffer. */
WEFT__ALWAYS_INLINE void weft__record_put_words_in(
	struct weft_abi_slot *slot, uint32_t words, uint64_t head, uint64_t first, uint64_t second)
{
	const struct weft__fixed event = {head, first, second, WEFT_TASK_CURRENT};
	struct weft__room room;
	if (WEFT__LIKELY(weft__record_try_reserve_in(slot, words, &room)))
		weft__record_put_at(&room, words, &event);
	else if (words == 2)
		weft__record_put_two_in(slot, first, head);
	else
		weft__record_put_slowly_in(slot, head, first, second, WEFT_TASK_CURRENT);
}

#endif
