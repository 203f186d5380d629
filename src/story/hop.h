/* SPDX-License-Identifier: ISC
 *
 * A wait, and one hop of a wait chain.
 */
#ifndef WEFT_STORY_HOP_H
#define WEFT_STORY_HOP_H

#include <weft/chain.h>

/* True if the hop is a wait of its task. Others lead on from what a task waits for. */
static inline bool weft__story_is_wait(enum weft_chain_step step)
{
	return step == WEFT_CHAIN_WAITS || step == WEFT_CHAIN_SIGNALLED || step == WEFT_CHAIN_RECEIVES;
}

/* The functions below take a column of the task that each task is at the time, if the caller has
 * one (weft__story_find_becomes()); else NULL. With it, questions about all tasks take linear time,
 * however long the chains of becomes are. */

/* As weft_story_wait_at(). */
bool weft__story_wait_at(const struct weft_story *story, const uint32_t *now, uint32_t task,
	uint64_t at_ns, struct weft_story_wait *ret_wait);

/* Finds the hop from `task` at a time. False if it leads to no task: then `ret_hop` has the task
 * itself, which another may have become, and if a resolve or signal ends its wait, that edge. */
bool weft__story_hop_at(const struct weft_story *story, const uint32_t *now, uint32_t task,
	uint64_t at_ns, struct weft_chain_hop *ret_hop);

/* Finds the task that has the thread of one that could run, until it does. It could if what it
 * waits for has ended, or if nothing shows a wait of it, as of an event loop. `goes_on` and `hop`
 * are what weft__story_hop_at() returned; the hop is replaced. */
bool weft__story_hop_to_thread(const struct weft_story *story, uint32_t task, uint64_t at_ns,
	bool goes_on, struct weft_chain_hop *hop);

/* True for a barrier of the adapters. Nobody signals it: the thread that comes last lets all go. */
bool weft__story_is_barrier(const struct weft_model *model, uint32_t task);

/* Finds who ends a wait for a condition, semaphore or barrier: the last signal during the wait, to
 * what it waits for or to the waiting task itself; or the task that came last to a barrier. The hop
 * leads from what it waits for to the sender. False if the wait does not end in this trace, or the
 * sender is not known. */
bool weft__story_hop_to_signaller(
	const struct weft_story *story, const struct weft_story_wait *wait, struct weft_chain_hop *ret);

#endif
