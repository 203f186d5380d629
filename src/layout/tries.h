/* SPDX-License-Identifier: ISC
 *
 * The try_reads of a growing trace by the task that they wait for: whether a task is simplified
 * depends on them, and a later read may drop any.
 */
#ifndef WEFT_LAYOUT_TRIES_H
#define WEFT_LAYOUT_TRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__tries {
	uint32_t tasks, edges; /* rows of the model that were taken */
	size_t task_capacity;
	uint32_t *latest; /* by task: the entry of its latest try_read, or WEFT_NONE */
	uint32_t count;
	size_t capacity;
	uint32_t *edge, *before; /* of an entry: its edge; the entry before it of that task */
};

void weft__layout_tries_finish(struct weft__tries *tries);

/* Takes the tasks and edges that are new in the model. 0, WEFT_ERROR_MEMORY or _LIMIT. */
int weft__layout_tries_add(struct weft__tries *tries, const struct weft_model *model);

/* True if a task tried to read `task` by a time, and no read has answered. */
bool weft__layout_tries_any(
	const struct weft__tries *tries, const struct weft_model *model, uint32_t task, uint64_t time);

#endif
