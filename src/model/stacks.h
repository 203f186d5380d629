/* SPDX-License-Identifier: ISC
 *
 * Where in the code tasks were when they began to wait. The columns only grow, so snapshots share
 * them.
 */
#ifndef WEFT_MODEL_STACKS_H
#define WEFT_MODEL_STACKS_H

#include <weft/model.h>

#include "base/shared.h"

struct weft__stack_columns {
	uint32_t count;
	size_t capacity;
	uint64_t *time;
	uint32_t *task, *text;
	struct weft__shared *shared;
};

/* Appends a row. 0 or WEFT_ERROR_MEMORY. */
int weft__model_stacks_add(
	struct weft__stack_columns *stacks, uint64_t time, uint32_t task, uint32_t text);

/* A reference to the columns; NULL without memory. */
struct weft__shared *weft__model_stacks_hold(struct weft__stack_columns *stacks);
/* Ends the sharing and frees the unused capacity. 0 or WEFT_ERROR_MEMORY. */
int weft__model_stacks_own(struct weft__stack_columns *stacks);
void weft__model_stacks_finish(struct weft__stack_columns *stacks);

/* The columns as a model shows them. */
struct weft_stacks weft__model_stacks_show(const struct weft__stack_columns *stacks);

#endif
