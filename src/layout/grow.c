/* SPDX-License-Identifier: ISC
 *
 * The layout of the next snapshot of a growing trace: the former one, except for the tasks that
 * changed and those that are new. No new event is before the last one of the former snapshot, so
 * what ended before it cannot meet a new task: only tasks that go on, or ended since, are in the
 * occupancy.
 *
 * Each group has rows and an occupancy of its own. While tasks are placed, rows count from the
 * group's first one; then the groups are put one below the other again.
 *
 * What this does not cover is laid out as a whole: groups by thread, other groups than before,
 * filters, and the few changes of tasks that are part of a fold. All of these have ended, so that
 * neither their ends nor the times in which they ran can change.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "layout/layout.h"
#include "model/growth.h"

struct growing {
	const struct weft_model *model;
	const struct weft_layout *former;
	const struct weft__growth *growth;
	struct weft__columns *columns;
	uint32_t first, count; /* tasks: the first new one, and all */
	/* Former tasks that may be simplified now, in ascending order. */
	uint32_t *candidates, candidate_count;
	bool failed; /* the layout must be made as a whole */
};

static void *copy(const void *from, size_t rows, size_t room, size_t bytes)
{
	void *to = malloc(room * bytes + 1);
	if (to && rows)
		memcpy(to, from, rows * bytes);
	return to;
}

static bool copy_folds(const struct growing *g)
{
	const struct weft_layout *f = g->former;
	struct weft__columns *c = g->columns;
	if (!f->fold_of)
		return true;
	c->fold_of = copy(f->fold_of, g->first, g->count, sizeof(*c->fold_of));
	for (uint32_t i = 0; i < f->fold_count; i++)
		c->member_count += f->folds[i].count;
	c->folds = copy(f->folds, f->fold_count, f->fold_count, sizeof(*c->folds));
	c->members = copy(f->fold_members, c->member_count, c->member_count, sizeof(*c->members));
	c->member_ends = copy(f->fold_ends, c->member_count, c->member_count, sizeof(*c->member_ends));
	if (!c->fold_of || !c->folds || !c->members || !c->member_ends)
		return false;
	c->fold_count = f->fold_count;
	memset(c->fold_of + g->first, 0xff, (g->count - g->first) * sizeof(*c->fold_of));
	return true;
}

/* Takes the former columns, and adds the new tasks as they were created. */
static int copy_columns(const struct growing *g)
{
	const struct weft_layout *f = g->former;
	const struct weft_tasks *tasks = &g->model->tasks;
	struct weft__columns *c = g->columns;
	size_t more = g->count - g->first;
	c->start = copy(f->start, g->first, g->count, sizeof(*c->start));
	c->parent = copy(f->parent, g->first, g->count, sizeof(*c->parent));
	c->row = copy(f->row, g->first, g->count, sizeof(*c->row));
	c->moved = copy(f->moved, g->first, g->count, sizeof(*c->moved));
	c->form = copy(f->form, g->first, g->count, sizeof(*c->form));
	if (!c->start || !c->parent || !c->row || !c->moved || !c->form || !copy_folds(g))
		return WEFT_ERROR_MEMORY;
	if (more) {
		memcpy(c->start + g->first, tasks->start + g->first, more * sizeof(*c->start));
		memcpy(c->parent + g->first, tasks->parent + g->first, more * sizeof(*c->parent));
	}
	memset(c->row + g->first, 0xff, more * sizeof(*c->row));
	memset(c->moved + g->first, 0, more * sizeof(*c->moved));
	memset(c->form + g->first, WEFT_FORM_LINE, more * sizeof(*c->form));
	c->above = c->parent;
	c->has_waits = f->has_waits;
	return 0;
}

/* The columns of a task that did not move are the model's. A created task was a root before. */
static void update(struct growing *g, uint32_t task)
{
	const struct weft_tasks *tasks = &g->model->tasks;
	struct weft__columns *c = g->columns;
	uint32_t parent = tasks->parent[task];
	if (c->form[task] == WEFT_FORM_WAIT && tasks->flags[task] & WEFT_TASK_FAILED)
		g->failed = true; /* it gets a row */
	if (c->moved[task])
		return;
	if (c->form[task] == WEFT_FORM_FOLDED &&
		(c->start[task] != tasks->start[task] || c->parent[task] != parent))
		g->failed = true;
	c->start[task] = tasks->start[task];
	if (c->parent[task] == parent)
		return;
	g->failed = g->failed || parent == WEFT_NONE ||
				!weft__layout_forest_move(c->forest, task, c->parent[task], parent);
	c->parent[task] = parent;
}

