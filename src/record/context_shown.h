/* SPDX-License-Identifier: ISC
 *
 * The current context of a thread, for other processes to read.
 */
#ifndef WEFT_RECORD_CONTEXT_SHOWN_H
#define WEFT_RECORD_CONTEXT_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "record/atomics.h"

struct weft_context;

/* Not 0 once the program has asked for it. */
extern uint32_t weft__record_contexts_shown WEFT__HIDDEN;

static inline bool weft__record_contexts_are_shown(void)
{
	return weft__load(&weft__record_contexts_shown);
}

/* The calling thread works for this context, or, without ids, for none. */
void weft__record_context_show(const struct weft_context *context);
/* The same with that of a task which it runs from now on. */
void weft__record_context_show_task(uint64_t task);

#endif
