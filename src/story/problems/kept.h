/* SPDX-License-Identifier: ISC
 *
 * A lock whose holder is the reason why others wait long for it: it waits for something slow, such
 * as a client that does not read, or it has no processor while other threads of its program run.
 */
#ifndef WEFT_STORY_PROBLEMS_KEPT_H
#define WEFT_STORY_PROBLEMS_KEPT_H

#include "story/problems/findings.h"
#include "story/problems/holds.h"

/* Reports the longest wait for the lock that has such a reason. False if there is none. */
bool weft__story_look_for_kept(
	struct weft__findings *findings, const struct weft__resource_holds *holds, uint32_t lock);

#endif
