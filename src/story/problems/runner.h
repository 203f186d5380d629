/* SPDX-License-Identifier: ISC
 *
 * Which other thread of a program runs while a task does not.
 */
#ifndef WEFT_STORY_PROBLEMS_RUNNER_H
#define WEFT_STORY_PROBLEMS_RUNNER_H

#include "story/problems/findings.h"

/* How long a task runs between two times, whether or not it had a processor. */
uint64_t weft__story_ran_ns(
	const struct weft_model *model, uint32_t task, uint64_t since, uint64_t until);

/* The thread of the task's process, other than that task, that runs longest between two times, or
 * WEFT_NONE. `had_processor`: only the time counts in which it had one. */
uint32_t weft__story_find_runner(struct weft__findings *findings, uint32_t task, uint64_t since,
	uint64_t until, bool had_processor, uint64_t *ret_ns);

#endif
