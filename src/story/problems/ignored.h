/* SPDX-License-Identifier: ISC
 *
 * Tasks that do not end when they are cancelled.
 */
#ifndef WEFT_STORY_PROBLEMS_IGNORED_H
#define WEFT_STORY_PROBLEMS_IGNORED_H

#include "story/problems/findings.h"

/* Adds a problem for the one for which its canceller waits longest, if that is long. */
void weft__story_find_ignored(struct weft__findings *findings);

#endif
