/* SPDX-License-Identifier: ISC
 *
 * Assigns rows: in the order of the walk, each task takes the first free row at or below the lowest
 * one that its parent allows. A fold is placed like one task, where its newest member would be.
 * Each group has rows of its own; groups are then put one below the other.
 *
 * The walk accesses the columns in random order. So everything about tasks that does not depend on
 * other tasks' rows is gathered one batch ahead, on a second thread if there is one.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/both.h"
#include "base/sort.h"
#include "layout/layout.h"
#include "layout/occupancy.h"

#define BATCH        2048 /* tasks; two batches fit into an L2 cache, and leave most of it */
#define STEP_BATCHES 32   /* of weft__layout_placing_step(): some milliseconds */

/* Data that is gathered ahead about a task with a row of its own. */
struct unit {
	struct weft__ranks ranks;
	uint64_t continued; /* continues_at() */
	uint32_t above;
	bool is_beside; /* may have the same row as the task above */
};

struct batch {
	struct unit units[BATCH];
	uint32_t first, count; /* indices of the walk */
};

struct weft__placing {
	const struct weft_model *model;
	const struct weft_layout *previous;
	const struct weft__tree *tree;
	const struct weft_help *help;
	struct weft__columns *columns;
	struct weft__occupancy *occupancy;
	struct batch *looking; /* the second thread fills it */
	struct batch *ready;   /* the second thread has filled it */
	uint32_t first, last;  /* indices of the walk: the range that is placed from row 0 on */
	uint64_t known_from;   /* tasks that start before go to row `bottom` or below */
	uint32_t bottom;
	uint32_t group, row; /* the group of the range, and the first row below the groups before */
	bool is_open;        /* the range is being placed */
	int error;
	struct batch batches[2];
};

/* A task's end for placing: while a trace grows, an unended task keeps its row for ever. */
static uint64_t end_of(const struct weft__placing *p, uint32_t task)
{
	const struct weft_model *model = p->model;
	bool goes_on = model->summary.live && !(model->tasks.flags[task] & WEFT_TASK_RESOLVED);
	return goes_on ? UINT64_MAX : model->tasks.end[task];
}

static bool is_beside(const struct weft__placing *p, uint32_t task, uint32_t above, uint64_t start)
{
	return above != WEFT_NONE &&
		   (p->model->tasks.becomes[above] == task || end_of(p, above) <= start);
}

static uint32_t lowest_allowed(const struct weft__placing *p, uint32_t above, bool is_beside)
{
	return above == WEFT_NONE ? 0 : p->columns->row[above] + (is_beside ? 0 : 1);
}

static bool has_run_before(const struct weft__placing *p, uint32_t task, uint64_t time)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	for (uint32_t i = tasks->first_activation[task]; i < tasks->end_activation[task]; i++)
		if (p->model->activations.start[i] < time)
			return true;
	return false;
}

/* True if the parent created the task in its last activation, which ended with the parent, and the
 * task did not run before that: one callback makes the next. A parent that ran on two threads at
 * its end has no last activation; those that end with it come last. */
static bool is_next_callback(const struct weft__placing *p, uint32_t parent, uint32_t task)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	const struct weft_activations *ran = &p->model->activations;
	uint32_t first = tasks->first_activation[parent], last = tasks->end_activation[parent];
	uint64_t end = tasks->end[parent];
	if (tasks->becomes[parent] != WEFT_NONE || p->columns->moved[task] || last == first)
		return false;
	if (ran->start[last - 1] > p->columns->start[task] || ran->end[last - 1] != end)
		return false;
	bool is_last = last - first == 1 || ran->end[last - 2] != end;
	return is_last && !has_run_before(p, task, end);
}

/* When a task continues in the row of its parent, which became it or made it as the next callback;
 * 0 for others. The task is often created shortly before the other ends. It still takes over the
 * row, and has it alone from the other's end on. */
static uint64_t continues_at(const struct weft__placing *p, uint32_t task)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	uint32_t above = p->columns->above[task];
	if (above == WEFT_NONE)
		return 0;
	uint64_t at = tasks->end[above];
	if (at <= p->columns->start[task] || at >= end_of(p, task) || end_of(p, above) != at)
		return 0;
	return tasks->becomes[above] == task || is_next_callback(p, above, task) ? at : 0;
}

/* The time from which on a placed task has its row alone. */
static uint64_t alone_from(const struct weft__placing *p, uint32_t task)
{
	const uint32_t *row = p->columns->row;
	uint64_t continued = continues_at(p, task);
	return continued && row[p->columns->above[task]] == row[task] ? continued
																  : p->columns->start[task];
}

