/* SPDX-License-Identifier: ISC
 *
 * A loop that waits for its next job, at the end of a program that has no more: those who gave it
 * jobs are others. Where a reply was lost, a lock is in a circle, or a pool is exhausted, tasks
 * like the one that is waited for were ended by tasks like those that wait now, or by what these
 * have begun.
 */
#ifndef WEFT_STORY_PROBLEMS_ANSWERED_H
#define WEFT_STORY_PROBLEMS_ANSWERED_H

#include "story/problems/blocked.h"
#include "story/problems/findings.h"

/* True if tasks of the kind and label of `last` were ended before, and always by tasks that are not
 * like those that wait now, and were not made by such. */
bool weft__story_answered_by_others(
	const struct weft__findings *findings, const struct weft__blocked *blocked, uint32_t last);

#endif
