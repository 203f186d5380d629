/* SPDX-License-Identifier: ISC
 *
 * The wake-up before an activation.
 */
#ifndef WEFT_STORY_WAKE_H
#define WEFT_STORY_WAKE_H

#include <weft/story.h>

/* Finds what woke a task for an activation, given by its index in the model: the last signal to the
 * task, or the resolve of the task that it then reads first. `since` is when it last stopped
 * running, or its start; a wake-up before that was for another activation. Needs the index. False
 * if the trace does not show it. The wake-up may come after the activation's start, if the task
 * read later. */
bool weft__story_woken_for(const struct weft_story *story, uint32_t task, uint32_t activation,
	uint64_t since, struct weft_story_wake *ret_wake);

#endif
