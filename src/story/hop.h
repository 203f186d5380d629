/* SPDX-License-Identifier: ISC
 *
 * One hop of a wait chain.
 */
#ifndef WEFT_STORY_HOP_H
#define WEFT_STORY_HOP_H

#include <weft/chain.h>

/* Finds the hop from `task` at a time. False if it leads to no task: then `ret_hop` has the task
 * itself, which another may have become, and if a resolve or signal ends its wait, that edge. */
bool weft__hop_at(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft_chain_hop *ret_hop);

#endif
