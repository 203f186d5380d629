/* SPDX-License-Identifier: ISC
 *
 * Programs in which nothing could go on any more, as far as the trace shows: an event loop of which
 * it says so (WEFT_TAG_ASLEEP), or a program that was killed when each of its threads waited for
 * another one.
 */
#ifndef WEFT_STORY_PROBLEMS_ASLEEP_H
#define WEFT_STORY_PROBLEMS_ASLEEP_H

#include "story/problems/findings.h"

/* True if nothing was left of the task's buffer, when its record ended, that could have ended a
 * wait for the task. */
bool weft__story_is_asleep(struct weft__findings *findings, uint32_t task);

/* A process; `thread` and `until` are of the last Ctrl-C, if that ended it. */
struct weft__asleep {
	unsigned flags;
	uint32_t threads; /* also those that have ended */
	uint32_t thread;  /* WEFT_NONE: none */
	uint64_t until;   /* ns, or UINT64_MAX */
};

/* Stores the wait that Ctrl-C ended, which was for another thread, as were those of all others, and
 * nothing was left that could have ended it. False if there is none. */
bool weft__story_interrupted(
	struct weft__findings *findings, uint32_t buffer, struct weft_story_wait *ret);

/* True for a thread that may be one of a pool: not the first one of its process, and no task waits
 * for its end. */
bool weft__story_may_be_pooled(const struct weft_story *story, uint32_t task);

#endif
