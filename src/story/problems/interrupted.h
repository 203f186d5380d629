/* SPDX-License-Identifier: ISC
 *
 * See interrupted.c.
 */
#ifndef WEFT_STORY_PROBLEMS_INTERRUPTED_H
#define WEFT_STORY_PROBLEMS_INTERRUPTED_H

#include "story/problems/blocked.h"
#include "story/problems/findings.h"

/* Adds them as unanswered waits, but for threads that wait again, or still, when the trace ends. */
void weft__story_find_interrupted(
	struct weft__findings *findings, const struct weft__blocked *blocked);

#endif
