/* SPDX-License-Identifier: ISC
 *
 * The data about each task that rules need besides its state: its label, and the start of its wait.
 * Events come in the order of time, so the list of waiting tasks is sorted.
 */
#ifndef WEFT_TRIGGER_WAITERS_H
#define WEFT_TRIGGER_WAITERS_H

#include <weft/event.h>

struct weft__waiter {
	struct weft_slice label; /* a copy of the first, which may be empty; NULL: none */
	uint64_t since_ns;
	uint64_t tested; /* a bit for each rule that this wait has exceeded and that was tested */
	uint32_t before, after; /* among the tasks that wait, or WEFT_NONE */
};

struct weft__waiters {
	struct weft__waiter *list; /* by task */
	uint32_t count;
	size_t capacity;
	uint32_t first, last; /* of the tasks that wait, the longest wait first; or WEFT_NONE */
};

void weft__trigger_waiters_init(struct weft__waiters *waiters);
void weft__trigger_waiters_finish(struct weft__waiters *waiters);

/* Adds a row for the next task. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__trigger_waiters_add(struct weft__waiters *waiters);
/* Sets the label of a task, unless it has one. 0 or WEFT_ERROR_MEMORY. */
int weft__trigger_waiters_label(
	struct weft__waiters *waiters, uint32_t task, struct weft_slice label);

void weft__trigger_waiters_begin(struct weft__waiters *waiters, uint32_t task, uint64_t now_ns);
void weft__trigger_waiters_end(struct weft__waiters *waiters, uint32_t task);

/* Renumbers tasks by the table of weft__model_state_forget; tasks that wait are not forgotten. */
void weft__trigger_waiters_move(struct weft__waiters *waiters, const uint32_t *new_index);

#endif
