/* SPDX-License-Identifier: ISC
 *
 * Where in the code a thread waits: the calls on its stack, from the one that blocks outwards.
 */
#ifndef WEFT_ADAPTERS_STACK_H
#define WEFT_ADAPTERS_STACK_H

#include "hooks/hooks.h"

/* A list of calls, whose text is a name in the buffer. */
struct weft__hooks_stack;

/* Finds the calls that lead here; NULL if nothing is to be recorded. A thread spends at most a
 * hundredth of its time here: beyond that, waits have no calls. Call it in a part of a hook that
 * records. */
struct weft__hooks_stack *weft__hooks_stack_find(void);

/* Records that the current task is about to wait there; NULL: nothing. */
void weft__hooks_stack_record(struct weft__hooks_stack *stack);

#endif
