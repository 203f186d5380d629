/* SPDX-License-Identifier: ISC
 *
 * Timers that begin the next task before those that they began earlier have ended.
 */
#ifndef WEFT_STORY_PROBLEMS_OVERLAPS_H
#define WEFT_STORY_PROBLEMS_OVERLAPS_H

#include "story/problems/findings.h"

/* Adds a problem for each timer whose tasks take longer and longer because ever more of them run.
 */
void weft__story_find_overlaps(struct weft__findings *findings);

#endif
