/* SPDX-License-Identifier: ISC
 *
 * The parts of contexts that a span's begin and end need each time, inline: ids and entries.
 */
#ifndef WEFT_RECORD_CONTEXT_HOT_H
#define WEFT_RECORD_CONTEXT_HOT_H

#include "record/atomics.h"
#include "record/context.h"
#include "record/reserve.h"

WEFT__ALWAYS_INLINE struct weft__contexts *weft__contexts(void)
{
	struct weft__contexts *known = weft__load(&weft__platform_contexts_known);
	return WEFT__LIKELY(known) ? known : weft__platform_contexts();
}

WEFT__ALWAYS_INLINE bool weft__context_is_valid(const struct weft_context *context)
{
	return context && context->span && (context->trace_high | context->trace_low);
}

/* ---- Ids: context_id.c ---- */

WEFT__ALWAYS_INLINE uint64_t weft__context_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#ifndef WEFT_FREESTANDING
/* Counts that a thread has taken for itself; those of another seed, as a forked child finds them,
 * are void. Only for use inside a guard, where no signal handler comes. */
struct weft__context_counts {
	uint64_t seed, next, left;
};

extern _Thread_local struct weft__context_counts weft__context_counts WEFT__HIDDEN
	__attribute__((tls_model("initial-exec")));

/* Takes new counts; false if the process has no seed yet. */
bool weft__record_context_refill(struct weft__context_counts *counts, uint64_t seed);
#endif

/* A new span id, inside a guard; 0: there is none without more work. */
WEFT__ALWAYS_INLINE uint64_t weft__record_context_next(const struct weft__contexts *contexts)
{
#ifdef WEFT_FREESTANDING
	(void)contexts;
	return 0;
#else
	struct weft__context_counts *counts = &weft__context_counts;
	const uint64_t seed = weft__load(&contexts->span_seed);
	if (WEFT__UNLIKELY(counts->seed != seed || !counts->left) &&
		!weft__record_context_refill(counts, seed))
		return 0;
	const uint64_t count = counts->next;
	/* In this order: a signal handler that never returns may waste a count. */
	counts->left--;
	counts->next = count + 1;
	weft__signal_fence();
	return weft__context_mix(seed + count);
#endif
}

/* ---- Entries: context_table.c ---- */

/* In how many entries a task may be. */
#define WEFT__CONTEXT_WAYS 4

WEFT__ALWAYS_INLINE struct weft__context_entry *weft__context_entries(
	struct weft__contexts *contexts, uint64_t task)
{
	return &contexts->entries[task * WEFT__CONTEXT_WAYS % WEFT__CONTEXT_ENTRIES];
}

WEFT__ALWAYS_INLINE bool weft__context_is_of(
	const struct weft__context_entry *entry, uint64_t task, uint64_t generation)
{
	return weft__load(&entry->task) == task && weft__load(&entry->generation) == generation;
}

/* A mixture of two entries has the right check once in 2^64 times, as their span ids are random.
 * That of zeros is not 0. */
WEFT__ALWAYS_INLINE uint64_t weft__context_check(
	uint64_t task, uint64_t generation, const struct weft_context *context)
{
	return (task + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (generation << 32 | generation >> 32) ^
		   context->trace_high ^ (context->trace_low << 1 | context->trace_low >> 63) ^
		   context->span ^ (uint64_t)context->flags << 24;
}

/* Into an entry of that task. */
WEFT__ALWAYS_INLINE void weft__context_write(struct weft__context_entry *entry, uint64_t task,
	uint64_t generation, const struct weft_context *content)
{
	weft__store(&entry->trace_high, content->trace_high);
	weft__store(&entry->trace_low, content->trace_low);
	weft__store(&entry->span, content->span);
	weft__store(&entry->flags, content->flags);
	weft__store(&entry->check, weft__context_check(task, generation, content));
}

/* ---- What is current: context.c ---- */

#ifndef WEFT_FREESTANDING
/* That of a thread without a task. */
extern _Thread_local struct weft_context weft__context_here WEFT__HIDDEN
	__attribute__((tls_model("initial-exec")));
#endif

/* A signal handler in between finds no context. */
WEFT__ALWAYS_INLINE void weft__context_set_for_thread(const struct weft_context *context)
{
#ifdef WEFT_FREESTANDING
	(void)context; /* no thread-local storage */
#else
	struct weft_context *here = &weft__context_here;
	here->span = 0;
	weft__signal_fence();
	here->trace_high = context->trace_high;
	here->trace_low = context->trace_low;
	here->flags = context->flags;
	weft__signal_fence();
	here->span = context->span;
#endif
}

WEFT__ALWAYS_INLINE void weft__context_set_for(
	uint64_t task, uint64_t generation, const struct weft_context *context)
{
	struct weft__context_entry *first = weft__context_entries(weft__contexts(), task);
	if (task == WEFT_TASK_NONE)
		weft__context_set_for_thread(context);
	else if (WEFT__LIKELY(weft__context_is_of(first, task, generation)))
		weft__context_write(first, task, generation, context);
	else
		weft__record_context_keep(task, generation, context);
}

#endif
