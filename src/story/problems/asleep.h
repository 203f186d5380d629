/* SPDX-License-Identifier: ISC
 *
 * Programs of which the trace says that nothing could go on any more (WEFT_TAG_ASLEEP).
 */
#ifndef WEFT_STORY_PROBLEMS_ASLEEP_H
#define WEFT_STORY_PROBLEMS_ASLEEP_H

#include "story/problems/findings.h"

/* True if an event loop of the task's buffer was asleep when its record ended, and nothing was left
 * that could have woken it: what its tasks wait for can no longer happen. */
bool weft__story_is_asleep(struct weft__findings *findings, uint32_t task);

#endif
