/* SPDX-License-Identifier: ISC
 *
 * The holds of one resource, and the waits for it, in order of time. A task that takes a resource
 * (or reads a semaphore) holds it until it gives it back (signals it), or ends; or, if it never
 * gives it back, until the trace's end. A task that runs again with that read had waited since it
 * last ran. So had a task that runs and, before any other action, reads what another held when it
 * stopped running.
 */
#ifndef WEFT_STORY_PROBLEMS_HOLDS_H
#define WEFT_STORY_PROBLEMS_HOLDS_H

#include "story/index.h"

struct weft__timed_hold {
	uint64_t since, start, end; /* when its task began to wait, took it, gave it back */
	uint32_t task;
	bool is_left;       /* the task ended without giving it back */
	bool is_taken_over; /* it ends because another task took it */
};

struct weft__timed_wait {
	uint64_t start, end;
	uint32_t task;
};

/* It is read for one resource after the other. */
struct weft__resource_holds {
	const struct weft_story *story;
	const struct weft_model *model;
	uint64_t *starts, *ends;            /* of waits; with room for twice as many */
	struct weft__timed_wait *wait_list; /* the same, with the tasks; in no order */
	struct weft__timed_hold *list;
	uint64_t *lengths; /* for the caller: of holds; with room for twice as many */
	uint32_t waits, count;
	bool is_shared;  /* it may have several holders at once */
	uint32_t nested; /* how often the holder of a lock has taken it again */
};

/* Makes room for resources with at most `edges` edges. 0 or WEFT_ERROR_MEMORY. Call finish in both
 * cases. */
int weft__story_resource_holds_init(
	struct weft__resource_holds *holds, const struct weft_story *story, size_t edges);
void weft__story_resource_holds_finish(struct weft__resource_holds *holds);

/* Replaces the content by the holds and waits of `resource`. 0 or WEFT_ERROR_MEMORY. */
int weft__story_resource_holds_read(struct weft__resource_holds *holds, uint32_t resource);

/* The number of holds that began at `time` or before. */
uint32_t weft__story_holds_until(const struct weft__resource_holds *holds, uint64_t time);

/* The maximum number of simultaneous waits, and its time. Sorts `starts` and `ends`. */
uint32_t weft__story_resource_holds_queue(struct weft__resource_holds *holds, uint64_t *ret_time);

#endif
