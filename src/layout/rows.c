/* SPDX-License-Identifier: ISC
 *
 * Rows: in the order of the walk, each task in the first free row at or below where its parent
 * allows. A fold is placed like one task, where its newest member would be. Each group has rows of
 * its own, which then are put one below the other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "layout/layout.h"
#include "layout/occupancy.h"

/* What is placed on one row: a task, or a fold. */
struct unit {
	uint64_t start, end;
	uint32_t from; /* the lowest row allowed */
};

struct placing {
	const struct weft_model *model;
	const struct weft_layout *previous;
	const struct weft__tree *tree;
	struct weft__columns *columns;
	struct weft__occupancy occupancy;
};

/* While a trace grows, nobody else may have the row of a task that has not ended. */
static uint64_t end_of(const struct placing *p, uint32_t task)
{
	const struct weft_model *model = p->model;
	bool goes_on = model->summary.live && !(model->tasks.flags[task] & WEFT_TASK_RESOLVED);
	return goes_on ? UINT64_MAX : model->tasks.end[task];
}

static uint32_t lowest_allowed(
	const struct placing *p, uint32_t task, uint32_t above, uint64_t start)
{
	if (above == WEFT_NONE)
		return 0;
	bool continues = p->model->tasks.becomes[above] == task || end_of(p, above) <= start;
	return p->columns->row[above] + (continues ? 0 : 1);
}

/* What a task becomes is often there a moment before the task is gone. It goes on in the task's row
 * all the same, and has the row for itself from the task's end on. When that is; 0 for others. */
static uint64_t continues_at(const struct placing *p, uint32_t task)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	uint32_t above = p->columns->above[task];
	if (above == WEFT_NONE || tasks->becomes[above] != task)
		return 0;
	uint64_t at = tasks->end[above];
	return at > p->columns->start[task] && at < end_of(p, task) ? at : 0;
}

/* From when on a placed task has its row for itself. */
static uint64_t alone_from(const struct placing *p, uint32_t task)
{
	const uint32_t *row = p->columns->row;
	uint64_t continued = continues_at(p, task);
	return continued && row[p->columns->above[task]] == row[task] ? continued
																  : p->columns->start[task];
}

static int take(struct placing *p, const struct unit *unit, uint32_t *ret_row)
{
	/* What ends when it starts still has a place of its own. */
	uint64_t end = unit->end > unit->start ? unit->end : unit->start + 1;
	return weft__occupancy_take(&p->occupancy, unit->start, end, unit->from, ret_row);
}

static int place_task(struct placing *p, uint32_t task)
{
	struct weft__columns *c = p->columns;
	struct unit unit = {c->start[task], end_of(p, task), 0};
	uint64_t continued = continues_at(p, task);
	bool placed = false;
	int error = 0;
	unit.from = lowest_allowed(p, task, c->above[task], unit.start);
	if (continued && unit.start >= alone_from(p, c->above[task]))
		error = weft__occupancy_try(&p->occupancy, continued, unit.end, unit.from, &placed);
	if (error)
		return error;
	if (!placed)
		return take(p, &unit, &c->row[task]);
	c->row[task] = unit.from;
	return 0;
}

static int place_fold(struct placing *p, struct weft_fold *fold, uint32_t member)
{
	struct unit unit = {fold->start, fold->end, 0};
	unit.from = lowest_allowed(p, WEFT_NONE, p->columns->above[member], fold->start);
	return take(p, &unit, &fold->row);
}

static struct weft_fold *fold_of(const struct placing *p, uint32_t task)
{
	const struct weft__columns *c = p->columns;
	return c->form[task] == WEFT_FORM_FOLDED ? &c->folds[c->fold_of[task]] : NULL;
}

static int place(struct placing *p, uint32_t task)
{
	struct weft_fold *fold = fold_of(p, task);
	int error = 0;
	if (!fold)
		return p->columns->row[task] == WEFT_NONE ? place_task(p, task) : 0;
	if (fold->row == WEFT_NONE)
		error = place_fold(p, fold, task);
	p->columns->row[task] = fold->row;
	return error;
}

/* The row that a task had, in its group; WEFT_NONE if it had none of its own. */
static uint32_t previous_row(const struct placing *p, uint32_t task)
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

/* What was drawn keeps its row, whoever else is there. */
static int keep_row(struct placing *p, uint32_t task)
{
	struct weft__columns *c = p->columns;
	struct weft_fold *fold = fold_of(p, task);
	uint32_t row = previous_row(p, task);
	if (row == WEFT_NONE || (fold && fold->row != WEFT_NONE))
		return 0;
	uint64_t start = fold ? fold->start : c->start[task], end = fold ? fold->end : end_of(p, task);
	*(fold ? &fold->row : &c->row[task]) = row;
	return weft__occupancy_hold(&p->occupancy, start, end > start ? end : start + 1, row);
}