/* An interval of length 0 still occupies its start. */
static struct weft__ranks ranks_of(const struct weft__placing *p, uint64_t start, uint64_t end)
{
	return weft__layout_occupancy_ranks(p->occupancy, start, end > start ? end : start + 1);
}

/* Places the task in its parent's row, if that is free from the parent's end on. Of several tasks
 * that could continue a row, the first one placed gets it, which is the newest. */
static int continue_row(
	struct weft__placing *p, uint32_t task, const struct unit *unit, bool *ret_placed)
{
	uint32_t row = p->columns->row[unit->above];
	int error = weft__layout_occupancy_try(
		p->occupancy, ranks_of(p, unit->continued, end_of(p, task)), row, ret_placed);
	if (!error && *ret_placed)
		p->columns->row[task] = row;
	return error;
}

static int place_task(struct weft__placing *p, uint32_t task, const struct unit *unit)
{
	struct weft__columns *c = p->columns;
	bool is_known = c->start[task] >= p->known_from, placed = false;
	int error = 0;
	if (unit->continued && is_known && c->start[task] >= alone_from(p, unit->above))
		error = continue_row(p, task, unit, &placed);
	if (error || placed)
		return error;
	uint32_t from = lowest_allowed(p, unit->above, unit->is_beside);
	if (!is_known && from < p->bottom)
		from = p->bottom;
	return weft__layout_occupancy_take(p->occupancy, unit->ranks, from, &c->row[task]);
}

static int place_fold(struct weft__placing *p, struct weft_fold *fold, uint32_t member)
{
	uint32_t above = p->columns->above[member];
	uint32_t from = lowest_allowed(p, above, is_beside(p, WEFT_NONE, above, fold->start));
	return weft__layout_occupancy_take(
		p->occupancy, ranks_of(p, fold->start, fold->end), from, &fold->row);
}

static struct weft_fold *fold_of(const struct weft__placing *p, uint32_t task)
{
	const struct weft__columns *c = p->columns;
	return c->form[task] == WEFT_FORM_FOLDED ? &c->folds[c->fold_of[task]] : NULL;
}

static int place(struct weft__placing *p, uint32_t task, const struct unit *unit)
{
	struct weft__columns *c = p->columns;
	struct weft_fold *fold = fold_of(p, task);
	int error = 0;
	if (c->form[task] == WEFT_FORM_WAIT)
		c->row[task] = c->row[c->above[task]];
	if (!fold)
		return c->row[task] == WEFT_NONE ? place_task(p, task, unit) : 0;
	if (fold->row == WEFT_NONE)
		error = place_fold(p, fold, task);
	c->row[task] = fold->row;
	return error;
}

/* The previous row of a task within its group; WEFT_NONE if it had none of its own. */
static uint32_t previous_row(const struct weft__placing *p, uint32_t task)
{
	const struct weft_layout *l = p->previous;
	if (task >= l->model->tasks.count || l->form[task] != p->columns->form[task] ||
		l->row[task] == WEFT_NONE)
		return WEFT_NONE;
	if (!l->group_of)
		return l->row[task];
	const struct weft_group *group = &l->groups[l->group_of[task]];
	return group->folded ? WEFT_NONE : l->row[task] - group->first_row - 1;
}

/* Keeps a task's previous row, even if it overlaps another task. */
static int keep_row(struct weft__placing *p, uint32_t task)
{
	struct weft__columns *c = p->columns;
	struct weft_fold *fold = fold_of(p, task);
	uint32_t row = c->form[task] == WEFT_FORM_WAIT ? WEFT_NONE : previous_row(p, task);
	if (row == WEFT_NONE || (fold && fold->row != WEFT_NONE))
		return 0;
	uint64_t start = fold ? fold->start : c->start[task], end = fold ? fold->end : end_of(p, task);
	*(fold ? &fold->row : &c->row[task]) = row;
	return weft__layout_occupancy_hold(p->occupancy, ranks_of(p, start, end), row);
}

/* Starts, to be sorted: most are in order, since tasks are in the order of first mention. */
struct starts {
	uint64_t *sorted, *others, *scratch;
	size_t sorted_count, other_count;
};

static void add_start(struct starts *s, uint64_t start)
{
	if (s->sorted_count == 0 || start > s->sorted[s->sorted_count - 1])
		s->sorted[s->sorted_count++] = start;
	else if (start < s->sorted[s->sorted_count - 1])
		s->others[s->other_count++] = start;
}

