/* SPDX-License-Identifier: ISC
 *
 * Programs that a signal killed because of what they did. One that hangs is killed by other
 * signals, which say nothing about the program.
 */
#ifndef WEFT_STORY_PROBLEMS_CRASHES_H
#define WEFT_STORY_PROBLEMS_CRASHES_H

#include "story/problems/findings.h"

void weft__story_find_crashes(struct weft__findings *findings);

#endif
