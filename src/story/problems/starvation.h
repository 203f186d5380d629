/* SPDX-License-Identifier: ISC
 *
 * Tasks that others pass in the queue for a resource.
 */
#ifndef WEFT_STORY_PROBLEMS_STARVATION_H
#define WEFT_STORY_PROBLEMS_STARVATION_H

#include "story/problems/findings.h"
#include "story/problems/holds.h"

/* Adds a problem if the task that waited longest for `resource` starved.
 */
void weft__story_look_for_starvation(
	struct weft__findings *findings, const struct weft__resource_holds *holds, uint32_t resource);

#endif
