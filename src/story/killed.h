/* SPDX-License-Identifier: ISC
 *
 * Children of a program that a signal has killed, as their parent found when it asked for them.
 */
#ifndef WEFT_STORY_KILLED_H
#define WEFT_STORY_KILLED_H

#include "story/words.h"

/* A note that says by which signal, after the tag with the child's process id. */
struct weft__killed_child {
	uint32_t note; /* WEFT_NONE: there is none */
	uint32_t task;
};

/* Finds the last one of each program that was killed by a signal of a fault or by SIGKILL, and not
 * by the program itself. An element for each buffer, which the caller frees; NULL if there are
 * none. 0 or WEFT_ERROR_MEMORY. Needs the index. */
int weft__story_find_killed(const struct weft_story *story, struct weft__killed_child **ret);

/* Appends "; child 1024 was killed by SIGKILL" and " at 3 ms", if `task` is of a program
 * that has lost one. False if it has not. */
bool weft__story_add_killed(struct weft__sentence *sentence, const struct weft_model *model,
	const struct weft__killed_child *by_buffer, uint32_t task, unsigned worth);

/* The same by a time, found anew. */
void weft__story_add_killed_by(struct weft__sentence *sentence, const struct weft_story *story,
	uint32_t task, uint64_t at_ns, unsigned worth);

#endif