/* Starts, sorted: most come in order, as tasks are in the order of first mention. */
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

static void add_starts(const struct placing *p, uint32_t task, struct starts *s)
{
	uint64_t continued = continues_at(p, task);
	add_start(s, p->columns->start[task]);
	if (continued)
		s->others[s->other_count++] = continued;
}

/* The others into their places, from the end on; the distinct ones. */
static size_t merge_starts(struct starts *s)
{
	weft__sort_u64(s->others, s->scratch, s->other_count);
	size_t at = s->sorted_count + s->other_count, i = s->sorted_count, j = s->other_count;
	while (j > 0)
		s->sorted[--at] =
			i > 0 && s->sorted[i - 1] > s->others[j - 1] ? s->sorted[--i] : s->others[--j];
	return weft__unique_u64(s->sorted, s->sorted_count + s->other_count);
}

/* The distinct starts of what is at places [first, last), sorted. NULL without memory. */
static uint64_t *distinct_starts(
	const struct placing *p, uint32_t first, uint32_t last, size_t *ret_count)
{
	size_t bytes = (2 * (size_t)(last - first) + 1) * sizeof(uint64_t);
	struct starts starts = {malloc(bytes), malloc(bytes), malloc(bytes), 0, 0};
	bool complete = starts.sorted && starts.others && starts.scratch;
	if (complete && !p->columns->group_count) {
		for (uint32_t task = 0; task < p->model->tasks.count; task++)
			if (p->columns->form[task] != WEFT_FORM_HIDDEN)
				add_starts(p, task, &starts);
	} else if (complete) {
		for (uint32_t i = first; i < last; i++)
			add_starts(p, p->tree->order[i], &starts);
	}
	if (complete)
		*ret_count = merge_starts(&starts);
	else
		free(starts.sorted);
	free(starts.others);
	free(starts.scratch);
	return complete ? starts.sorted : NULL;
}

/* Places [first, last) of the walk, from row 0 on; how many rows they take. */
static int place_range(struct placing *p, uint32_t first, uint32_t last, uint32_t *ret_row_count)
{
	const uint32_t *order = p->tree->order;
	size_t start_count = 0;
	uint64_t *starts = distinct_starts(p, first, last, &start_count);
	if (!starts)
		return WEFT_ERROR_MEMORY;
	int error = weft__occupancy_init(&p->occupancy, starts, start_count);
	for (uint32_t i = first; i < last && p->previous && !error; i++)
		error = keep_row(p, order[i]);
	for (uint32_t i = first; i < last && !error; i++)
		error = place(p, order[i]);
	*ret_row_count = p->occupancy.row_count;
	weft__occupancy_finish(&p->occupancy);
	free(starts);
	return error;
}

static void shift_rows(struct placing *p, uint32_t first, uint32_t last, uint32_t by)
{
	struct weft__columns *c = p->columns;
	for (uint32_t i = first; i < last; i++) {
		uint32_t task = p->tree->order[i];
		c->row[task] += by;
		if (c->form[task] == WEFT_FORM_FOLDED)
			c->folds[c->fold_of[task]].row = c->row[task];
	}
}

static int place_group(struct placing *p, struct weft_group *group, uint32_t first, uint32_t last)
{
	uint32_t rows = 0;
	int error = 0;
	for (uint32_t i = first; i < last && group->folded; i++)
		p->columns->row[p->tree->order[i]] = group->first_row;
	if (!group->folded)
		error = place_range(p, first, last, &rows);
	if (!group->folded && !error)
		shift_rows(p, first, last, group->first_row + 1);
	group->row_count = rows + 1;
	return error;
}

static int place_groups(struct placing *p, uint32_t *ret_row_count)
{
	struct weft__columns *c = p->columns;
	uint32_t place = 0, row = 0;
	int error = 0;
	for (uint32_t i = 0; i < c->group_count && !error; i++) {
		uint32_t first = place;
		while (place < p->tree->count && c->group_of[p->tree->order[place]] == i)
			place++;
		c->groups[i].first_row = row;
		error = place_group(p, &c->groups[i], first, place);
		row += c->groups[i].row_count;
	}
	*ret_row_count = row;
	return error;
}

int weft__layout_place(const struct weft_model *model, const struct weft_layout *previous,
	const struct weft__tree *tree, struct weft__columns *columns, uint32_t *ret_row_count)
{
	struct placing p = {.model = model, .previous = previous, .tree = tree, .columns = columns};
	if (model->tasks.count)
		memset(columns->row, 0xff, model->tasks.count * sizeof(*columns->row));
	if (columns->group_count)
		return place_groups(&p, ret_row_count);
	return place_range(&p, 0, tree->count, ret_row_count);
}
