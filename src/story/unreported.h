/* SPDX-License-Identifier: ISC
 *
 * Bytes that epoll does not report: the program has left some unread behind an edge, or has not
 * armed the descriptor again (weft/ends.h).
 */
#ifndef WEFT_STORY_UNREPORTED_H
#define WEFT_STORY_UNREPORTED_H

#include "story/index.h"
#include "story/words.h"

/* Appends " is not armed again (EPOLLONESHOT)" or " has 136 bytes left unread (EPOLLET)", about a
 * descriptor's task. False if it is not so. */
bool weft__story_words_add_unreported(
	struct weft__words *words, const struct weft_model *model, uint32_t task, uint64_t at_ns);

/* True if a task waits for `source`, one end of a connection, and epoll does not report to the
 * other side what it has sent. */
bool weft__story_is_unreported(const struct weft_story *story, uint32_t source, uint64_t at_ns);

/* Appends "; the other end is not armed again (EPOLLONESHOT)". False if it is not so. */
bool weft__story_add_unreported(struct weft__sentence *sentence, const struct weft_story *story,
	uint32_t source, uint64_t at_ns, unsigned worth);

#endif