static int simplify(struct growing *g, uint32_t task)
{
	struct weft__columns *c = g->columns;
	uint32_t read = c->moved[task] ? WEFT_NONE : weft__layout_waking_read(g->model, task);
	if (read == WEFT_NONE ||
		weft__layout_tries_any(&c->tries, g->model, task, g->model->edges.time[read]))
		return 0;
	g->failed = g->failed || c->form[task] == WEFT_FORM_FOLDED;
	return weft__layout_move(g->model, c->forest, task, read, c);
}

/* Merges the tasks that changed and those that were refused. */
static int list_candidates(struct growing *g)
{
	const struct weft__growth *growth = g->growth;
	const struct weft__columns *c = g->columns;
	size_t room = (size_t)growth->changed_count + c->refused_count + 1;
	g->candidates = malloc(room * sizeof(*g->candidates));
	if (!g->candidates)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0, j = 0; i < growth->changed_count || j < c->refused_count;) {
		uint32_t changed = i < growth->changed_count ? growth->changed[i] : WEFT_NONE;
		uint32_t refused = j < c->refused_count ? c->refused[j] : WEFT_NONE;
		i += changed <= refused;
		j += refused <= changed;
		g->candidates[g->candidate_count++] = changed < refused ? changed : refused;
	}
	return 0;
}

static int simplify_all(struct growing *g)
{
	int error = list_candidates(g);
	g->columns->refused_count = 0; /* listed again */
	for (uint32_t i = 0; i < g->candidate_count && !error; i++)
		error = simplify(g, g->candidates[i]);
	for (uint32_t task = g->first; task < g->count && !error; task++)
		error = simplify(g, task);
	return error;
}

static int update_tasks(struct growing *g)
{
	struct weft__columns *c = g->columns;
	if (!weft__layout_forest_add(&c->forest, c->parent, g->count))
		return WEFT_ERROR_MEMORY;
	int error = weft__layout_tries_add(&c->tries, g->model);
	for (uint32_t i = 0; i < g->growth->changed_count && !error; i++)
		update(g, g->growth->changed[i]);
	return error ? error : simplify_all(g);
}

static int list_changed(struct growing *g)
{
	const struct weft_layout *f = g->former;
	struct weft__columns *c = g->columns;
	c->changed = malloc((g->candidate_count + (size_t)1) * sizeof(*c->changed));
	if (!c->changed)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < g->candidate_count; i++) {
		uint32_t task = g->candidates[i];
		if (c->start[task] != f->start[task] || c->parent[task] != f->parent[task] ||
			c->moved[task] != f->moved[task])
			c->changed[c->changed_count++] = task;
	}
	return 0;
}

/* ---- The order of the new tasks: below each task of the former layout as in tree.c ---- */

struct new_links {
	uint32_t *child, *sibling; /* by task, from the first new one on */
	uint64_t *roots, *scratch; /* parent, then the order below it */
	uint32_t root_count;
};

#define ORDERS (UINT32_C(1) << 31)

static void link_tasks(const struct growing *g, struct new_links *l, bool moved)
{
	const struct weft__columns *c = g->columns;
	for (uint32_t task = g->first; task < g->count; task++) {
		uint32_t parent = c->parent[task];
		if (c->moved[task] != moved)
			continue;
		if (parent != WEFT_NONE && parent >= g->first) {
			l->sibling[task - g->first] = l->child[parent - g->first];
			l->child[parent - g->first] = task;
		} else {
			uint64_t order = ORDERS - 1 - (task - g->first) % ORDERS;
			l->roots[l->root_count++] = (uint64_t)parent << 32 | (moved ? 0 : ORDERS) | order;
		}
	}
}

/* Adds a task and its new descendants. */
static void walk(
	const struct growing *g, const struct new_links *l, uint32_t root, struct weft__tree *tree)
{
	for (uint32_t task = root;;) {
		tree->order[tree->count++] = task;
		if (l->child[task - g->first] != WEFT_NONE) {
			task = l->child[task - g->first];
			continue;
		}
		while (task != root && l->sibling[task - g->first] == WEFT_NONE)
			task = g->columns->parent[task];
		if (task == root)
			return;
		task = l->sibling[task - g->first];
	}
}

static int order_new(const struct growing *g, struct weft__tree *tree)
{
	size_t count = g->count - g->first;
	uint32_t *memory = malloc(3 * count * sizeof(*memory));
	uint64_t *roots = malloc(2 * count * sizeof(*roots));
	if (!memory || !roots) {
		free(memory);
		free(roots);
		return WEFT_ERROR_MEMORY;
	}
	struct new_links links = {memory + count, memory + 2 * count, roots, roots + count, 0};
	memset(links.child, 0xff, 2 * count * sizeof(*memory));
	link_tasks(g, &links, false);
	link_tasks(g, &links, true);
	weft__sort_u64(roots, links.scratch, links.root_count);
	tree->order = memory;
	for (uint32_t i = 0; i < links.root_count; i++)
		walk(g, &links, g->first + ORDERS - 1 - (uint32_t)(roots[i] % ORDERS), tree);
	free(roots);
	return 0;
}

