/* SPDX-License-Identifier: ISC
 *
 * Which task each task waits for when the trace ends. A task that waits for one task alone has one
 * outgoing edge, so chains and circles of waits are found by walking.
 *
 * A task that waits for any of several has an edge to one of them if none can let it go on. Circles
 * leave these edges out, since each of the others could break them, unless all of them are in
 * circles. A join of several tasks has an edge only if one of these is in a circle.
 *
 * A lock or another resource does not wait itself: others wait for its holder. A semaphore is held
 * by the task that has read it and not signalled it since, unless another task that never reads it
 * signals it.
 */
#ifndef WEFT_STORY_PROBLEMS_BLOCKED_H
#define WEFT_STORY_PROBLEMS_BLOCKED_H

#include "story/index.h"
#include "story/words.h"

/* A column has an element for each task. */
struct weft__blocked {
	const struct weft_story *story;
	const struct weft_model *model;
	uint32_t *final; /* what each task finally became */
	uint32_t *next;  /* the task that it waits for, or WEFT_NONE */
	/* A resource's holder, or itself if there are several; the task at the other end of a pipe;
	 * else itself. WEFT_NONE: none. */
	uint32_t *holder;
	bool *is_locked; /* it waits in a circle or for one; see locked.h */
	int error;
};

/* 0 or WEFT_ERROR_MEMORY. Call finish in both cases. */
int weft__story_blocked_init(struct weft__blocked *blocked, const struct weft_story *story);
void weft__story_blocked_finish(struct weft__blocked *blocked);

/* The task that blocks a waiter on `source`: a resource's holder, or the resource if it has
 * several; WEFT_NONE if nothing does. */
uint32_t weft__story_blocked_behind(struct weft__blocked *blocked, uint32_t source);

/* The number of the children of which a process waits for any: `source`. 0: they are not all in the
 * trace, or other threads may end or wait for some. */
uint32_t weft__story_blocked_children(const struct weft__blocked *blocked, uint32_t source);

/* The edge by which a waiting task began to wait: its last act. */
uint32_t weft__story_blocked_since(const struct weft__blocked *blocked, uint32_t task);

/* True if the task waits for any of several, of which `next` is only one. */
bool weft__story_blocked_any(const struct weft__blocked *blocked, uint32_t task);

/* Appends " waits for wait 5 'reply'", or " waits for lock A of task 5" if `task` waits for a
 * resource. */
void weft__story_blocked_describe(
	const struct weft__blocked *blocked, uint32_t task, struct weft__words *words);

#endif
