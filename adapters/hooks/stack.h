/* SPDX-License-Identifier: ISC
 *
 * Where in the code a thread waits: the calls on its stack, from the one that blocks outwards.
 */
#ifndef WEFT_ADAPTERS_STACK_H
#define WEFT_ADAPTERS_STACK_H

#include "hooks/hooks.h"

/* Finds the calls that lead here, and names them in the buffer. Returns libweft's cache of that
 * name, for weft__hooks_stack_record; 0: nothing is to be recorded. A thread spends at most a
 * hundredth of its time here: beyond that, waits have no calls. Call it in a part of a hook that
 * records. */
uint64_t weft__hooks_stack_find(void);

/* Begin and end other work of this cost, within that hundredth. 0: it is used up, do no work. */
uint64_t weft__hooks_budget_begin(void);
void weft__hooks_budget_end(uint64_t began_ns);

/* Records that the current task is about to wait there. */
void weft__hooks_stack_record(uint64_t name);

#endif
