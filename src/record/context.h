/* SPDX-License-Identifier: ISC
 *
 * Between the files of trace contexts.
 */
#ifndef WEFT_RECORD_CONTEXT_H
#define WEFT_RECORD_CONTEXT_H

#include <weft/context.h>

#include "record/atomics.h"

/* A new trace's id and flags. */
void weft__record_context_trace(struct weft_context *ret_context);
/* A span id that no other call returns; not 0. */
uint64_t weft__record_context_span(void);

/* Makes the context's span id, and records it as that of a task, or of the span that the task began
 * last. `parent`: its span id; 0: none. */
void weft__record_context_event(
	uint64_t task, bool is_of_span, uint64_t parent, struct weft_context *context);

struct weft__context_entry {
	uint64_t task, generation; /* of the buffer to which the task belongs */
	uint64_t trace_high, trace_low, span, flags;
	uint64_t check; /* of all these */
	uint64_t turns; /* in the first entry of a task's: how many have made way */
};

#ifdef WEFT_FREESTANDING
#define WEFT__CONTEXT_ENTRIES 64
#else
#define WEFT__CONTEXT_ENTRIES 1024
#endif

/* All that a process knows of contexts. Zero at first, and again in a forked child. */
struct weft__contexts {
	uint64_t span_seed, trace_high_seed, trace_low_seed; /* random; 0: not yet known */
	uint64_t spans, traces;                              /* how many ids were made */
	uint64_t is_random;                                  /* the low half of a trace id is */
	uint64_t reserved[2];
	struct weft__context_entry entries[WEFT__CONTEXT_ENTRIES];
};

/* Those of this process; never NULL. */
struct weft__contexts *weft__platform_contexts(void);
/* The same, once it is known that a forked child finds other ones there; else NULL. */
extern struct weft__contexts *weft__platform_contexts_known WEFT__HIDDEN;
/* A random number; 0: there is none. */
uint64_t weft__platform_random(void);

/* Remembers for which context a task of this buffer works; one without a span: for none. */
void weft__record_context_keep(
	uint64_t task, uint64_t generation, const struct weft_context *context);
/* False if that is not remembered. The context has no state. */
bool weft__record_context_find(
	uint64_t task, uint64_t generation, struct weft_context *ret_context);

#endif