/* ---- Rows ---- */

/* The new tasks of a group, or all. */
struct placed {
	struct weft__tree tree;
	uint32_t group; /* WEFT_NONE: there are no groups */
	uint32_t rows;  /* of the group */
};

static int hold(const struct growing *g, const struct placed *placed,
	struct weft__occupancy *occupancy, uint32_t task)
{
	uint64_t from = g->growth->last_ns, end = g->model->tasks.end[task];
	bool is_open = !(g->model->tasks.flags[task] & WEFT_TASK_RESOLVED);
	bool lies_there = g->columns->start[task] == from && end == from;
	if (task >= g->first || g->columns->form[task] != WEFT_FORM_LINE)
		return 0;
	if (placed->group != WEFT_NONE && g->columns->group_of[task] != placed->group)
		return 0;
	if (is_open)
		return weft__layout_occupancy_hold_always(occupancy, g->columns->row[task]);
	if (end <= from && !lies_there)
		return 0;
	end = end > from ? end : from + 1;
	return weft__layout_occupancy_hold(
		occupancy, weft__layout_occupancy_ranks(occupancy, from, end), g->columns->row[task]);
}

/* Takes the rows of all tasks of the former layout that may meet a new one. */
static int hold_former(
	const struct growing *g, const struct placed *placed, struct weft__occupancy *occupancy)
{
	const struct weft__growth *now = g->growth, *then = weft__model_own_growth(g->former->model);
	int error = 0;
	for (uint32_t i = 0; i < now->open_count && !error; i++)
		error = hold(g, placed, occupancy, now->open[i]);
	for (uint32_t i = 0; i < now->changed_count && !error; i++)
		error = hold(g, placed, occupancy, now->changed[i]);
	for (uint32_t i = 0; i < then->changed_count && !error; i++)
		error = hold(g, placed, occupancy, then->changed[i]);
	for (uint32_t task = then->tasks; task < g->first && !error; task++)
		error = hold(g, placed, occupancy, task);
	return error;
}

static int place(struct growing *g, const struct weft_help *help, struct placed *placed)
{
	const uint64_t from = g->growth->last_ns;
	struct weft__occupancy occupancy = {0};
	int error = weft__layout_expect_new(g->model, &placed->tree, g->columns, from, &occupancy);
	if (!error)
		error = hold_former(g, placed, &occupancy);
	if (!error)
		error = weft__layout_place_new(
			g->model, help, &placed->tree, g->columns, &occupancy, from, placed->rows);
	if (occupancy.row_count > placed->rows)
		placed->rows = occupancy.row_count;
	weft__layout_occupancy_finish(&occupancy);
	return error;
}

/* The first row of the tasks of a group, below its heading. */
static uint32_t below_heading(const struct weft_group *group)
{
	return group->first_row + 1;
}

/* Makes the rows of former tasks count from the first one of their group. */
static void unstack_groups(const struct growing *g)
{
	struct weft__columns *c = g->columns;
	for (uint32_t task = 0; task < g->first; task++)
		c->row[task] -= below_heading(&c->groups[c->group_of[task]]);
	for (uint32_t i = 0; i < c->fold_count; i++)
		if (c->folds[i].row != WEFT_NONE)
			c->folds[i].row -=
				below_heading(&c->groups[c->group_of[c->members[c->folds[i].first]]]);
}

/* Puts the groups one below the other. Returns the number of rows. */
static uint32_t stack_groups(const struct growing *g)
{
	struct weft__columns *c = g->columns;
	uint32_t row = 0;
	for (uint32_t i = 0; i < c->group_count; i++) {
		c->has_shifted |= c->groups[i].first_row != row;
		c->groups[i].first_row = row;
		row += c->groups[i].row_count;
	}
	for (uint32_t task = 0; task < g->count; task++)
		c->row[task] += below_heading(&c->groups[c->group_of[task]]);
	for (uint32_t i = 0; i < c->fold_count; i++)
		if (c->folds[i].row != WEFT_NONE)
			c->folds[i].row +=
				below_heading(&c->groups[c->group_of[c->members[c->folds[i].first]]]);
	return row;
}

/* Brings the tasks of each group together, in the order of the walk. `ret_first`: the index of each
 * group's first one, and of the end. */
