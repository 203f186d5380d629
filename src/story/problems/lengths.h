/* SPDX-License-Identifier: ISC
 *
 * Queues that grow because what puts in is faster than what takes out.
 */
#ifndef WEFT_STORY_PROBLEMS_LENGTHS_H
#define WEFT_STORY_PROBLEMS_LENGTHS_H

#include "story/problems/findings.h"

/* True if the counter is the length of a queue: then it is reported, if it grows too far. */
bool weft__story_look_at_length(struct weft__findings *findings, uint32_t number);

#endif
