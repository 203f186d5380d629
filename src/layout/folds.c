/* SPDX-License-Identifier: ISC
 *
 * Folds: consecutive alike siblings become one row. Only tasks that a user would not miss are
 * folded: a task that failed, did not end, lasted much longer than the others, or has many
 * descendants is left out; and so are a few tasks that run in parallel, like workers.
 *
 * A parent's children are sorted by what makes them alike, then by time, so that alike ones are
 * adjacent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "layout/layout.h"

#define LEAST_MEMBERS 5
#define MOST_BELOW    8  /* descendants of a member */
#define OUTLIER       8  /* medians */
#define WORKERS       32 /* up to this many tasks may be parallel workers */
#define SIDE_BY_SIDE  4  /* they are if more than 1 in SIDE_BY_SIDE overlaps those before */

struct candidates {
	uint64_t *start, *end, *key, *parent, *sorted;
	uint32_t *task, *order, *scratch;
	uint32_t count;
	size_t capacity;
};

struct folding {
	const struct weft_model *model;
	const struct weft__tree *tree;
	struct weft__columns *columns;
	struct candidates list;
	uint32_t *class;      /* class of each label */
	bool *is_exceptional; /* by task */
	bool fold;
};

static int add_candidate(struct candidates *list)
{
	const struct weft__column columns[] = {
		{&list->start, sizeof(*list->start)},
		{&list->end, sizeof(*list->end)},
		{&list->key, sizeof(*list->key)},
		{&list->parent, sizeof(*list->parent)},
		{&list->sorted, sizeof(*list->sorted)},
		{&list->task, sizeof(*list->task)},
		{&list->order, sizeof(*list->order)},
		{&list->scratch, sizeof(*list->scratch)},
	};
	int error = weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &list->capacity, list->count + (size_t)1);
	list->count += !error;
	return error;
}

static void free_candidates(struct candidates *list)
{
	free(list->start);
	free(list->end);
	free(list->key);
	free(list->parent);
	free(list->sorted);
	free(list->task);
	free(list->order);
	free(list->scratch);
}

/* A key that is equal for alike tasks. */
static uint64_t alike_key(const struct folding *f, uint32_t task)
{
	const struct weft_tasks *tasks = &f->model->tasks;
	uint64_t label = tasks->label[task] == WEFT_NONE ? WEFT_NONE : f->class[tasks->label[task]];
	_Static_assert(WEFT_OUTCOMES <= 16, "4 bits");
	return label << 20 | (uint64_t)tasks->kind[task] << 4 | tasks->outcome[task];
}

static bool ended_well(const struct weft_tasks *tasks, uint32_t task)
{
	return (tasks->flags[task] & (WEFT_TASK_RESOLVED | WEFT_TASK_FAILED)) == WEFT_TASK_RESOLVED;
}

/* True if the task at an index of the walk may be a member; then *ret_end is when it and all its
 * descendants have ended. */
static bool may_fold(const struct folding *f, uint32_t index, uint64_t *ret_end)
{
	const struct weft_tasks *tasks = &f->model->tasks;
	uint32_t task = f->tree->order[index], size = f->tree->size[task];
	uint32_t above = f->columns->above[task];
	uint64_t end = 0;
	if (size > 1 + MOST_BELOW || f->columns->form[task] != WEFT_FORM_LINE)
		return false;
	if (above != WEFT_NONE && tasks->becomes[above] == task)
		return false; /* it continues in that task's row */
	for (uint32_t i = index; i < index + size; i++) {
		uint32_t below = f->tree->order[i];
		if (!ended_well(tasks, below))
			return false;
		end = tasks->end[below] > end ? tasks->end[below] : end;
	}
	*ret_end = end;
	return true;
}

static int collect_one(struct folding *f, uint32_t task, uint64_t end)
{
	struct candidates *list = &f->list;
	int error = add_candidate(list);
	if (error)
		return error;
	uint32_t i = list->count - 1;
	list->start[i] = f->columns->start[task];
	list->end[i] = end;
	list->key[i] = task;
	list->parent[i] = f->columns->parent[task]; /* roots of a group may have several */
	list->task[i] = task;
	return 0;
}

/* Collects the children with indices of the walk in [begin, end). */
static int collect(struct folding *f, uint32_t begin, uint32_t end)
{
	int error = 0;
	f->list.count = 0;
	for (uint32_t index = begin; index < end && !error;) {
		uint32_t task = f->tree->order[index];
		uint64_t span_end;
		if (may_fold(f, index, &span_end))
			error = collect_one(f, task, span_end);
		index += f->tree->size[task];
	}
	return error;
}

