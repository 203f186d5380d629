/* SPDX-License-Identifier: ISC
 *
 * Services whose main task waits for ever on purpose, as by `await asyncio.Future()`, while others
 * answer connections.
 */
#ifndef WEFT_STORY_PROBLEMS_SERVICE_H
#define WEFT_STORY_PROBLEMS_SERVICE_H

#include "story/index.h"

/* True if nothing has been done to the task until then, but that it was created. */
bool weft__story_is_unused(const struct weft_story *story, uint32_t task, uint64_t until);

/* True if the task is the main one of a program that listens for connections (WEFT_TAG_LISTENS). */
bool weft__story_is_main_of_service(const struct weft_story *story, uint32_t task);

#endif