static void add_starts(const struct weft__placing *p, uint32_t task, struct starts *s)
{
	uint64_t continued = continues_at(p, task);
	add_start(s, p->columns->start[task]);
	if (continued)
		s->others[s->other_count++] = continued;
}

/* Merges the unordered starts into the ordered ones, from the end on; returns the number of
 * distinct ones. */
static size_t merge_starts(struct starts *s)
{
	weft__sort_u64(s->others, s->scratch, s->other_count);
	size_t at = s->sorted_count + s->other_count, i = s->sorted_count, j = s->other_count;
	while (j > 0)
		s->sorted[--at] =
			i > 0 && s->sorted[i - 1] > s->others[j - 1] ? s->sorted[--i] : s->others[--j];
	return weft__unique_u64(s->sorted, s->sorted_count + s->other_count);
}

/* Allocates room for that many tasks. */
static int starts_init(struct starts *s, uint32_t tasks)
{
	size_t bytes = (2 * (size_t)tasks + 1) * sizeof(uint64_t);
	*s = (struct starts){malloc(bytes), malloc(bytes), malloc(bytes), 0, 0};
	return s->sorted && s->others && s->scratch ? 0 : WEFT_ERROR_MEMORY;
}

/* Makes the occupancy and gives it the starts. `error` is an earlier error. */
static int make_occupancy(struct starts *s, struct weft__occupancy *occupancy, int error)
{
	size_t count = error ? 0 : merge_starts(s);
	free(s->others);
	free(s->scratch);
	if (!error)
		return weft__layout_occupancy_init(occupancy, s->sorted, count);
	free(s->sorted);
	return error;
}

int weft__layout_expect(const struct weft_model *model, struct weft__columns *columns,
	struct weft__occupancy *ret_occupancy)
{
	const struct weft__placing p = {.model = model, .columns = columns};
	struct starts starts;
	int error = starts_init(&starts, model->tasks.count);
	for (uint32_t task = 0; task < model->tasks.count && !error; task++)
		if (columns->form[task] != WEFT_FORM_HIDDEN)
			add_starts(&p, task, &starts);
	return make_occupancy(&starts, ret_occupancy, error);
}

/* The same for indices [first, last) of the walk. */
static int expect_range(struct weft__placing *p, uint32_t first, uint32_t last)
{
	struct starts starts;
	int error = starts_init(&starts, last - first);
	for (uint32_t i = first; i < last && !error; i++)
		add_starts(p, p->tree->order[i], &starts);
	return make_occupancy(&starts, p->occupancy, error);
}

static void look_at_task(const struct weft__placing *p, uint32_t task, struct unit *unit)
{
	const struct weft__columns *c = p->columns;
	if (c->form[task] == WEFT_FORM_FOLDED || c->form[task] == WEFT_FORM_WAIT)
		return;
	unit->above = c->above[task];
	unit->ranks = ranks_of(p, c->start[task], end_of(p, task));
	unit->continued = continues_at(p, task);
	unit->is_beside = is_beside(p, task, unit->above, c->start[task]);
}

/* Gathers the batch after the one that is ready. Reads nothing that placing writes. */
static void look_at_batch(void *context)
{
	struct weft__placing *p = context;
	struct batch *batch = p->looking;
	uint32_t left = p->last - batch->first;
	batch->count = left < BATCH ? left : BATCH;
	for (uint32_t i = 0; i < batch->count; i++)
		look_at_task(p, p->tree->order[batch->first + i], &batch->units[i]);
}

static void place_batch(void *context)
{
	struct weft__placing *p = context;
	const struct batch *batch = p->ready;
	for (uint32_t i = 0; i < batch->count && !p->error; i++) {
		p->error = place(p, p->tree->order[batch->first + i], &batch->units[i]);
	}
}

static void begin_range(struct weft__placing *p, uint32_t first, uint32_t last)
{
	p->looking = &p->batches[0];
	p->ready = &p->batches[1];
	p->first = first;
	p->last = last;
	p->looking->first = first;
	look_at_batch(p);
}

/* Places the batch that was looked at, and looks at the one after it. */
static void place_next_batch(struct weft__placing *p)
{
	struct batch *placed = p->ready;
	p->ready = p->looking;
	p->looking = placed;
	p->looking->first = p->ready->first + p->ready->count;
	weft__both(p->help, place_batch, p, look_at_batch, p);
}

/* Begins to place indices [first, last) of the walk, from row 0 on, in an occupancy of their own.
 */
static void open_range(struct weft__placing *p, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i < last && p->previous && !p->error; i++)
		p->error = keep_row(p, p->tree->order[i]);
	begin_range(p, first, last);
	p->is_open = true;
}

