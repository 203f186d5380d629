/* SPDX-License-Identifier: ISC
 *
 * Waits that time out again and again, for a condition that nobody signals.
 */
#ifndef WEFT_STORY_PROBLEMS_UNSIGNALLED_H
#define WEFT_STORY_PROBLEMS_UNSIGNALLED_H

#include "story/problems/findings.h"

/* Adds a problem for each such condition. */
void weft__story_find_unsignalled(struct weft__findings *findings);

#endif
