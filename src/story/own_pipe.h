/* SPDX-License-Identifier: ISC
 *
 * Pipes to which a thread waits to write, and which only its own process can read (weft/ends.h).
 */
#ifndef WEFT_STORY_OWN_PIPE_H
#define WEFT_STORY_OWN_PIPE_H

#include "story/words.h"

/* True if the task is such a pipe at a time. */
bool weft__story_is_own_pipe(const struct weft_model *model, uint32_t task, uint64_t at_ns);

/* Appends " (descriptors 4 and 3)": by which the process writes to the pipe, and reads from it. */
void weft__story_words_add_descriptors(
	struct weft__words *words, const struct weft_model *model, uint32_t task, uint64_t at_ns);

#endif
