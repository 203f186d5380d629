/* SPDX-License-Identifier: ISC
 *
 * Simplification: a bind is created early and does nothing until what it waits for has a value.
 * It is drawn from then on, below what it waited for, so that a chain of binds reads as a sequence.
 * The rule is docs/model.md's, to the letter.
 */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

#include "layout/forest.h"

/* Creation cannot close a cycle in an honest trace; in a hostile one ("a creates b, b creates a")
 * the task that closes it becomes a root. Each task is walked over once: `seen` holds the walk. */
static void cut_cycles(uint32_t *parent, uint32_t *seen, uint32_t count)
{
	memset(seen, 0xff, count * sizeof(*seen));
	for (uint32_t task = 0; task < count; task++) {
		uint32_t at = task;
		while (at != WEFT_NONE && seen[at] == WEFT_NONE) {
			seen[at] = task;
			if (parent[at] != WEFT_NONE && parent[at] >= count)
				parent[at] = WEFT_NONE;
			if (parent[at] != WEFT_NONE && seen[parent[at]] == task)
				parent[at] = WEFT_NONE;
			at = parent[at];
		}
	}
}

void weft__layout_copy(const struct weft_model *model, struct weft__columns *columns)
{
	uint32_t count = model->tasks.count;
	if (count == 0)
		return;
	memcpy(columns->start, model->tasks.start, count * sizeof(*columns->start));
	memcpy(columns->parent, model->tasks.parent, count * sizeof(*columns->parent));
	memset(columns->moved, 0, count * sizeof(*columns->moved));
	memset(columns->form, WEFT_FORM_LINE, count * sizeof(*columns->form));
	cut_cycles(columns->parent, columns->row, count); /* rows come later */
}

static bool has_simplified_kind(unsigned kind)
{
	switch (kind) {
	case WEFT_KIND_BIND:
	case WEFT_KIND_TRY:
	case WEFT_KIND_MAP:
	case WEFT_KIND_IGNORE_RESULT:
	case WEFT_KIND_ON_FAILURE:
	case WEFT_KIND_ON_TERMINATION:
		return true;
	default:
		return false;
	}
}

/* When each task was first tried to be read by another; UINT64_MAX is never. */
static uint64_t *first_tries(const struct weft_model *model)
{
	const struct weft_edges *edges = &model->edges;
	uint64_t *tried = malloc((model->tasks.count + 1) * sizeof(*tried));
	if (!tried)
		return NULL;
	for (uint32_t task = 0; task < model->tasks.count; task++)
		tried[task] = UINT64_MAX;
	for (uint32_t edge = 0; edge < edges->count; edge++) {
		uint32_t to = edges->to[edge];
		if (edges->type[edge] == WEFT_EDGE_TRY_READ && edges->time[edge] < tried[to])
			tried[to] = edges->time[edge];
	}
	return tried;
}

/* The read that a task starts with, if the rule moves the task there; or WEFT_NONE. */
static uint32_t waking_read(const struct weft_model *model, const uint64_t *tried, uint32_t task)
{
	const struct weft_tasks *tasks = &model->tasks;
	uint32_t first = tasks->first_edge[task];
	if (!has_simplified_kind(tasks->kind[task]) || first == tasks->first_edge[task + 1])
		return WEFT_NONE;
	uint32_t edge = model->edges.by_actor[first];
	uint64_t time = model->edges.time[edge];
	if (model->edges.type[edge] != WEFT_EDGE_READ || time > tasks->end[task])
		return WEFT_NONE; /* a task that reads after its end would get a negative life */
	if (tasks->flags[task] & WEFT_TASK_NOTED || tried[task] <= time)
		return WEFT_NONE;
	uint32_t parent = tasks->parent[task];
	if (parent != WEFT_NONE && tasks->becomes[parent] == task)
		return WEFT_NONE;
	return edge;
}

static bool was_moved(const struct weft_layout *previous, uint32_t task)
{
	return previous && task < previous->model->tasks.count && previous->moved[task];
}

/* What was drawn from its read on stays so, whatever came later: it no longer has the row before.
 */
static void keep_moves(const struct weft_model *model, const struct weft_layout *previous,
	struct weft__forest *forest, struct weft__columns *columns)
{
	for (uint32_t task = 0; task < previous->model->tasks.count; task++) {
		if (!previous->moved[task])
			continue;
		uint32_t read = model->edges.by_actor[model->tasks.first_edge[task]];
		uint32_t *parent = &columns->parent[task], source = model->edges.to[read];
		if (weft__forest_move(forest, task, *parent, source))
			*parent = source;
		columns->start[task] = previous->start[task];
		columns->moved[task] = true;
	}
}

int weft__layout_simplify(const struct weft_model *model, const struct weft_layout *previous,
	struct weft__columns *columns)
{
	struct weft__forest *forest = weft__forest_create(columns->parent, model->tasks.count);
	uint64_t *tried = first_tries(model);
	bool complete = forest && tried;
	if (complete && previous)
		keep_moves(model, previous, forest, columns);
	for (uint32_t task = 0; complete && task < model->tasks.count; task++) {
		if (was_moved(previous, task))
			continue;
		uint32_t read = waking_read(model, tried, task);
		if (read == WEFT_NONE)
			continue;
		uint32_t source = model->edges.to[read];
		if (source == task || !weft__forest_move(forest, task, columns->parent[task], source))
			continue;
		columns->parent[task] = source;
		columns->start[task] = model->edges.time[read];
		columns->moved[task] = true;
	}
	free(tried);
	weft__forest_destroy(forest);
	return complete ? 0 : WEFT_ERROR_MEMORY;
}
