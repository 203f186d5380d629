/* SPDX-License-Identifier: ISC
 *
 * Threads that do not keep up with the signals of a condition.
 */
#ifndef WEFT_STORY_PROBLEMS_CONSUMERS_H
#define WEFT_STORY_PROBLEMS_CONSUMERS_H

struct weft__findings;

void weft__story_find_slow_consumers(struct weft__findings *findings);

#endif
