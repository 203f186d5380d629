/* SPDX-License-Identifier: ISC
 *
 * The tasks that hold a resource at a time: its edges up to then, played by the rules of
 * model/holds.h. A read takes the resource, a signal gives it back.
 */
#ifndef WEFT_STORY_HOLDERS_H
#define WEFT_STORY_HOLDERS_H

#include "model/holds.h"
#include "story/index.h"
#include "story/words.h"

/* The holders at a time, named as they are then. 0 or WEFT_ERROR_MEMORY; the caller finishes
 * *ret_holders in both cases. Without an index, or for a task of another kind, there are none. At
 * most `looked` takes and releases before the time are played. */
int weft__story_holders_at(const struct weft_story *story, uint32_t resource, uint64_t at_ns,
	uint32_t looked, struct weft__holders *ret_holders);

/* Appends "task 5 'worker' since 30 ms and 2 others": the first of `count` holders. */
void weft__story_words_add_holders(struct weft__words *words, const struct weft_model *model,
	const struct weft_story_hold *first, uint32_t count, unsigned letters);

#endif