/* Reorders `column` by `order`. */
static void reorder_u64(uint64_t *column, uint64_t *scratch, const uint32_t *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		scratch[i] = column[order[i]];
	memcpy(column, scratch, count * sizeof(*column));
}

static void sort_by(struct candidates *list, const uint64_t *keys)
{
	uint32_t count = list->count;
	weft__order_by_u64(keys, list->order, list->scratch, count);
	reorder_u64(list->start, list->sorted, list->order, count);
	reorder_u64(list->end, list->sorted, list->order, count);
	reorder_u64(list->key, list->sorted, list->order, count);
	reorder_u64(list->parent, list->sorted, list->order, count);
	for (uint32_t i = 0; i < count; i++)
		list->scratch[i] = list->task[list->order[i]];
	memcpy(list->task, list->scratch, count * sizeof(*list->task));
}

static int add_fold(struct weft__columns *c)
{
	const struct weft__column column = {&c->folds, sizeof(*c->folds)};
	int error = weft__columns_reserve(&column, 1, &c->fold_capacity, c->fold_count + (size_t)1);
	if (!error)
		c->folds[c->fold_count++] =
			(struct weft_fold){.first = c->member_count, .row = WEFT_NONE, .start = UINT64_MAX};
	return error;
}

static int add_member(struct weft__columns *c, uint32_t task, uint64_t end)
{
	const struct weft__column columns[] = {
		{&c->members, sizeof(*c->members)},
		{&c->member_ends, sizeof(*c->member_ends)},
	};
	int error = weft__columns_reserve(columns, 2, &c->member_capacity, c->member_count + (size_t)1);
	if (error)
		return error;
	c->members[c->member_count] = task;
	c->member_ends[c->member_count++] = end;
	c->folds[c->fold_count - 1].count++;
	c->fold_of[task] = c->fold_count - 1;
	return 0;
}

/* The lengths of candidates [first, last), sorted into `sorted`. */
static void sort_lengths(struct candidates *list, uint32_t first, uint32_t last)
{
	/* Their keys are no longer needed: used as scratch. */
	for (uint32_t i = first; i < last; i++)
		list->sorted[i] = list->end[i] - list->start[i];
	weft__sort_u64(list->sorted + first, list->key + first, last - first);
}

static uint64_t median(const uint64_t *sorted, uint32_t count)
{
	return sorted[(count - 1) / 2];
}

/* True for a few tasks that mostly overlap: the user wants to see what they do in parallel. */
static bool are_workers(
	const struct candidates *list, uint32_t first, uint32_t last, uint64_t longest)
{
	uint32_t count = 0, overlapping = 0;
	uint64_t end = 0;
	for (uint32_t i = first; i < last; i++) {
		if (list->end[i] - list->start[i] > longest)
			continue;
		count++;
		overlapping += list->start[i] < end;
		end = list->end[i] > end ? list->end[i] : end;
	}
	return count < LEAST_MEMBERS || (count <= WORKERS && overlapping * SIDE_BY_SIDE > count);
}

/* Folds candidates [first, last), which are alike. */
static int fold_alike(struct folding *f, uint32_t first, uint32_t last)
{
	struct candidates *list = &f->list;
	if (last - first < LEAST_MEMBERS)
		return 0;
	sort_lengths(list, first, last);
	uint64_t half = median(list->sorted + first, last - first), longest = UINT64_MAX;
	if (half < UINT64_MAX / OUTLIER)
		longest = OUTLIER * (half ? half : 1);
	if (are_workers(list, first, last, longest))
		return 0;
	int error = add_fold(f->columns);
	for (uint32_t i = first; i < last && !error; i++)
		if (list->end[i] - list->start[i] <= longest)
			error = add_member(f->columns, list->task[i], list->end[i]);
	return error;
}

/* Makes alike candidates adjacent, ordered by time, then by task. */
static void sort_candidates(const struct folding *f, struct candidates *list)
{
	sort_by(list, list->key); /* at this time the task */
	sort_by(list, list->start);
	for (uint32_t i = 0; i < list->count; i++)
		list->key[i] = alike_key(f, list->task[i]);
	sort_by(list, list->parent);
	sort_by(list, list->key);
}

