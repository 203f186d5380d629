/* SPDX-License-Identifier: ISC
 *
 * Simplification: a bind is created early and does nothing until the task that it waits for has a
 * value. It is drawn from then on, below that task, so that a chain of binds reads as a sequence.
 * docs/model.md has the exact rule.
 */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/both.h"
#include "layout/forest.h"

/* Breaks cycles of creation, which occur only in hostile traces ("a creates b, b creates a"): the
 * task that closes a cycle becomes a root. Each task is visited once: `seen` holds the walk. */
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

/* Keeps tasks moved that were moved before, whatever came later: the row before their read may be
 * in use. */
static void keep_moves(const struct weft_model *model, const struct weft_layout *previous,
	struct weft__columns *columns)
{
	for (uint32_t task = 0; task < previous->model->tasks.count; task++) {
		if (!previous->moved[task])
			continue;
		uint32_t read = model->edges.by_actor[model->tasks.first_edge[task]];
		columns->parent[task] = model->edges.to[read];
		columns->start[task] = previous->start[task];
		columns->moved[task] = true;
	}
}

static void copy(const struct weft_model *model, const struct weft_layout *previous,
	struct weft__columns *columns)
{
	uint32_t count = model->tasks.count;
	if (count == 0)
		return;
	memcpy(columns->start, model->tasks.start, count * sizeof(*columns->start));
	memcpy(columns->parent, model->tasks.parent, count * sizeof(*columns->parent));
	memset(columns->moved, 0, count * sizeof(*columns->moved));
	memset(columns->form, WEFT_FORM_LINE, count * sizeof(*columns->form));
	if (previous)
		keep_moves(model, previous, columns);
	cut_cycles(columns->parent, columns->row, count); /* the column of rows serves as scratch */
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

/* When another task first tried to read each task; UINT64_MAX: never. */
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

uint32_t weft__layout_waking_read(const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *tasks = &model->tasks;
	uint32_t first = tasks->first_edge[task];
	if (!has_simplified_kind(tasks->kind[task]) || first == tasks->end_edge[task])
		return WEFT_NONE;
	uint32_t edge = model->edges.by_actor[first];
	uint64_t time = model->edges.time[edge];
	if (model->edges.type[edge] != WEFT_EDGE_READ || time > tasks->end[task])
		return WEFT_NONE; /* a task that reads after its end would have a negative length */
	if (tasks->flags[task] & WEFT_TASK_NOTED)
		return WEFT_NONE;
	uint32_t parent = tasks->parent[task];
	if (parent != WEFT_NONE && tasks->becomes[parent] == task)
		return WEFT_NONE;
	return edge;
}

/* The work of two threads: first what each needs, then half of the tasks each. */
struct simplifying {
	const struct weft_model *model;
	const struct weft_layout *previous; /* NULL, or the former layout */
	struct weft__columns *columns;
	struct weft__forest *forest;
	uint64_t *tried;
	uint32_t *reads; /* the waking read of each task */
};

static void copy_and_plant(void *context)
{
	struct simplifying *s = context;
	copy(s->model, s->previous, s->columns);
	s->forest = weft__layout_forest_create(s->columns->parent, s->model->tasks.count);
}

static void find_tries(void *context)
{
	struct simplifying *s = context;
	s->tried = first_tries(s->model);
}

static void find_reads(struct simplifying *s, uint32_t first, uint32_t last)
{
	const uint64_t *time = s->model->edges.time;
	for (uint32_t task = first; task < last; task++) {
		uint32_t read = weft__layout_waking_read(s->model, task);
		bool was_tried = read != WEFT_NONE && s->tried[task] <= time[read];
		s->reads[task] = was_tried ? WEFT_NONE : read;
	}
}

static void find_first_reads(void *context)
{
	struct simplifying *s = context;
	find_reads(s, 0, s->model->tasks.count / 2);
}

static void find_other_reads(void *context)
{
	struct simplifying *s = context;
	find_reads(s, s->model->tasks.count / 2, s->model->tasks.count);
}

static int add_refused(struct weft__columns *c, uint32_t task)
{
	const struct weft__column column = {&c->refused, sizeof(*c->refused)};
	int error =
		weft__columns_reserve(&column, 1, &c->refused_capacity, c->refused_count + (size_t)1);
	if (!error)
		c->refused[c->refused_count++] = task;
	return error;
}

int weft__layout_move(const struct weft_model *model, struct weft__forest *forest, uint32_t task,
	uint32_t read, struct weft__columns *columns)
{
	uint32_t source = model->edges.to[read];
	if (source == task)
		return 0;
	if (!weft__layout_forest_move(forest, task, columns->parent[task], source))
		return model->summary.live ? add_refused(columns, task) : 0;
	columns->parent[task] = source;
	columns->start[task] = model->edges.time[read];
	columns->moved[task] = true;
	return 0;
}

static int move(struct simplifying *s)
{
	int error = 0;
	for (uint32_t task = 0; task < s->model->tasks.count && !error; task++)
		if (s->reads[task] != WEFT_NONE && !s->columns->moved[task])
			error = weft__layout_move(s->model, s->forest, task, s->reads[task], s->columns);
	return error;
}

int weft__layout_simplify(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *columns)
{
	const struct weft_help *help = options->progress ? options->progress->help : NULL;
	struct simplifying s = {
		.model = model, .previous = options->previous, .columns = columns, .reads = columns->row};
	if (options->no_simplify) {
		copy(model, NULL, columns);
		return 0;
	}
	weft__both(help, copy_and_plant, &s, find_tries, &s);
	int error = s.forest && s.tried ? 0 : WEFT_ERROR_MEMORY;
	if (!error) {
		weft__both(help, find_first_reads, &s, find_other_reads, &s);
		error = move(&s);
	}
	free(s.tried);
	if (!error && model->summary.live)
		columns->forest = s.forest;
	else
		weft__layout_forest_destroy(s.forest);
	return error;
}
