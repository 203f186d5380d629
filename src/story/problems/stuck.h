/* SPDX-License-Identifier: ISC
 *
 * Hogs that run when the trace ends.
 */
#ifndef WEFT_STORY_PROBLEMS_STUCK_H
#define WEFT_STORY_PROBLEMS_STUCK_H

#include "story/problems/findings.h"

/* Adds a problem for each thread that runs one task until the end of the trace. */
void weft__story_find_stuck(struct weft__findings *findings);

#endif
