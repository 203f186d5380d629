/* SPDX-License-Identifier: ISC
 *
 * The task that used to end waits for a condition, semaphore, barrier or eventfd: if it is the only
 * one, a wait that nothing ends leads to it.
 */
#ifndef WEFT_STORY_SIGNALLERS_H
#define WEFT_STORY_SIGNALLERS_H

#include "story/words.h"

/* The only task that signalled `source` until a time, or that came to the barrier and is not there.
 * WEFT_NONE: there is none, or there are several. Needs the index. */
uint32_t weft__story_only_signaller(
	const struct weft_story *story, uint32_t source, uint64_t at_ns);

/* True if the signaller waits for `waiter`, perhaps by way of others that wait, so that neither
 * goes on. */
bool weft__story_signaller_waits_for(
	const struct weft_story *story, uint32_t signaller, uint32_t waiter, uint64_t at_ns);

/* Appends "; only ping signalled it, and waits for eventfd 3". False: there is nothing to add. */
bool weft__story_add_signaller(struct weft__sentence *sentence, const struct weft_story *story,
	uint32_t source, uint64_t at_ns, unsigned worth);

#endif
