/* SPDX-License-Identifier: ISC
 *
 * Pipes, pairs of sockets and eventfds at which a thread waits, and which only its own process has
 * (weft/ends.h).
 */
#ifndef WEFT_STORY_OWN_PIPE_H
#define WEFT_STORY_OWN_PIPE_H

#include "story/words.h"

/* True if the task is one end of these at a time. */
bool weft__story_is_own_pipe(const struct weft_model *model, uint32_t task, uint64_t at_ns);

/* Appends " waits to write to pipe (descriptors 4 and 3)", by which the process writes and reads;
 * of an eventfd, " (descriptor 5)". */
void weft__story_words_add_own_wait(
	struct weft__words *words, const struct weft_model *model, uint32_t task, uint64_t at_ns);

/* Appends "only its own process can read it (descriptors 4 and 3)". */
void weft__story_words_add_own(
	struct weft__words *words, const struct weft_model *model, uint32_t task, uint64_t at_ns);

#endif
