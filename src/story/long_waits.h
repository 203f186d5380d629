/* SPDX-License-Identifier: ISC
 *
 * The long waits of a task.
 */
#ifndef WEFT_STORY_LONG_WAITS_H
#define WEFT_STORY_LONG_WAITS_H

#include <weft/story.h>

/* A wait is long if the pause in which it lies takes at least this part of the task's life. */
#define WEFT__LONG_WAIT_PART 100

/* Finds the long waits of a task between its activations, in the order of time: less than
 * WEFT__LONG_WAIT_PART. Leaves out waits that begin with an edge of the task, which says the same,
 * and those that last to the end of the trace or for an unknown task. */
uint32_t weft__story_find_long_waits(const struct weft_story *story, uint32_t task,
	struct weft_story_wait ret_waits[WEFT__LONG_WAIT_PART]);

#endif
