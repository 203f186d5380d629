/* SPDX-License-Identifier: ISC
 *
 * Signals to conditions for which nobody waited. They are no events, because most programs signal
 * to be on the safe side; the last one of each condition is remembered, and becomes part of the
 * trace when a wait for the condition begins.
 */
#ifndef WEFT_ADAPTERS_THREAD_UNHEARD_H
#define WEFT_ADAPTERS_THREAD_UNHEARD_H

#include <stdbool.h>
#include <stdint.h>

/* The current task signals the condition, and no task waits for it; `for_all`: it would have woken
 * all. While the level is on; writes an event seldom, for many signals in a row. */
void weft__thread_unheard(const void *condition, bool for_all);

/* Writes the signal that is remembered, as tags of the condition's task, and forgets it. While
 * recording. */
void weft__thread_write_unheard(const void *condition, uint64_t task);

/* The memory of the condition may now be another one's. */
void weft__thread_forget_unheard(const void *condition);

#endif