/* Folds alike children with indices of the walk in [begin, end). */
static int fold_siblings(struct folding *f, uint32_t begin, uint32_t end)
{
	struct candidates *list = &f->list;
	if (end - begin < LEAST_MEMBERS)
		return 0;
	int error = collect(f, begin, end);
	if (error || list->count < LEAST_MEMBERS)
		return error;
	sort_candidates(f, list);
	for (uint32_t first = 0, last = 0; first < list->count && !error; first = last) {
		uint64_t key = list->key[first], parent = list->parent[first];
		while (last < list->count && list->key[last] == key && list->parent[last] == parent)
			last++;
		error = fold_alike(f, first, last);
	}
	return error;
}

static uint64_t running_ns(const struct weft_model *model, uint32_t task)
{
	return model->tasks.first_activation ? weft_model_running_ns(model, task) : 0;
}

/* Computes the figures of the members' lives, without descendants. `lives` and `scratch` have an
 * element for each member. */
static void measure_lives(
	const struct folding *f, struct weft_fold *fold, uint64_t *lives, uint64_t *scratch)
{
	const struct weft__columns *c = f->columns;
	for (uint32_t i = 0; i < fold->count; i++) {
		uint32_t task = c->members[fold->first + i];
		uint64_t start = c->start[task], end = f->model->tasks.end[task];
		lives[i] = end > start ? end - start : 0;
	}
	weft__sort_u64(lives, scratch, fold->count);
	fold->life_p50_ns = median(lives, fold->count);
	fold->life_max_ns = lives[fold->count - 1];
}

/* Computes the figures of a fold's spans. `lengths` and `scratch` have an element for each member.
 */
static void measure_fold(
	const struct folding *f, struct weft_fold *fold, uint64_t *lengths, uint64_t *scratch)
{
	const struct weft__columns *c = f->columns;
	for (uint32_t i = 0; i < fold->count; i++) {
		uint32_t task = c->members[fold->first + i];
		uint64_t start = c->start[task], end = c->member_ends[fold->first + i];
		lengths[i] = end > start ? end - start : 0;
		fold->start = start < fold->start ? start : fold->start;
		fold->end = end > fold->end ? end : fold->end;
		if (!fold->folded)
			fold->below += f->tree->size[task] - 1;
		fold->running_ns += running_ns(f->model, task);
	}
	weft__sort_u64(lengths, scratch, fold->count);
	fold->p50_ns = median(lengths, fold->count);
	fold->max_ns = lengths[fold->count - 1];
}

static int measure(const struct folding *f)
{
	const struct weft__columns *c = f->columns;
	uint32_t most = 1;
	for (uint32_t i = 0; i < c->fold_count; i++)
		most = c->folds[i].count > most ? c->folds[i].count : most;
	uint64_t *lengths = malloc(2 * (size_t)most * sizeof(*lengths));
	if (!lengths)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < c->fold_count; i++) {
		measure_fold(f, &c->folds[i], lengths, lengths + most);
		measure_lives(f, &c->folds[i], lengths, lengths + most);
	}
	free(lengths);
	return 0;
}

static void decide(const struct folding *f, struct weft_fold *fold)
{
	bool exceptional = false;
	for (uint32_t i = 0; i < fold->count; i++)
		exceptional = exceptional || f->is_exceptional[f->columns->members[fold->first + i]];
	fold->folded = f->fold != exceptional;
}

/* Makes the folds among one parent's children, and marks their members. The walk then skips
 * descendants of folded members. */
static int fold_and_decide(struct folding *f, uint32_t begin, uint32_t end)
{
	struct weft__columns *c = f->columns;
	uint32_t first = c->fold_count;
	int error = fold_siblings(f, begin, end);
	for (uint32_t i = first; i < c->fold_count && !error; i++) {
		struct weft_fold *fold = &c->folds[i];
		decide(f, fold);
		for (uint32_t m = fold->first; fold->folded && m < fold->first + fold->count; m++)
			c->form[c->members[m]] = WEFT_FORM_FOLDED;
	}
	return error;
}

/* The end of the roots that count as siblings of the one at `index`: those of its group and buffer.
 */
static uint32_t end_of_roots(const struct folding *f, uint32_t index)
{
	const struct weft_tasks *tasks = &f->model->tasks;
	const uint32_t *group = f->columns->group_of;
	uint32_t first = f->tree->order[index];
	while (index < f->tree->count) {
		uint32_t root = f->tree->order[index];
		if ((group && group[root] != group[first]) ||
			(tasks->buffer && tasks->buffer[root] != tasks->buffer[first]))
			break;
		index += f->tree->size[root];
	}
	return index;
}

