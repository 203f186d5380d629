/* SPDX-License-Identifier: ISC
 *
 * See unheard.h. A table of fixed size, by the condition's address: a newer signal takes the entry
 * of an older one, whatever its condition. An entry that another thread uses at the moment is left
 * alone, so nobody waits here; that signal is not remembered.
 */
#include "thread/unheard.h"

#include <stdbool.h>

#include <weft/ends.h>

#include "thread/objects.h"

#define ENTRIES 1024 /* a power of two */

static struct entry {
	const void *condition; /* NULL: no signal is remembered */
	uint64_t task, time;   /* the last signaller, and weft_now() */
	uint32_t count;        /* of signals since the last wait began */
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

void weft__thread_unheard(const void *condition)
{
	struct entry *entry = entry_of(condition);
	if (!try_use(entry))
		return;
	const bool is_next = entry->condition == condition && entry->epoch == weft__hooks_epoch();
	entry->count = is_next ? entry->count + 1 : 1;
	entry->task = weft_current();
	entry->time = weft_now();
	entry->epoch = weft__hooks_epoch();
	__atomic_store_n(&entry->condition, condition, __ATOMIC_RELAXED);
	leave(entry);
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
