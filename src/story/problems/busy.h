/* SPDX-License-Identifier: ISC
 *
 * Threads that wait in a busy loop, as the adapters have found.
 */
#ifndef WEFT_STORY_PROBLEMS_BUSY_H
#define WEFT_STORY_PROBLEMS_BUSY_H

#include "story/problems/findings.h"

void weft__story_find_busy_loops(struct weft__findings *findings);

#endif