static int find_folds(struct folding *f)
{
	const struct weft__tree *tree = f->tree;
	int error = 0;
	for (uint32_t index = 0, end; index < tree->count && !error; index = end) {
		end = end_of_roots(f, index);
		error = fold_and_decide(f, index, end);
	}
	for (uint32_t index = 0; index < tree->count && !error;) {
		uint32_t task = tree->order[index], size = tree->size[task];
		bool is_folded = f->columns->form[task] == WEFT_FORM_FOLDED;
		if (!is_folded)
			error = fold_and_decide(f, index + 1, index + size);
		index += is_folded ? size : 1;
	}
	return error;
}

/* Keeps the previous folds, without adding any. */
static int keep_folds(struct folding *f, const struct weft_layout *previous)
{
	struct weft__columns *c = f->columns;
	int error = 0;
	for (uint32_t i = 0; i < previous->fold_count && !error; i++) {
		const struct weft_fold *old = &previous->folds[i];
		error = add_fold(c);
		for (uint32_t m = old->first; m < old->first + old->count && !error; m++)
			if (c->form[previous->fold_members[m]] == WEFT_FORM_LINE)
				error = add_member(c, previous->fold_members[m], 0);
		if (error)
			break;
		struct weft_fold *fold = &c->folds[c->fold_count - 1];
		c->fold_count -= fold->count == 0;
		fold->folded = old->folded;
		for (uint32_t m = fold->first; fold->folded && m < c->member_count; m++)
			c->form[c->members[m]] = WEFT_FORM_FOLDED;
	}
	return error;
}

/* Finds when each member and all its descendants have ended. */
static int find_ends(const struct folding *f)
{
	const struct weft__columns *c = f->columns;
	const struct weft__tree *tree = f->tree;
	uint64_t *end_of = malloc((f->model->tasks.count + (size_t)1) * sizeof(*end_of));
	if (!end_of)
		return WEFT_ERROR_MEMORY;
	memcpy(end_of, f->model->tasks.end, f->model->tasks.count * sizeof(*end_of));
	for (uint32_t i = tree->count; i-- > 0;) {
		uint32_t task = tree->order[i], above = c->above[task];
		bool counts = above != WEFT_NONE && (c->form[above] == c->form[task]);
		if (counts && end_of[task] > end_of[above])
			end_of[above] = end_of[task];
	}
	for (uint32_t m = 0; m < c->member_count; m++)
		c->member_ends[m] = end_of[c->members[m]];
	free(end_of);
	return 0;
}

/* Assigns descendants of folded members to the fold; but not new ones, since they may go on after
 * the fold, when another task has its row. */
static void spread(const struct folding *f, const struct weft_layout *previous)
{
	struct weft__columns *c = f->columns;
	for (uint32_t i = 0; i < f->tree->count; i++) {
		uint32_t task = f->tree->order[i], above = c->above[task];
		if (above == WEFT_NONE || c->form[above] != WEFT_FORM_FOLDED)
			continue;
		if (previous &&
			(task >= previous->model->tasks.count || previous->form[task] != WEFT_FORM_FOLDED))
			continue;
		c->form[task] = WEFT_FORM_FOLDED;
		c->fold_of[task] = c->fold_of[above];
		c->folds[c->fold_of[task]].below++;
		c->folds[c->fold_of[task]].running_ns += running_ns(f->model, task);
	}
}

static int prepare(struct folding *f, const struct weft_layout_options *options)
{
	uint32_t count = f->model->tasks.count;
	f->columns->fold_of = malloc((count + (size_t)1) * sizeof(*f->columns->fold_of));
	f->is_exceptional = calloc(count + (size_t)1, sizeof(*f->is_exceptional));
	if (!f->columns->fold_of || !f->is_exceptional)
		return WEFT_ERROR_MEMORY;
	memset(f->columns->fold_of, 0xff, count * sizeof(*f->columns->fold_of));
	for (uint32_t i = 0; i < options->fold_exception_count; i++)
		if (options->fold_exceptions[i] < count)
			f->is_exceptional[options->fold_exceptions[i]] = true;
	return options->previous ? 0 : weft__layout_labels_classify(f->model, &f->class);
}

int weft__layout_fold(const struct weft_model *model, const struct weft_layout_options *options,
	const struct weft__tree *tree, struct weft__columns *columns)
{
	struct folding f = {.model = model, .tree = tree, .columns = columns, .fold = options->fold};
	int error = prepare(&f, options);
	if (!error)
		error = options->previous ? keep_folds(&f, options->previous) : find_folds(&f);
	if (!error)
		spread(&f, options->previous);
	if (!error && options->previous)
		error = find_ends(&f);
	if (!error)
		error = measure(&f);
	free_candidates(&f.list);
	free(f.class);
	free(f.is_exceptional);
	return error;
}
