/* SPDX-License-Identifier: ISC
 *
 * Threads of Python that wait for its global lock.
 */
#ifndef WEFT_STORY_PROBLEMS_GLOBAL_LOCK_H
#define WEFT_STORY_PROBLEMS_GLOBAL_LOCK_H

#include "story/problems/findings.h"

/* Adds a problem for the thread that waits for it longest, if it waits for long. */
void weft__story_find_global_lock(struct weft__findings *findings);

#endif
