/* SPDX-License-Identifier: ISC
 *
 * Rows: depth first along the tree of parents, newest child first, each task in the first free row
 * at or below where its parent allows. The walk has no stack: children are linked lists, and the
 * way back up is the parent column, so that a chain a million deep is a chain like any other.
 */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "layout/occupancy.h"

struct tree {
	uint32_t *first_child;
	uint32_t *next_sibling;
};

struct root {
	uint64_t id;
	uint32_t buffer, task;
};

static void prepend(struct tree *tree, uint32_t parent, uint32_t task)
{
	tree->next_sibling[task] = tree->first_child[parent];
	tree->first_child[parent] = task;
}

/* Prepending in the order of creation puts the newest first; moved ones come in front of those, the
 * last to be mentioned first. */
static void link_children(
	const struct weft_model *model, const struct weft__columns *columns, struct tree *tree)
{
	const struct weft_edges *edges = &model->edges;
	for (uint32_t edge = 0; edge < edges->count; edge++) {
		uint32_t task = edges->to[edge];
		if (edges->type[edge] == WEFT_EDGE_CREATE && !columns->moved[task] &&
			columns->parent[task] != WEFT_NONE)
			prepend(tree, columns->parent[task], task);
	}
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (columns->moved[task])
			prepend(tree, columns->parent[task], task);
}

static int compare_roots(const void *a, const void *b)
{
	const struct root *x = a, *y = b;
	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return 0;
}

/* Links the roots as siblings, in the order of ids; the first, or WEFT_NONE. */
static int link_roots(const struct weft_tasks *tasks, const struct weft__columns *columns,
	struct tree *tree, uint32_t *ret_first)
{
	uint32_t count = 0;
	for (uint32_t task = 0; task < tasks->count; task++)
		count += columns->parent[task] == WEFT_NONE;
	struct root *roots = malloc((count + 1) * sizeof(*roots));
	if (!roots)
		return WEFT_ERROR_MEMORY;
	count = 0;
	for (uint32_t task = 0; task < tasks->count; task++)
		if (columns->parent[task] == WEFT_NONE)
			roots[count++] =
				(struct root){tasks->id[task], tasks->buffer ? tasks->buffer[task] : 0, task};
	qsort(roots, count, sizeof(*roots), compare_roots);
	for (uint32_t i = 0; i + 1 < count; i++)
		tree->next_sibling[roots[i].task] = roots[i + 1].task;
	*ret_first = count ? roots[0].task : WEFT_NONE;
	free(roots);
	return 0;
}

/* The next task in the walk; WEFT_NONE at its end. */
static uint32_t step(const struct tree *tree, const uint32_t *parent, uint32_t task)
{
	if (tree->first_child[task] != WEFT_NONE)
		return tree->first_child[task];
	while (task != WEFT_NONE && tree->next_sibling[task] == WEFT_NONE)
		task = parent[task];
	return task == WEFT_NONE ? WEFT_NONE : tree->next_sibling[task];
}

static uint32_t lowest_allowed(
	const struct weft_tasks *tasks, const struct weft__columns *columns, uint32_t task)
{
	uint32_t parent = columns->parent[task];
	if (parent == WEFT_NONE)
		return 0;
	bool continues = tasks->becomes[parent] == task || tasks->end[parent] <= columns->start[task];
	return columns->row[parent] + (continues ? 0 : 1);
}

/* What a task becomes is often there a moment before the task is gone. It goes on in the task's row
 * all the same, and has the row for itself from the task's end on. When that is; 0 for others. */
static uint64_t continues_at(
	const struct weft_tasks *tasks, const struct weft__columns *columns, uint32_t task)
{
	uint32_t parent = columns->parent[task];
	if (parent == WEFT_NONE || tasks->becomes[parent] != task)
		return 0;
	uint64_t at = tasks->end[parent];
	return at > columns->start[task] && at < tasks->end[task] ? at : 0;
}

/* From when on a placed task has its row for itself. */
static uint64_t alone_from(
	const struct weft_tasks *tasks, const struct weft__columns *columns, uint32_t task)
{
	uint64_t continued = continues_at(tasks, columns, task);
	return continued && columns->row[columns->parent[task]] == columns->row[task]
			   ? continued
			   : columns->start[task];
}

static int place(const struct weft_tasks *tasks, struct weft__columns *columns, uint32_t task,
	struct weft__occupancy *occupancy)
{
	uint64_t start = columns->start[task], end = tasks->end[task];
	uint64_t continued = continues_at(tasks, columns, task);
	uint32_t from = lowest_allowed(tasks, columns, task);
	bool placed = false;
	int error = 0;
	if (continued && start >= alone_from(tasks, columns, columns->parent[task]))
		error = weft__occupancy_try(occupancy, continued, end, from, &placed);
	if (error)
		return error;
	if (placed) {
		columns->row[task] = from;
		return 0;
	}
	/* A task that ends when it starts still has a place of its own. */
	return weft__occupancy_take(
		occupancy, start, end > start ? end : start + 1, from, &columns->row[task]);
}

static int walk(const struct weft_tasks *tasks, struct weft__columns *columns,
	const struct tree *tree, uint32_t first, struct weft__occupancy *occupancy)
{
	int error = 0;
	for (uint32_t task = first; task != WEFT_NONE && !error;
		 task = step(tree, columns->parent, task))
		error = place(tasks, columns, task, occupancy);
	return error;
}

/* The distinct starts of what is placed, sorted. NULL without memory. */
static uint64_t *distinct_starts(
	const struct weft_tasks *tasks, const struct weft__columns *columns, size_t *ret_count)
{
	size_t bytes = (2 * (size_t)tasks->count + 1) * sizeof(uint64_t), count = 0;
	uint64_t *starts = malloc(bytes), *scratch = malloc(bytes);
	if (!starts || !scratch) {
		free(starts);
		free(scratch);
		return NULL;
	}
	for (uint32_t task = 0; task < tasks->count; task++) {
		uint64_t continued = continues_at(tasks, columns, task);
		starts[count++] = columns->start[task];
		if (continued)
			starts[count++] = continued;
	}
	weft__sort_u64(starts, scratch, count);
	free(scratch);
	*ret_count = weft__unique_u64(starts, count);
	return starts;
}

int weft__layout_place(
	const struct weft_model *model, struct weft__columns *columns, uint32_t *ret_row_count)
{
	const struct weft_tasks *tasks = &model->tasks;
	size_t bytes = (tasks->count + (size_t)1) * sizeof(uint32_t), start_count = 0;
	struct tree tree = {malloc(bytes), malloc(bytes)};
	uint64_t *starts = distinct_starts(tasks, columns, &start_count);
	struct weft__occupancy occupancy;
	uint32_t first = WEFT_NONE;
	weft__occupancy_init(&occupancy, starts, start_count);
	int error = WEFT_ERROR_MEMORY;
	if (!tree.first_child || !tree.next_sibling || !starts)
		goto out;
	memset(tree.first_child, 0xff, bytes);
	memset(tree.next_sibling, 0xff, bytes);
	error = link_roots(tasks, columns, &tree, &first);
	if (error)
		goto out;
	link_children(model, columns, &tree);
	error = walk(tasks, columns, &tree, first, &occupancy);
	*ret_row_count = occupancy.row_count;
out:
	weft__occupancy_finish(&occupancy);
	free(starts);
	free(tree.first_child);
	free(tree.next_sibling);
	return error;
}
