/* SPDX-License-Identifier: ISC
 *
 * Edges as verbs, from either side.
 */
#ifndef WEFT_STORY_VERBS_H
#define WEFT_STORY_VERBS_H

#include "story/words.h"

/* "reads", for the one who acts. */
const char *weft__verb(const struct weft_model *model, uint32_t edge);
/* "is read by", for the other. */
const char *weft__verb_passive(const struct weft_model *model, uint32_t edge);
/* ", which had ended 3 us before", or nothing. */
void weft__say_circumstance(
	struct weft__words *words, const struct weft_model *model, uint32_t edge);

#endif
