/* SPDX-License-Identifier: ISC
 *
 * What rules need of each task besides its state: its label, and since when it waits. Events come
 * in the order of time, so a list of the tasks that wait is sorted.
 */
#ifndef WEFT_TRIGGER_WAITERS_H
#define WEFT_TRIGGER_WAITERS_H

#include <weft/event.h>

struct weft__waiter {
	struct weft_slice label; /* the first; a copy */
	uint64_t since_ns;
	uint64_t tested;        /* a bit for each rule that has fired, or will not, for this wait */
	uint32_t before, after; /* among the tasks that wait, or WEFT_NONE */
};

struct weft__waiters {
	struct weft__waiter *list; /* by task */
	uint32_t count;
	size_t capacity;
	uint32_t first, last; /* of those that wait, the longest first; or WEFT_NONE */
};

void weft__waiters_init(struct weft__waiters *waiters);
void weft__waiters_finish(struct weft__waiters *waiters);

/* The next task. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__waiters_add(struct weft__waiters *waiters);
/* Its label, unless it has one. 0 or WEFT_ERROR_MEMORY. */
int weft__waiters_label(struct weft__waiters *waiters, uint32_t task, struct weft_slice label);

void weft__waiters_begin(struct weft__waiters *waiters, uint32_t task, uint64_t now_ns);
void weft__waiters_end(struct weft__waiters *waiters, uint32_t task);

/* Renumbers, as weft__state_forget says; tasks that wait are not forgotten. */
void weft__waiters_move(struct weft__waiters *waiters, const uint32_t *place);

#endif
