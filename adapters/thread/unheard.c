/* SPDX-License-Identifier: ISC
 *
 * See unheard.h. A table of fixed size, by the condition's address: a newer signal takes the entry
 * of an older one, whatever its condition. An entry that another thread uses at the moment is left
 * alone, so nobody waits here; that signal is not remembered.
 */
#include "thread/unheard.h"

#include <weft/ends.h>

#include "thread/objects.h"

#define ENTRIES 1024 /* a power of two */
#define MANY    64   /* signals in a row, none of them for all, that are worth an event */

static struct entry {
	const void *condition; /* NULL: no signal is remembered */
	uint64_t task, time;   /* the last signaller, and weft_now() */
	uint32_t count;        /* of signals since the last wait began */
	uint32_t in_a_row;     /* of the last ones, those since one that was for all */
	uint32_t epoch;        /* of the process that signalled: a child has no part in it */
	bool is_used;
} entries[ENTRIES];

static struct entry *entry_of(const void *condition)
{
	uint64_t bits = (uint64_t)(uintptr_t)condition >> 3;
	return &entries[(size_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 40) % ENTRIES];
}

static bool try_use(struct entry *entry)
{
	return !__atomic_exchange_n(&entry->is_used, true, __ATOMIC_ACQUIRE);
}

static void leave(struct entry *entry)
{
	__atomic_store_n(&entry->is_used, false, __ATOMIC_RELEASE);
}

/* The number of signals in a row, if it is to be written. */
static uint32_t add(struct entry *entry, const void *condition, bool for_all)
{
	const bool is_next = entry->condition == condition && entry->epoch == weft__hooks_epoch();
	entry->count = is_next ? entry->count + 1 : 1;
	entry->in_a_row = for_all ? 0 : is_next ? entry->in_a_row + 1 : 1;
	entry->task = weft_current();
	entry->time = weft_now();
	entry->epoch = weft__hooks_epoch();
	__atomic_store_n(&entry->condition, condition, __ATOMIC_RELAXED);
	const uint32_t n = entry->in_a_row;
	return n >= MANY && (n & (n - 1)) == 0 ? n : 0;
}

/* A condition for which no task has ever waited has no task, and its queue no consumer. */
static void write_many(const void *condition, uint32_t in_a_row)
{
	int saved = weft__hooks_begin();
	const struct weft__thread_object *it = weft__thread_object_known(condition);
	const uint64_t by = weft_current();
	if (it) {
		if (by != WEFT_TASK_NONE)
			weft_tag_value_as(it->alive.task, WEFT_TAG_SIGNALLED_BY, (int64_t)by);
		weft_tag_value_as(it->alive.task, WEFT_TAG_UNHEARD, in_a_row);
	}
	weft__hooks_end(saved);
}

void weft__thread_unheard(const void *condition, bool for_all)
{
	struct entry *entry = entry_of(condition);
	if (!try_use(entry))
		return;
	const uint32_t many = add(entry, condition, for_all);
	leave(entry);
	if (many)
		write_many(condition, many);
}

/* Removes what is remembered of the condition. False if there is nothing. */
static bool take_entry(const void *condition, struct entry *ret_entry)
{
	struct entry *entry = entry_of(condition);
	if (likely(__atomic_load_n(&entry->condition, __ATOMIC_RELAXED) != condition) ||
		!try_use(entry))
		return false;
	*ret_entry = *entry;
	if (entry->condition == condition)
		__atomic_store_n(&entry->condition, NULL, __ATOMIC_RELAXED);
	leave(entry);
	return ret_entry->condition == condition && ret_entry->epoch == weft__hooks_epoch();
}

void weft__thread_write_unheard(const void *condition, uint64_t task)
{
	struct entry entry;
	if (!take_entry(condition, &entry))
		return;
	if (entry.count > 1)
		weft_tag_value_as(task, WEFT_TAG_SIGNALLED_TIMES, entry.count);
	if (entry.task != WEFT_TASK_NONE)
		weft_tag_value_as(task, WEFT_TAG_SIGNALLED_BY, (int64_t)entry.task);
	weft_tag_value_as(task, WEFT_TAG_SIGNALLED_BEFORE, (int64_t)weft__hooks_ns_since(entry.time));
}

void weft__thread_forget_unheard(const void *condition)
{
	struct entry entry;
	(void)take_entry(condition, &entry);
}