static uint32_t *sort_by_group(
	const struct growing *g, const struct weft__tree *tree, uint32_t *ret_first)
{
	const struct weft__columns *c = g->columns;
	uint32_t *sorted = malloc((tree->count + (size_t)1) * sizeof(*sorted));
	for (uint32_t i = 0; i < tree->count; i++)
		ret_first[c->group_of[tree->order[i]] + 2]++;
	for (uint32_t i = 2; i < c->group_count + 2; i++)
		ret_first[i] += ret_first[i - 1];
	for (uint32_t i = 0; i < tree->count && sorted; i++)
		sorted[ret_first[c->group_of[tree->order[i]] + 1]++] = tree->order[i];
	return sorted;
}

static int place_in_groups(struct growing *g, const struct weft_help *help,
	const struct weft__tree *tree, uint32_t *ret_row_count)
{
	struct weft__columns *c = g->columns;
	uint32_t *first = calloc(c->group_count + (size_t)2, sizeof(*first));
	uint32_t *sorted = first ? sort_by_group(g, tree, first) : NULL;
	int error = sorted ? 0 : WEFT_ERROR_MEMORY;
	if (!error)
		unstack_groups(g);
	for (uint32_t i = 0; i < c->group_count && !error; i++) {
		struct placed placed = {
			.tree = {.order = sorted + first[i], .count = first[i + 1] - first[i]},
			.group = i,
			.rows = c->groups[i].row_count - 1,
		};
		if (placed.tree.count)
			error = place(g, help, &placed);
		c->groups[i].row_count = placed.rows + 1;
	}
	if (!error)
		*ret_row_count = stack_groups(g);
	free(sorted);
	free(first);
	return error;
}

static int place_new(struct growing *g, const struct weft_help *help, uint32_t *ret_row_count)
{
	struct placed all = {.group = WEFT_NONE, .rows = g->former->row_count};
	*ret_row_count = g->former->row_count;
	if (g->first == g->count)
		return 0;
	int error = order_new(g, &all.tree);
	if (!error && g->columns->group_count)
		error = place_in_groups(g, help, &all.tree, ret_row_count);
	else if (!error) {
		error = place(g, help, &all);
		*ret_row_count = all.rows;
	}
	weft__layout_tree_finish(&all.tree);
	return error;
}

/* ---- All of it ---- */

/* True if each task is in the group of its parent, as far as they can have changed. */
static bool are_in_groups_of_parents(const struct growing *g)
{
	const struct weft__columns *c = g->columns;
	bool good = true;
	for (uint32_t i = 0; i < g->candidate_count && c->group_count && good; i++) {
		uint32_t task = g->candidates[i], parent = c->parent[task];
		good = parent == WEFT_NONE || c->group_of[parent] == c->group_of[task];
	}
	for (uint32_t task = g->first; task < g->count && c->group_count && good; task++)
		good = c->parent[task] == WEFT_NONE || c->group_of[c->parent[task]] == c->group_of[task];
	return good;
}

static bool may_grow(const struct growing *g, const struct weft_layout_options *options)
{
	return g->growth && g->columns->forest && !options->hidden;
}

/* Moves the working memory. */
static void take_over(struct weft__columns *from, struct weft__columns *to)
{
	to->forest = from->forest;
	to->tries = from->tries;
	to->refused = from->refused;
	to->refused_count = from->refused_count;
	to->refused_capacity = from->refused_capacity;
	from->forest = NULL;
	from->tries = (struct weft__tries){0};
	from->refused = NULL;
	from->refused_count = 0;
	from->refused_capacity = 0;
}

int weft__layout_grow(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *former, struct weft__columns *columns, uint32_t *ret_row_count)
{
	const struct weft_layout *previous = options->previous;
	struct growing g = {
		.model = model,
		.former = previous,
		.growth = weft__model_growth(model, previous->model),
		.columns = columns,
		.first = previous->model->tasks.count,
		.count = model->tasks.count,
	};
	take_over(former, columns);
	if (!may_grow(&g, options))
		return WEFT_AGAIN;
	int error = weft__layout_keep_groups(model, options, columns);
	if (!error)
		error = copy_columns(&g);
	if (!error)
		error = update_tasks(&g);
	if (!error && !options->no_simplify)
		error = weft__layout_find_waits(model, NULL, g.first, g.growth->edges, columns);
	g.failed = g.failed || (!error && !are_in_groups_of_parents(&g));
	if (!error && !g.failed)
		error = list_changed(&g);
	if (!error && !g.failed)
		error = place_new(&g, options->progress ? options->progress->help : NULL, ret_row_count);
	free(g.candidates);
	return error ? error : g.failed ? WEFT_AGAIN : 0;
}
