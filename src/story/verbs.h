/* SPDX-License-Identifier: ISC
 *
 * Verbs for edges, from either side.
 */
#ifndef WEFT_STORY_VERBS_H
#define WEFT_STORY_VERBS_H

#include "story/words.h"

/* "reads": the verb for the actor. */
const char *weft__story_verb(const struct weft_model *model, uint32_t edge);
/* "is read by": the verb for the other task. */
const char *weft__story_verb_passive(const struct weft_model *model, uint32_t edge);
/* Appends ", which had ended 3 us before", or nothing. */
void weft__story_words_add_circumstance(
	struct weft__words *words, const struct weft_model *model, uint32_t edge);

#endif
