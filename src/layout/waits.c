/* SPDX-License-Identifier: ISC
 *
 * Promises that need no row: one that a task creates, waits for and alone reads, and that does
 * nothing itself, is no more than the task's wait. It gets the task's row, whose line shows it.
 */
#include "layout/waits.h"

#include <stdlib.h>

#include "base/search.h"
#include "layout/layout.h"

#define READS_MAX 64 /* edges that are examined for the one that a task reads first */

static bool is_read(unsigned type)
{
	return type == WEFT_EDGE_READ || type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_WAIT_ANY;
}

/* A promise that does nothing, and may be in a wait of the task that created it. */
static bool may_be_in_wait(
	const struct weft_model *model, const struct weft__columns *c, uint32_t task)
{
	const struct weft_tasks *tasks = &model->tasks;
	uint32_t above = c->above[task], kind = tasks->kind[task];
	return (kind == WEFT_KIND_PROMISE || kind == WEFT_KIND_WAIT) && above != WEFT_NONE &&
		   above == tasks->parent[task] && !c->moved[task] && c->form[task] == WEFT_FORM_LINE &&
		   c->form[above] == WEFT_FORM_LINE && tasks->becomes[task] == WEFT_NONE &&
		   tasks->becomes[above] != task &&
		   tasks->first_activation[task] == tasks->end_activation[task] &&
		   !(tasks->flags[task] & WEFT_TASK_FAILED);
}

static bool is_before(const void *edges, uint32_t row, uint64_t time)
{
	const struct weft_edges *e = edges;
	return e->time[e->by_actor[row]] < time;
}

/* The first edge by which the reader reads, at that time or later; or WEFT_NONE. */
static uint32_t first_read(const struct weft_model *model, uint32_t reader, uint64_t time)
{
	const struct weft_edges *edges = &model->edges;
	uint32_t last = model->tasks.end_edge[reader];
	uint32_t first = weft__search(edges, model->tasks.first_edge[reader], last, is_before, time);
	for (uint32_t i = first; i < last && i - first < READS_MAX; i++)
		if (is_read(edges->type[edges->by_actor[i]]))
			return edges->by_actor[i];
	return WEFT_NONE;
}

/* The last one by which it reads; or WEFT_NONE. */
static uint32_t last_read(const struct weft_model *model, uint32_t reader)
{
	const struct weft_edges *edges = &model->edges;
	uint32_t first = model->tasks.first_edge[reader], last = model->tasks.end_edge[reader];
	for (uint32_t i = last; i > first && last - i < READS_MAX; i--)
		if (is_read(edges->type[edges->by_actor[i - 1]]))
			return edges->by_actor[i - 1];
	return WEFT_NONE;
}

static bool has_ended(const struct weft_model *model, uint32_t task)
{
	return (model->tasks.flags[task] & WEFT_TASK_RESOLVED) != 0;
}

/* True if the task that created the promise has not run since, and waits for nothing else. */
static bool is_still_waited_for(const struct weft_model *model, uint32_t task, uint32_t reader)
{
	uint32_t edge = last_read(model, reader);
	bool fits = has_ended(model, reader)
					? has_ended(model, task) && model->tasks.end[task] <= model->tasks.end[reader]
					: true;
	return fits && edge != WEFT_NONE && model->edges.type[edge] == WEFT_EDGE_TRY_READ &&
		   model->edges.to[edge] == task;
}

/* True if the promise began while its reader ran, and ended in the wait after that, and if it is
 * what the reader reads first after the wait: so no two promises are in one wait. */
static bool is_in_wait(const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *tasks = &model->tasks;
	const struct weft_activations *ran = &model->activations;
	uint32_t reader = tasks->parent[task];
	uint32_t first = tasks->first_activation[reader], last = tasks->end_activation[reader];
	if (first == last)
		return false;
	uint32_t next = first + (uint32_t)weft__lower_bound_u64(
								ran->start + first, last - first, tasks->start[task] + 1);
	if (next == first)
		return false; /* it did not run before */
	if (next == last)
		return is_still_waited_for(model, task, reader);
	uint32_t edge = first_read(model, reader, ran->start[next]);
	return has_ended(model, task) && tasks->end[task] >= ran->end[next - 1] &&
		   tasks->end[task] <= ran->start[next] && edge != WEFT_NONE &&
		   model->edges.type[edge] == WEFT_EDGE_READ && model->edges.to[edge] == task;
}

/* Tasks from `first` on that another one reads than the one that created them, or that is waited
 * for together with others. */
static void find_shared(
	const struct weft_model *model, uint32_t first, uint32_t first_edge, bool *shared)
{
	const struct weft_edges *edges = &model->edges;
	for (uint32_t edge = first_edge; edge < edges->count; edge++) {
		uint32_t to = edges->to[edge];
		if (to != WEFT_NONE && to >= first && is_read(edges->type[edge]) &&
			(edges->from[edge] != model->tasks.parent[to] ||
				edges->type[edge] == WEFT_EDGE_WAIT_ANY))
			shared[to - first] = true;
	}
}

int weft__layout_find_waits(const struct weft_model *model, const struct weft_layout *previous,
	uint32_t first, uint32_t first_edge, struct weft__columns *c)
{
	bool *shared = calloc(model->tasks.count - first + (size_t)1, sizeof(*shared));
	if (!shared)
		return WEFT_ERROR_MEMORY;
	find_shared(model, first, first_edge, shared);
	for (uint32_t task = first; task < model->tasks.count; task++) {
		bool was_there = previous && task < previous->model->tasks.count;
		if (!may_be_in_wait(model, c, task))
			continue;
		if (was_there ? previous->form[task] == WEFT_FORM_WAIT
					  : !shared[task - first] && is_in_wait(model, task)) {
			c->form[task] = WEFT_FORM_WAIT;
			c->has_waits = true;
		}
	}
	free(shared);
	return 0;
}

uint32_t weft__layout_wait_at(const struct weft_layout *layout, uint32_t task, uint64_t time)
{
	const struct weft_model *model = layout->model;
	uint32_t edge = first_read(model, task, time);
	if (edge == WEFT_NONE)
		edge = last_read(model, task);
	uint32_t source = edge == WEFT_NONE ? WEFT_NONE : model->edges.to[edge];
	bool is_in = source != WEFT_NONE && layout->form[source] == WEFT_FORM_WAIT &&
				 layout->parent[source] == task && layout->start[source] <= time &&
				 time <= model->tasks.end[source];
	return is_in ? source : WEFT_NONE;
}
