/* SPDX-License-Identifier: ISC
 *
 * Words about queues of messages and semaphores of the kernel (WEFT_KEY_QUEUE). Any process may use
 * a queue, so these words name only processes that have used it.
 */
#ifndef WEFT_STORY_QUEUE_END_H
#define WEFT_STORY_QUEUE_END_H

#include <weft/story.h>

#include "story/words.h"

/* The words between such a task and one that has given to its waiters, as " was raised by " of a
 * semaphore; NULL: `task` is of another kind. */
const char *weft__story_queue_words(const struct weft_model *model, uint32_t task);

/* Appends "; its reader ended: thread 3 'worker' at 3 ms" to a sentence about a wait for room
 * in a queue, if the processes in the trace that made room have all ended; the same for messages
 * and semaphores. False if not. Needs the index. */
bool weft__story_add_queue_user(struct weft__sentence *sentence, const struct weft_story *story,
	uint32_t task, uint64_t at_ns, unsigned worth);

#endif
