/* SPDX-License-Identifier: ISC
 *
 * Threads of Python that wait for its global lock.
 */
#ifndef WEFT_STORY_PROBLEMS_GLOBAL_LOCK_H
#define WEFT_STORY_PROBLEMS_GLOBAL_LOCK_H

#include "story/problems/findings.h"

/* True for the condition of the global lock, which each thread signals that lets go of it. */
bool weft__story_is_global_lock(const struct weft_model *model, uint32_t task);

/* Adds a problem for the thread that waits for it longest, if it waits for long. */
void weft__story_find_global_lock(struct weft__findings *findings);

#endif
