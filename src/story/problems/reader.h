/* SPDX-License-Identifier: ISC
 *
 * The task that a finding about a promise names.
 */
#ifndef WEFT_STORY_PROBLEMS_READER_H
#define WEFT_STORY_PROBLEMS_READER_H

#include "story/index.h"

/* The only task that reads or wants a task that never runs, if it has a name; else WEFT_NONE. */
uint32_t weft__story_only_reader(const struct weft_story *story, uint32_t task);

#endif
