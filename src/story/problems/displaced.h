/* SPDX-License-Identifier: ISC
 *
 * Short work that waits for a pool, all of which long work of another kind has.
 */
#ifndef WEFT_STORY_PROBLEMS_DISPLACED_H
#define WEFT_STORY_PROBLEMS_DISPLACED_H

#include "story/problems/findings.h"
#include "story/problems/holds.h"

/* Adds a problem if there is such a wait for the resource, and returns true. */
bool weft__story_look_for_displaced(
	struct weft__findings *findings, const struct weft__resource_holds *holds, uint32_t resource);

#endif
