/* SPDX-License-Identifier: ISC
 *
 * The events without text: one or two words, and the acting task where it is named.
 */
#include "record/reserve.h"

/* Ids are taken from the buffer in blocks, so that a thread needs no atomic operation for each. */
#define TASK_BLOCK 1024

WEFT__ALWAYS_INLINE void put(unsigned kind, unsigned small, uint64_t operand)
{
	struct weft__place place = weft__reserve(2);
	if (!place.slot)
		return;
	weft__store(&place.at[0], WEFT_ABI_HEAD(kind, 2, small) | place.stamp);
	weft__store(&place.at[1], operand);
	weft__commit(&place, 2);
}

WEFT__ALWAYS_INLINE void put_as(unsigned kind, unsigned small, uint64_t task, uint64_t operand)
{
	struct weft__place place = weft__reserve(3);
	if (!place.slot)
		return;
	weft__store(&place.at[0], WEFT_ABI_HEAD(kind | WEFT_ABI_EXPLICIT, 3, small) | place.stamp);
	weft__store(&place.at[1], task);
	weft__store(&place.at[2], operand);
	weft__commit(&place, 3);
}

/* The same, and from then on `runs` is the current task. */
WEFT__ALWAYS_INLINE void put_switch(unsigned kind, unsigned small, uint64_t operand, uint64_t runs)
{
	struct weft__place place = weft__reserve(2);
	if (!place.slot)
		return;
	weft__store(&place.at[0], WEFT_ABI_HEAD(kind, 2, small) | place.stamp);
	weft__store(&place.at[1], operand);
	weft__store(&place.slot->task, runs);
	weft__commit(&place, 2);
}

WEFT__ALWAYS_INLINE void put_switch_as(
	unsigned kind, unsigned small, uint64_t task, uint64_t operand, uint64_t runs)
{
	struct weft__place place = weft__reserve(3);
	if (!place.slot)
		return;
	weft__store(&place.at[0], WEFT_ABI_HEAD(kind | WEFT_ABI_EXPLICIT, 3, small) | place.stamp);
	weft__store(&place.at[1], task);
	weft__store(&place.at[2], operand);
	weft__store(&place.slot->task, runs);
	weft__commit(&place, 3);
}

WEFT__ALWAYS_INLINE uint64_t next_task(struct weft_abi_slot *slot)
{
	uint32_t left = weft__load(&slot->tasks_left);
	if (WEFT__UNLIKELY(left == 0)) {
		left = TASK_BLOCK;
		weft__store(&slot->next_task, weft__fetch_add(&weft__header()->next_task, TASK_BLOCK));
	}
	uint64_t task = weft__load(&slot->next_task);
	weft__store(&slot->next_task, task + 1);
	weft__store(&slot->tasks_left, left - 1);
	return task;
}

/* For a task whose create event was lost: its id is as unique as any. */
static WEFT__COLD uint64_t lone_task(void)
{
	if (!weft__load(&weft__live.generation))
		return 0;
	return weft__fetch_add(&weft__header()->next_task, 1);
}

WEFT__EXPORT uint64_t weft_create(uint16_t kind)
{
	struct weft__place place = weft__reserve(2);
	if (!place.slot)
		return lone_task();
	uint64_t task = next_task(place.slot);
	weft__store(&place.at[0], WEFT_ABI_HEAD(WEFT_ABI_CREATE, 2, kind) | place.stamp);
	weft__store(&place.at[1], task);
	weft__commit(&place, 2);
	return task;
}

WEFT__EXPORT uint64_t weft_create_as(uint64_t task, uint16_t kind)
{
	if (task == WEFT_TASK_CURRENT)
		return weft_create(kind);
	struct weft__place place = weft__reserve(3);
	if (!place.slot)
		return lone_task();
	uint64_t child = next_task(place.slot);
	weft__store(
		&place.at[0], WEFT_ABI_HEAD(WEFT_ABI_CREATE | WEFT_ABI_EXPLICIT, 3, kind) | place.stamp);
	weft__store(&place.at[1], task);
	weft__store(&place.at[2], child);
	weft__commit(&place, 3);
	return child;
}

WEFT__EXPORT void weft_switch(uint64_t task)
{
	put_switch(WEFT_ABI_SWITCH, 0, task, task);
}

WEFT__EXPORT void weft_read(uint64_t source)
{
	put(WEFT_ABI_READ, 0, source);
}

WEFT__EXPORT void weft_read_as(uint64_t task, uint64_t source)
{
	if (task == WEFT_TASK_CURRENT)
		put(WEFT_ABI_READ, 0, source);
	else
		put_switch_as(WEFT_ABI_READ, 0, task, source, task);
}

WEFT__EXPORT void weft_signal(uint64_t receiver)
{
	put_switch(WEFT_ABI_SIGNAL, 1, receiver, receiver);
}

WEFT__EXPORT void weft_signal_as(uint64_t task, uint64_t receiver)
{
	if (task == WEFT_TASK_CURRENT)
		put_switch(WEFT_ABI_SIGNAL, 1, receiver, receiver);
	else
		put_switch_as(WEFT_ABI_SIGNAL, 1, task, receiver, receiver);
}

/* The rest: one operand, and the current task stays. */
#define OPERATION(name, kind, small)                                  \
	WEFT__EXPORT void weft_##name(uint64_t other)                     \
	{                                                                 \
		put(kind, small, other);                                      \
	}                                                                 \
	WEFT__EXPORT void weft_##name##_as(uint64_t task, uint64_t other) \
	{                                                                 \
		if (task == WEFT_TASK_CURRENT)                                \
			put(kind, small, other);                                  \
		else                                                          \
			put_as(kind, small, task, other);                         \
	}

OPERATION(read_later, WEFT_ABI_READ, 1)
OPERATION(try_read, WEFT_ABI_TRY_READ, 0)
OPERATION(resolve, WEFT_ABI_RESOLVE, 0)
OPERATION(become, WEFT_ABI_BECOME, 0)
OPERATION(signal_only, WEFT_ABI_SIGNAL, 0)

WEFT__EXPORT void weft_gc(uint64_t duration_ns)
{
	put(WEFT_ABI_GC, 0, duration_ns);
}

WEFT__EXPORT void weft_expect(void)
{
	weft_expect_as(WEFT_TASK_CURRENT);
}

WEFT__EXPORT void weft_expect_as(uint64_t task)
{
	bool explicit = task != WEFT_TASK_CURRENT;
	uint32_t words = 1 + explicit;
	struct weft__place place = weft__reserve(words);
	if (!place.slot)
		return;
	unsigned kind = WEFT_ABI_EXPECT | (explicit ? WEFT_ABI_EXPLICIT : 0);
	weft__store(&place.at[0], WEFT_ABI_HEAD(kind, words, 0) | place.stamp);
	if (explicit)
		weft__store(&place.at[1], task);
	weft__commit(&place, words);
}
