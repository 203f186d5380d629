/* SPDX-License-Identifier: ISC
 *
 * Which context each task works for, as long as the program sets some: the newest ones of this
 * process, in a fixed number of entries. A task whose entry another one got has none; it never has
 * another task's.
 *
 * A task runs in one thread at a time, but two tasks may get one entry in two threads at the same
 * time, and a signal handler may come in the middle of a change. No lock prevents that: an entry of
 * which each word is not of the same change does not have the right check, and counts as empty.
 */
#include "record/atomics.h"
#include "record/context_hot.h"
#include "record/recorder.h"

/* False if it changes at this moment. */
static bool read_entry(const struct weft__context_entry *entry, uint64_t task, uint64_t generation,
	struct weft_context *ret_context)
{
	*ret_context = (struct weft_context){.trace_high = weft__load(&entry->trace_high),
		.trace_low = weft__load(&entry->trace_low),
		.span = weft__load(&entry->span),
		.flags = (uint8_t)weft__load(&entry->flags)};
	return weft__load(&entry->check) == weft__context_check(task, generation, ret_context);
}

/* The task's entry; else an empty one or one of an earlier buffer, or the one that has been there
 * for longest. */
static struct weft__context_entry *choose(uint64_t task, uint64_t generation)
{
	struct weft__context_entry *entries = weft__context_entries(weft__platform_contexts(), task),
							   *empty = NULL;
	for (unsigned i = 0; i < WEFT__CONTEXT_WAYS; i++) {
		if (weft__context_is_of(&entries[i], task, generation))
			return &entries[i];
		if (!empty &&
			(!weft__load(&entries[i].span) || weft__load(&entries[i].generation) != generation))
			empty = &entries[i];
	}
	if (empty)
		return empty;
	const uint64_t turns = weft__load(&entries->turns);
	weft__store(&entries->turns, turns + 1);
	return &entries[turns % WEFT__CONTEXT_WAYS];
}

bool weft__record_context_find(uint64_t task, uint64_t generation, struct weft_context *ret_context)
{
	const struct weft__context_entry *entries =
		weft__context_entries(weft__platform_contexts(), task);
	struct weft_context here;
	unsigned found = 0;
	for (unsigned i = 0; i < WEFT__CONTEXT_WAYS; i++)
		if (weft__context_is_of(&entries[i], task, generation) &&
			read_entry(&entries[i], task, generation, &here)) {
			*ret_context = here;
			found++;
		}
	return found == 1 && ret_context->span;
}

void weft__record_context_keep(
	uint64_t task, uint64_t generation, const struct weft_context *context)
{
	struct weft_context known;
	if (!context->span && !weft__record_context_find(task, generation, &known))
		return;
	struct weft__context_entry *entry = choose(task, generation);
	weft__store(&entry->task, task);
	weft__store(&entry->generation, generation);
	weft__context_write(entry, task, generation, context);
}
