/* SPDX-License-Identifier: ISC
 *
 * The order in which tasks are placed: groups from top to bottom; in each, roots by id; below each
 * task first the tasks that moved there, the last mentioned first, then the tasks that it created,
 * the newest first.
 *
 * The walk needs no stack: children are linked lists, and the way back is the parent column, so
 * that very deep chains are no special case.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "layout/layout.h"

struct links {
	uint32_t *first_child;
	uint32_t *next_sibling;
};

static void prepend(struct links *links, uint32_t parent, uint32_t task)
{
	links->next_sibling[task] = links->first_child[parent];
	links->first_child[parent] = task;
}

/* Prepends in the order of creation, which puts the newest first; moved ones are prepended last. */
static void link_children(
	const struct weft_model *model, const struct weft__columns *c, struct links *links)
{
	const struct weft_edges *edges = &model->edges;
	for (uint32_t edge = 0; edge < edges->count; edge++) {
		uint32_t task = edges->to[edge];
		if (edges->type[edge] == WEFT_EDGE_CREATE && !c->moved[task] &&
			c->above[task] != WEFT_NONE && c->form[task] != WEFT_FORM_HIDDEN)
			prepend(links, c->above[task], task);
	}
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (c->moved[task] && c->above[task] != WEFT_NONE && c->form[task] != WEFT_FORM_HIDDEN)
			prepend(links, c->above[task], task);
}

static bool is_root(const struct weft__columns *c, uint32_t task)
{
	return c->above[task] == WEFT_NONE && c->form[task] != WEFT_FORM_HIDDEN;
}

static uint32_t count_roots(const struct weft_tasks *tasks, const struct weft__columns *c)
{
	uint32_t count = 0;
	for (uint32_t task = 0; task < tasks->count; task++)
		count += is_root(c, task);
	return count;
}

static uint64_t id_key(const struct weft_tasks *tasks, const struct weft__columns *c, uint32_t task)
{
	(void)c;
	return tasks->id[task];
}

static uint64_t place_key(
	const struct weft_tasks *tasks, const struct weft__columns *c, uint32_t task)
{
	uint64_t group = c->group_of ? c->group_of[task] : 0;
	return group << 32 | (tasks->buffer ? tasks->buffer[task] : 0);
}

/* Sorts roots by a key; the sort is stable. */
struct root_sort {
	uint32_t *roots, *sorted, *order, *scratch;
	uint64_t *keys;
	uint32_t count;
};

static void sort_roots(struct root_sort *sort, const struct weft_tasks *tasks,
	const struct weft__columns *c,
	uint64_t (*key)(const struct weft_tasks *, const struct weft__columns *, uint32_t))
{
	for (uint32_t i = 0; i < sort->count; i++)
		sort->keys[i] = key(tasks, c, sort->roots[i]);
	weft__order_by_u64(sort->keys, sort->order, sort->scratch, sort->count);
	for (uint32_t i = 0; i < sort->count; i++)
		sort->sorted[i] = sort->roots[sort->order[i]];
	uint32_t *sorted = sort->sorted;
	sort->sorted = sort->roots;
	sort->roots = sorted;
}

/* Links the roots as siblings, by group, buffer and id; sets the first, or WEFT_NONE. */
static int link_roots(const struct weft_tasks *tasks, const struct weft__columns *c,
	struct links *links, uint32_t *ret_first)
{
	size_t capacity = count_roots(tasks, c) + (size_t)1;
	uint32_t *memory = malloc(capacity * 4 * sizeof(*memory));
	uint64_t *keys = calloc(capacity, sizeof(*keys));
	if (!memory || !keys) {
		free(memory);
		free(keys);
		return WEFT_ERROR_MEMORY;
	}
	struct root_sort sort = {
		memory, memory + capacity, memory + 2 * capacity, memory + 3 * capacity, keys, 0};
	for (uint32_t task = 0; task < tasks->count; task++)
		if (is_root(c, task))
			sort.roots[sort.count++] = task;
	sort_roots(&sort, tasks, c, id_key);
	sort_roots(&sort, tasks, c, place_key);
	for (uint32_t i = 0; i + 1 < sort.count; i++)
		links->next_sibling[sort.roots[i]] = sort.roots[i + 1];
	*ret_first = sort.count ? sort.roots[0] : WEFT_NONE;
	free(memory);
	free(keys);
	return 0;
}

/* The next task in the walk; WEFT_NONE at its end. */
static uint32_t step(const struct links *links, const uint32_t *above, uint32_t task)
{
	if (links->first_child[task] != WEFT_NONE)
		return links->first_child[task];
	while (task != WEFT_NONE && links->next_sibling[task] == WEFT_NONE)
		task = above[task];
	return task == WEFT_NONE ? WEFT_NONE : links->next_sibling[task];
}

/* Adds up sizes from the end on, since children follow their parents. */
static void add_sizes(struct weft__tree *tree, const struct weft__columns *c)
{
	for (uint32_t i = 0; i < tree->count; i++)
		tree->size[tree->order[i]] = 1;
	for (uint32_t i = tree->count; i-- > 0;) {
		uint32_t task = tree->order[i];
		if (c->above[task] != WEFT_NONE)
			tree->size[c->above[task]] += tree->size[task];
	}
}

int weft__layout_tree_init(
	struct weft__tree *tree, const struct weft_model *model, const struct weft__columns *c)
{
	size_t bytes = (model->tasks.count + (size_t)1) * sizeof(uint32_t);
	struct links links = {malloc(bytes), malloc(bytes)};
	uint32_t first = WEFT_NONE;
	int error = WEFT_ERROR_MEMORY;
	*tree = (struct weft__tree){.order = malloc(bytes)};
	if (!links.first_child || !links.next_sibling || !tree->order)
		goto out;
	memset(links.first_child, 0xff, bytes);
	memset(links.next_sibling, 0xff, bytes);
	error = link_roots(&model->tasks, c, &links, &first);
	if (error)
		goto out;
	link_children(model, c, &links);
	for (uint32_t task = first; task != WEFT_NONE; task = step(&links, c->above, task))
		tree->order[tree->count++] = task;
	tree->size = links.first_child; /* reuse this memory */
	links.first_child = NULL;
	add_sizes(tree, c);
out:
	free(links.first_child);
	free(links.next_sibling);
	if (error)
		weft__layout_tree_finish(tree);
	return error;
}

void weft__layout_tree_finish(struct weft__tree *tree)
{
	free(tree->order);
	free(tree->size);
	*tree = (struct weft__tree){0};
}
