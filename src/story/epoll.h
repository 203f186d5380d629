/* SPDX-License-Identifier: ISC
 *
 * The descriptors of the epoll instance in which a thread waits, by the tags of their tasks
 * (WEFT_TAG_EPOLL).
 */
#ifndef WEFT_STORY_EPOLL_H
#define WEFT_STORY_EPOLL_H

#include <weft/model.h>

#define WEFT__EPOLL_LISTED 3

struct weft__epoll {
	uint32_t count;                    /* of the tasks that stand for its descriptors */
	uint32_t list[WEFT__EPOLL_LISTED]; /* the first of them */
};

/* Finds the descriptors for which the thread waits at a time, if it waits for nothing else. `count`
 * is 0 if it does not wait in epoll, or if the trace has none of its descriptors. */
void weft__story_epoll_at(
	const struct weft_model *model, uint32_t thread, uint64_t at, struct weft__epoll *ret);

#endif
