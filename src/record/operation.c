/* SPDX-License-Identifier: ISC
 *
 * The events of an asynchronous operation: the current task begins one and waits for it; it ends
 * and its waiter continues. The events of each call are records of their own, but they share the
 * guard, the stamp and the commit, which are most of the cost of an event. A reader sees all of
 * them or none.
 */
#include "record/category.h"
#include "record/compose.h"
#include "record/context_shown.h"
#include "record/cpu.h"
#include "record/name.h"
#include "record/put.h"
#include "record/text.h"

#define BEGIN_WORDS 6 /* create, label and try_read: two words each */
#define READ_HEAD   (WEFT_ABI_HEAD(WEFT_ABI_READ, 2, 0))
#define READ_AS     (WEFT_ABI_HEAD(WEFT_ABI_READ | WEFT_ABI_EXPLICIT, 3, 0))

/* Stores a record of two words behind `offset` words of the room. */
WEFT__ALWAYS_INLINE void store_two(
	const struct weft__room *room, uint32_t offset, uint64_t head, uint64_t operand)
{
	struct weft__room record = *room;
	record.at += offset;
	weft__record_store_head(&record, head);
	weft__store(&record.at[1], operand);
}

/* Commits events of `words` words in all. A reader counts `surplus` out of the packet's words, so
 * it grows by the words that the events have beyond two each. */
WEFT__ALWAYS_INLINE void commit(const struct weft__room *room, uint32_t words, uint32_t surplus)
{
	struct weft_abi_slot *slot = room->slot;
	if (surplus)
		weft__store(&slot->surplus, weft__load(&slot->surplus) + surplus);
	weft__record_publish(room, words);
	weft__store_release(room->guard, room->clear);
}

/* Events of several calls, in a moment of their own unless there is one. Returns whether there was
 * none. */
static bool begin_moment(void)
{
	if (weft__record_is_in_moment(weft__record_self()))
		return false;
	weft_moment_begin();
	return true;
}

static void end_moment(bool is_own)
{
	if (is_own)
		weft_moment_end();
}

uint64_t weft__record_operation(const struct weft_category *category, uint64_t task,
	uint64_t *cache, const char *label, uint32_t size)
{
	bool is_own = begin_moment();
	uint64_t operation = weft__record_create(category, task, WEFT_KIND_PROMISE);
	weft__record_text(WEFT_ABI_LABEL, operation, cache, label, size);
	weft_try_read_as(task, operation);
	end_moment(is_own);
	return operation;
}

/* The fast path: a literal whose name is cached, the current task, and room for all three. The
 * create event has a third word if there is a category. */
WEFT__ALWAYS_INLINE bool begin_quickly(const struct weft_category *category, uint64_t task,
	const uint64_t *cache, uint64_t *ret_operation)
{
	struct weft__room room;
	const uint32_t create_words = category ? 3 : 2, words = BEGIN_WORDS - 2 + create_words;
	if (!cache || task != WEFT_TASK_CURRENT ||
		WEFT__UNLIKELY(!weft__record_try_reserve(words, &room)))
		return false;
	uint16_t name = weft__record_name_cached_now(room.slot, cache);
	if (WEFT__UNLIKELY(!name) || WEFT__UNLIKELY(weft__load(&room.slot->tasks_left) == 0)) {
		weft__record_withdraw(&room);
		return false;
	}
	uint64_t operation = weft__record_next_task(room.slot);
	const uint64_t create = WEFT_ABI_HEAD(WEFT_ABI_CREATE, create_words, WEFT_KIND_PROMISE);
	const uint64_t label = WEFT_ABI_HEAD(WEFT_ABI_LABEL | WEFT_ABI_EXPLICIT, 2, name);
	store_two(&room, 0, create, operation);
	if (category)
		weft__store(&room.at[2], weft__record_category_name(room.slot, category));
	store_two(&room, create_words, label, operation);
	store_two(&room, create_words + 2, WEFT_ABI_HEAD(WEFT_ABI_TRY_READ, 2, 0), operation);
	commit(&room, words, words - BEGIN_WORDS);
	*ret_operation = operation;
	return true;
}

WEFT__EXPORT uint64_t weft__operation_begin(uint64_t task, uint64_t *cache, const char *label)
{
	uint64_t operation;
	if (begin_quickly(NULL, task, cache, &operation))
		return operation;
	return weft__record_operation(NULL, task, cache, label, WEFT__C_STRING);
}

WEFT__EXPORT uint64_t weft__operation_begin_in(
	const struct weft_category *category, uint64_t task, uint64_t *cache, const char *label)
{
	uint64_t operation;
	if (begin_quickly(category, task, cache, &operation))
		return operation;
	return weft__record_operation(category, task, cache, label, WEFT__C_STRING);
}

static void read_result(uint64_t operation, uint64_t waiter)
{
	if (waiter != WEFT_TASK_NONE)
		weft_read_as(waiter, operation);
}

static WEFT__OUT_OF_LINE void end_slowly(uint64_t operation, uint64_t waiter, bool is_cancelled)
{
	bool is_own = begin_moment();
	if (is_cancelled)
		weft_cancel(operation);
	else
		weft_resolve(operation);
	read_result(operation, waiter);
	end_moment(is_own);
}

WEFT__ALWAYS_INLINE void end(uint64_t operation, uint64_t waiter, unsigned kind)
{
	bool is_current = waiter == WEFT_TASK_CURRENT;
	uint32_t words = is_current ? 4 : 5;
	struct weft__room room;
	if (waiter == WEFT_TASK_NONE || WEFT__UNLIKELY(weft__record_cpu_is_watched()) ||
		WEFT__UNLIKELY(weft__record_contexts_are_shown()) ||
		WEFT__UNLIKELY(!weft__record_try_reserve(words, &room))) {
		end_slowly(operation, waiter, kind == WEFT_ABI_CANCEL);
		return;
	}
	store_two(&room, 0, WEFT_ABI_HEAD(kind, 2, 0), operation);
	store_two(&room, 2, is_current ? READ_HEAD : READ_AS, is_current ? operation : waiter);
	if (!is_current) {
		weft__store(&room.at[4], operation);
		weft__store(&room.slot->task, waiter);
	}
	commit(&room, words, is_current ? 0 : 1);
}

WEFT__EXPORT void weft_operation_end(uint64_t operation, uint64_t waiter)
{
	end(operation, waiter, WEFT_ABI_RESOLVE);
}

WEFT__EXPORT void weft_operation_cancel(uint64_t operation, uint64_t waiter)
{
	end(operation, waiter, WEFT_ABI_CANCEL);
}

void weft__record_failed_operation(
	uint64_t operation, uint64_t waiter, const char *message, uint32_t size)
{
	bool is_own = begin_moment();
	weft__record_failure(WEFT_TASK_CURRENT, operation, message, size);
	read_result(operation, waiter);
	end_moment(is_own);
}

WEFT__EXPORT void weft_operation_fail(uint64_t operation, uint64_t waiter, const char *message)
{
	weft__record_failed_operation(operation, waiter, message, WEFT__C_STRING);
}

WEFT__EXPORT void weft__operation_continues(uint64_t waiter)
{
	if (waiter != WEFT_TASK_NONE)
		weft__runs(waiter);
}
