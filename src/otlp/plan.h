/* SPDX-License-Identifier: ISC
 *
 * Decides which tasks become spans, and below which span each of them is. A task's parent is the
 * one that created it; but a task that another process's task sent a message to is below that one.
 * A task that is not shown is in the span of its nearest ancestor that is. A task with a context of
 * its own has the ids and the parent of that, and not its creator; those below it are in its trace.
 */
#ifndef WEFT_OTLP_PLAN_H
#define WEFT_OTLP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

#include "otlp/contexts.h"
#include "otlp/ids.h"

enum weft__otlp_role {
	WEFT__OTLP_AWAITED = 1 << 0, /* the span above it waits for it */
	WEFT__OTLP_SERVES = 1 << 1,  /* it works for no request */
	WEFT__OTLP_REQUEST = 1 << 2, /* it is a root, though another one created it */
};

struct weft__otlp_plan {
	const struct weft_model *model;
	struct weft__otlp_contexts contexts;
	uint64_t *seeds; /* of the buffers, and one for tasks of none of them */
	/* By task: */
	uint32_t *above;   /* the parent, shown or not; WEFT_NONE: a root */
	uint32_t *shown;   /* the task whose span it is in; WEFT_NONE: none */
	uint32_t *root;    /* of a shown one: the shown task whose trace it is in */
	bool *is_inferred; /* its parent is known by a message */
	uint8_t *role;     /* enum weft__otlp_role, if tasks are folded */
	/* The tasks that are in another one's span: the first of a shown task, and the next one. NULL:
	 * all are shown. */
	uint32_t *first_folded, *next_folded;
	/* The receive edges of task t are receives[first_receive[t]] up to those of the next task. */
	uint32_t *first_receive, *receives;
	/* All tasks, by buffer. */
	uint32_t *order;
	uint64_t folded;
};

/* 0 or WEFT_ERROR_MEMORY; the caller calls finish in any case. */
int weft__otlp_plan_init(struct weft__otlp_plan *plan, const struct weft_model *model, bool folds);
void weft__otlp_plan_finish(struct weft__otlp_plan *plan);

/* NULL: the task has no context of its own. */
const struct weft__otlp_context *weft__otlp_plan_context(
	const struct weft__otlp_plan *plan, uint32_t task);

uint64_t weft__otlp_plan_seed(const struct weft__otlp_plan *plan, uint32_t task);
/* The ids of a shown task. */
uint64_t weft__otlp_plan_span(const struct weft__otlp_plan *plan, uint32_t task);
struct weft__otlp_trace_id weft__otlp_plan_trace(const struct weft__otlp_plan *plan, uint32_t task);
/* The shown task below which a shown one is; WEFT_NONE: it is a root, or has a context. */
uint32_t weft__otlp_plan_parent(const struct weft__otlp_plan *plan, uint32_t task);

#endif
