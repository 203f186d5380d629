/* SPDX-License-Identifier: ISC
 *
 * Which context each task works for, as long as the program sets some: the newest ones of this
 * process, in a fixed number of entries. A task whose entry another one got has none; it never has
 * another task's.
 *
 * An entry changes while its sequence is odd, in one thread at a time. A reader that finds it so,
 * or changed since, takes it as empty; so does a signal handler that interrupts the change. A
 * handler that sets a context for the task that it interrupts at that moment may leave two, of
 * which neither counts.
 */
#include "record/atomics.h"
#include "record/context.h"
#include "record/recorder.h"

/* In how many entries a task may be. */
#define WAYS 4

static struct weft__context_entry *entries_of(uint64_t task)
{
	struct weft__context_entry *entries = weft__platform_contexts()->entries;
	return &entries[task * WAYS % WEFT__CONTEXT_ENTRIES];
}

/* False if it is of another task, or changes. */
static bool is_of(const struct weft__context_entry *entry, uint64_t task, uint64_t generation,
	uint64_t *ret_sequence)
{
	*ret_sequence = weft__load_acquire(&entry->sequence);
	return weft__load(&entry->task) == task && weft__load(&entry->generation) == generation &&
		   !(*ret_sequence & 1);
}

/* False if it changed since. */
static bool read_entry(
	const struct weft__context_entry *entry, uint64_t sequence, struct weft_context *ret_context)
{
	*ret_context = (struct weft_context){.trace_high = weft__load_acquire(&entry->trace_high),
		.trace_low = weft__load_acquire(&entry->trace_low),
		.span = weft__load_acquire(&entry->span),
		.flags = (uint8_t)weft__load_acquire(&entry->flags)};
	return weft__load(&entry->sequence) == sequence;
}

/* False if another one changes it at this moment. */
static bool write_entry(struct weft__context_entry *entry, uint64_t sequence, uint64_t task,
	uint64_t generation, const struct weft_context *content)
{
	if (sequence & 1 || !weft__compare_exchange(&entry->sequence, sequence, sequence + 1))
		return false;
	weft__fence();
	weft__store(&entry->task, task);
	weft__store(&entry->generation, generation);
	weft__store(&entry->trace_high, content->trace_high);
	weft__store(&entry->trace_low, content->trace_low);
	weft__store(&entry->span, content->span);
	weft__store(&entry->flags, content->flags);
	weft__store_release(&entry->sequence, sequence + 2);
	return true;
}

/* The task's entry; else an empty one, or the one that has changed least. NULL: all change at this
 * moment. */
static struct weft__context_entry *choose(
	struct weft__context_entry *entries, uint64_t task, uint64_t generation, uint64_t *ret_sequence)
{
	struct weft__context_entry *chosen = NULL;
	uint64_t least = UINT64_MAX, sequence;
	for (unsigned i = 0; i < WAYS; i++) {
		if (is_of(&entries[i], task, generation, ret_sequence))
			return &entries[i];
		sequence = *ret_sequence;
		const uint64_t rank = sequence & 1                   ? UINT64_MAX
							  : weft__load(&entries[i].span) ? sequence
															 : 0;
		if (rank < least) {
			least = rank;
			chosen = &entries[i];
		}
	}
	*ret_sequence = chosen ? weft__load_acquire(&chosen->sequence) : 0;
	return chosen;
}

bool weft__record_context_find(uint64_t task, uint64_t generation, struct weft_context *ret_context)
{
	const struct weft__context_entry *entries = entries_of(task);
	struct weft_context here;
	unsigned found = 0;
	uint64_t sequence;
	for (unsigned i = 0; i < WAYS; i++)
		if (is_of(&entries[i], task, generation, &sequence) &&
			read_entry(&entries[i], sequence, &here)) {
			*ret_context = here;
			found++;
		}
	return found == 1 && ret_context->span;
}

void weft__record_context_keep(
	uint64_t task, uint64_t generation, const struct weft_context *context)
{
	struct weft__context_entry *entry;
	struct weft_context known;
	uint64_t sequence;
	if (!context->span && !weft__record_context_find(task, generation, &known))
		return;
	do
		entry = choose(entries_of(task), task, generation, &sequence);
	while (entry && !write_entry(entry, sequence, task, generation, context));
}