static void shift_rows(struct weft__placing *p, uint32_t by)
{
	struct weft__columns *c = p->columns;
	for (uint32_t i = p->first; i < p->last; i++) {
		uint32_t task = p->tree->order[i];
		c->row[task] += by;
		if (c->form[task] == WEFT_FORM_FOLDED)
			c->folds[c->fold_of[task]].row = c->row[task];
	}
}

static void end_group(struct weft__placing *p, uint32_t rows)
{
	struct weft_group *group = &p->columns->groups[p->group++];
	group->row_count = rows + 1;
	p->row += group->row_count;
}

static void close_range(struct weft__placing *p)
{
	uint32_t rows = p->occupancy->row_count;
	p->is_open = false;
	if (!p->columns->group_count) {
		p->row = rows;
		return;
	}
	weft__layout_occupancy_finish(p->occupancy);
	shift_rows(p, p->row + 1);
	end_group(p, rows);
}

/* Begins the next group, or all of it if it is folded. */
static void open_group(struct weft__placing *p)
{
	struct weft__columns *c = p->columns;
	struct weft_group *group = &c->groups[p->group];
	uint32_t first = p->last, last = first;
	while (last < p->tree->count && c->group_of[p->tree->order[last]] == p->group)
		last++;
	group->first_row = p->row;
	if (!group->folded) {
		p->error = expect_range(p, first, last);
		if (!p->error)
			open_range(p, first, last);
		return;
	}
	for (uint32_t i = first; i < last; i++)
		c->row[p->tree->order[i]] = p->row;
	p->last = last;
	end_group(p, 0);
}

int weft__layout_placing_step(struct weft__placing *p, uint32_t *ret_row_count)
{
	for (unsigned i = 0; i < STEP_BATCHES && !p->error; i++) {
		if (p->is_open && p->looking->count)
			place_next_batch(p);
		else if (p->is_open)
			close_range(p);
		else if (p->group < p->columns->group_count)
			open_group(p);
		else {
			*ret_row_count = p->row;
			return 0;
		}
	}
	return p->error ? p->error : WEFT_AGAIN;
}

/* Sets all but the batches, which are large and are written before they are read. */
static void begin_placing(struct weft__placing *p, const struct weft_model *model,
	const struct weft_help *help, const struct weft__tree *tree, struct weft__columns *columns,
	struct weft__occupancy *occupancy)
{
	memset(p, 0, offsetof(struct weft__placing, batches));
	p->model = model;
	p->help = help;
	p->tree = tree;
	p->columns = columns;
	p->occupancy = occupancy;
}

int weft__layout_expect_new(const struct weft_model *model, const struct weft__tree *tree,
	struct weft__columns *columns, uint64_t start, struct weft__occupancy *ret_occupancy)
{
	const struct weft__placing p = {.model = model, .columns = columns};
	struct starts starts;
	int error = starts_init(&starts, tree->count + 1);
	if (!error)
		add_start(&starts, start);
	for (uint32_t i = 0; i < tree->count && !error; i++)
		add_starts(&p, tree->order[i], &starts);
	return make_occupancy(&starts, ret_occupancy, error);
}

int weft__layout_place_new(const struct weft_model *model, const struct weft_help *help,
	const struct weft__tree *tree, struct weft__columns *columns, struct weft__occupancy *occupancy,
	uint64_t known_from, uint32_t bottom)
{
	struct weft__placing *p = malloc(sizeof(*p));
	if (!p)
		return WEFT_ERROR_MEMORY;
	begin_placing(p, model, help, tree, columns, occupancy);
	p->known_from = known_from;
	p->bottom = bottom;
	for (begin_range(p, 0, tree->count); p->looking->count && !p->error;)
		place_next_batch(p);
	int error = p->error;
	free(p);
	return error;
}

int weft__layout_placing_create(const struct weft_model *model,
	const struct weft_layout_options *options, const struct weft__tree *tree,
	struct weft__columns *columns, struct weft__occupancy *occupancy,
	struct weft__placing **ret_placing)
{
	const struct weft_help *help = options->progress ? options->progress->help : NULL;
	struct weft__placing *p = malloc(sizeof(*p));
	if (!p)
		return WEFT_ERROR_MEMORY;
	begin_placing(p, model, help, tree, columns, occupancy);
	p->previous = options->previous;
	if (model->tasks.count)
		memset(columns->row, 0xff, model->tasks.count * sizeof(*columns->row));
	if (!columns->group_count)
		open_range(p, 0, tree->count);
	*ret_placing = p;
	return 0;
}

void weft__layout_placing_destroy(struct weft__placing *placing)
{
	free(placing);
}
