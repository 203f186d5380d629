/* SPDX-License-Identifier: ISC
 *
 * Counters of things that are taken and not all given back.
 */
#ifndef WEFT_STORY_PROBLEMS_LEAKS_H
#define WEFT_STORY_PROBLEMS_LEAKS_H

#include "story/problems/findings.h"

/* Adds a problem if what the counter counts leaks. True if it does. */
bool weft__story_look_for_leak(struct weft__findings *findings, uint32_t counter);

/* Adds a problem for each process that does not wait for its children. */
void weft__story_find_unreaped(struct weft__findings *findings);

/* Adds a problem for each warning of node that listeners are added to an object and not removed. */
void weft__story_find_listeners(struct weft__findings *findings);

#endif
