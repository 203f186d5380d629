/* SPDX-License-Identifier: ISC
 *
 * Deadlocks that were over before the trace's end.
 */
#ifndef WEFT_STORY_PROBLEMS_BROKEN_H
#define WEFT_STORY_PROBLEMS_BROKEN_H

#include "story/problems/findings.h"

/* Adds a problem for each circle of waits that was broken because a task's time was up. */
void weft__story_find_broken_circles(struct weft__findings *findings);

#endif
