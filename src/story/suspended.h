/* SPDX-License-Identifier: ISC
 *
 * Processes that a recorded task has suspended by SIGSTOP, which no program can ignore. Adapters
 * note at the sender "SIGSTOP to process 17" and "SIGCONT to process 17".
 */
#ifndef WEFT_STORY_SUSPENDED_H
#define WEFT_STORY_SUSPENDED_H

#include "story/words.h"

struct weft__suspension {
	uint64_t time;
	uint32_t sender; /* the task; WEFT_NONE: the process is not suspended */
};

/* Finds the processes that are suspended at a time: none of their tasks has begun or ceased to run
 * since SIGSTOP. An element for each buffer, which the caller frees; NULL if there are none. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__story_find_suspended(
	const struct weft_model *model, uint64_t at_ns, struct weft__suspension **ret_by_buffer);

/* True if the task's process is. */
bool weft__story_is_suspended(
	const struct weft_model *model, const struct weft__suspension *by_buffer, uint32_t task);

/* Appends "; suspended by SIGSTOP at 3 ms, by thread 1 'main'" if the task's process is. */
void weft__story_add_suspended(struct weft__sentence *sentence, const struct weft_model *model,
	const struct weft__suspension *by_buffer, uint32_t task, unsigned worth);

#endif
