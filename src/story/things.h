/* SPDX-License-Identifier: ISC
 *
 * Texts about threads and losses.
 */
#ifndef WEFT_STORY_THINGS_H
#define WEFT_STORY_THINGS_H

#include "story/words.h"

/* Appends " on thread main"; nothing if there is only one thread. */
void weft__story_words_add_thread(
	struct weft__words *words, const struct weft_model *model, uint32_t thread);

/* Appends "310 overwritten, 2 full". */
void weft__story_words_add_losses(
	struct weft__words *words, const uint64_t losses[WEFT_LOSS_CAUSES]);
/* The number of all lost events, at most UINT64_MAX; events in missing packets are not known. */
uint64_t weft__story_count_losses(const uint64_t losses[WEFT_LOSS_CAUSES]);

#endif
