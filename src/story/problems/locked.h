/* SPDX-License-Identifier: ISC
 *
 * Tasks that cannot go on, although each of them has several ways out: a join of several tasks, a
 * wait for any of several, a resource with several holders.
 *
 *     crawl 1 ─▶ gather ─▶ crawl 5 ─▶ pool ─▶ crawl 1, 2, 3, 4    each of which waits like crawl 1
 */
#ifndef WEFT_STORY_PROBLEMS_LOCKED_H
#define WEFT_STORY_PROBLEMS_LOCKED_H

#include "story/problems/blocked.h"

/* Gives each such task the `next` that leads into a circle, and sets `is_locked`. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__story_find_locked(struct weft__blocked *blocked);

#endif
