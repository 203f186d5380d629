/* SPDX-License-Identifier: ISC
 *
 * Waits for any of several tasks. The edges of one wait are consecutive among those of the waiting
 * task, and have one time.
 */
#ifndef WEFT_STORY_ANY_H
#define WEFT_STORY_ANY_H

#include "story/index.h"
#include "story/words.h"

/* All edges of the wait to which a wait_any edge belongs, whose actor is known. */
struct weft__edge_list weft__story_any_of(const struct weft_model *model, uint32_t edge);

/* The edge by which the task reads one of the sources; WEFT_NONE if it does not, or waits again
 * before. */
uint32_t weft__story_any_read(const struct weft_model *model, struct weft__edge_list any);

/* True if the wait is the task's last act. */
bool weft__story_any_is_last(const struct weft_model *model, uint32_t edge);

/* Appends "any of cancel, reply, timer and 2 more"; just "reply" if there is only one. */
void weft__story_words_add_any(
	struct weft__words *words, const struct weft_model *model, struct weft__edge_list any);

#endif
