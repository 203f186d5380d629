/* SPDX-License-Identifier: ISC
 *
 * Backlogs of connections at listening sockets.
 */
#ifndef WEFT_STORY_PROBLEMS_BACKLOGS_H
#define WEFT_STORY_PROBLEMS_BACKLOGS_H

struct weft__findings;

void weft__story_find_backlogs(struct weft__findings *findings);

#endif
