/* SPDX-License-Identifier: ISC
 *
 * Chains of waits that a test follows with weft_story_wait_at() alone: unlike those of chain.h,
 * they end at a promise that another task resolves.
 */
#ifndef WEFT_TESTS_WAIT_CHAIN_H
#define WEFT_TESTS_WAIT_CHAIN_H

#include <weft/story.h>

static inline bool is_in_chain(const struct weft_story_wait *waits, uint32_t count, uint32_t task)
{
	for (uint32_t i = 0; i < count; i++)
		if (waits[i].task == task)
			return true;
	return false;
}

/* Writes at most `room` waits and returns their number. *ret_cycle: the last one waits for a task
 * that is already in the chain. */
static inline uint32_t wait_chain(const struct weft_story *story, uint32_t task, uint64_t at_ns,
	struct weft_story_wait *waits, uint32_t room, bool *ret_cycle)
{
	uint32_t count = 0;
	*ret_cycle = false;
	while (count < room && weft_story_wait_at(story, task, at_ns, &waits[count])) {
		task = waits[count++].source;
		if (task == WEFT_NONE)
			break;
		*ret_cycle = is_in_chain(waits, count, task);
		if (*ret_cycle)
			break;
	}
	return count;
}

#endif
