/* SPDX-License-Identifier: ISC
 *
 * See piles.h. The tasks alive in a stretch are those that began before its end, minus those that
 * ended before its start: a difference of two indices in sorted columns. The time that ran up to t
 * is the sum of t - start over activations that began before t, minus the sum of t - end over those
 * that ended before t: two indices and two running sums. Intermediate results may wrap; the final
 * one does not.
 */
#include "render/scene/piles.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "render/scene/scene.h"

#define SUM_EVERY 16

static uint32_t pile_of(const struct weft_layout *l, uint32_t task)
{
	if (l->form[task] == WEFT_FORM_FOLDED)
		return l->fold_of[task];
	return l->form[task] == WEFT_FORM_BAND ? l->fold_count + l->group_of[task] : WEFT_NONE;
}

static uint32_t activation_count(const struct weft_tasks *tasks, uint32_t task)
{
	return tasks->end_activation[task] - tasks->first_activation[task];
}

static bool failed(const struct weft_tasks *tasks, uint32_t task)
{
	return tasks->flags[task] & WEFT_TASK_FAILED;
}

/* Counts the entries of each pile, then computes where they begin. */
static void count_all(const struct weft_model *model, const struct weft_layout *l,
	struct weft__piles *piles, struct weft__pile *ret_total)
{
	const struct weft_tasks *tasks = &model->tasks;
	struct weft__pile total = {0};
	for (uint32_t task = 0; task < tasks->count; task++) {
		uint32_t index = pile_of(l, task);
		piles->task_count += index != WEFT_NONE || l->form[task] == WEFT_FORM_WAIT;
		if (index == WEFT_NONE)
			continue;
		piles->list[index].count += l->form[task] == WEFT_FORM_BAND;
		piles->list[index].run_count += activation_count(tasks, task);
		piles->list[index].failed_count += failed(tasks, task);
	}
	for (uint32_t i = 0; i < piles->count; i++) {
		struct weft__pile *pile = &piles->list[i];
		bool is_fold = i < l->fold_count;
		pile->fold = is_fold ? i : WEFT_NONE;
		if (is_fold && l->folds[i].folded)
			pile->count = l->folds[i].count;
		pile->first = total.count;
		pile->first_run = total.run_count;
		pile->first_sum = total.first_sum;
		pile->first_failed = total.failed_count;
		total.count += pile->count;
		total.run_count += pile->run_count;
		total.first_sum += pile->run_count / SUM_EVERY + 1;
		total.failed_count += pile->failed_count;
	}
	*ret_total = total;
}

static bool allocate(struct weft__piles *piles, const struct weft__pile *total)
{
	uint64_t **const columns[] = {&piles->starts, &piles->ends, &piles->run_starts,
		&piles->run_ends, &piles->start_sums, &piles->end_sums, &piles->failed, &piles->task_starts,
		&piles->task_ends};
	const uint32_t rows[] = {total->count, total->count, total->run_count, total->run_count,
		total->first_sum, total->first_sum, total->failed_count, piles->task_count,
		piles->task_count};
	bool complete = true;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*columns[i] = malloc((rows[i] + (size_t)1) * sizeof(**columns[i]));
		complete = complete && *columns[i];
	}
	return complete;
}

/* Adds a span; one of length 0 is visible, too. */
static void add_span(
	struct weft__piles *piles, struct weft__pile *pile, uint64_t start, uint64_t end)
{
	uint32_t at = pile->first + pile->count++;
	piles->starts[at] = start;
	piles->ends[at] = end > start || start == UINT64_MAX ? end : start + 1;
}

static void fill(
	const struct weft_model *model, const struct weft_layout *l, struct weft__piles *piles)
{
	const struct weft_tasks *tasks = &model->tasks;
	uint32_t counted = 0;
	for (uint32_t i = 0; i < piles->count; i++)
		piles->list[i].count = piles->list[i].run_count = piles->list[i].failed_count = 0;
	for (uint32_t i = 0; i < l->fold_count; i++)
		for (uint32_t m = l->folds[i].first;
			 l->folds[i].folded && m < l->folds[i].first + l->folds[i].count; m++)
			add_span(piles, &piles->list[i], l->start[l->fold_members[m]], l->fold_ends[m]);
	for (uint32_t task = 0; task < tasks->count; task++) {
		uint32_t index = pile_of(l, task);
		if (index != WEFT_NONE || l->form[task] == WEFT_FORM_WAIT) {
			piles->task_starts[counted] = l->start[task];
			piles->task_ends[counted++] = tasks->end[task];
		}
		if (index == WEFT_NONE)
			continue;
		struct weft__pile *pile = &piles->list[index];
		if (l->form[task] == WEFT_FORM_BAND)
			add_span(piles, pile, l->start[task], tasks->end[task]);
		if (failed(tasks, task))
			piles->failed[pile->first_failed + pile->failed_count++] = tasks->end[task];
		for (uint32_t a = tasks->first_activation[task]; a < tasks->end_activation[task]; a++) {
			uint32_t at = pile->first_run + pile->run_count++;
			piles->run_starts[at] = model->activations.start[a];
			piles->run_ends[at] = model->activations.end[a];
		}
	}
}

static void add_sums(const uint64_t *values, uint32_t count, uint64_t *sums)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (i % SUM_EVERY == 0)
			sums[i / SUM_EVERY] = sum;
		sum += values[i];
	}
	if (count % SUM_EVERY == 0)
		sums[count / SUM_EVERY] = sum;
}

static void sort_pile(struct weft__piles *piles, struct weft__pile *pile, uint64_t *scratch)
{
	uint64_t *run_starts = piles->run_starts + pile->first_run;
	uint64_t *run_ends = piles->run_ends + pile->first_run;
	weft__sort_u64(piles->starts + pile->first, scratch, pile->count);
	weft__sort_u64(piles->ends + pile->first, scratch, pile->count);
	weft__sort_u64(run_starts, scratch, pile->run_count);
	weft__sort_u64(run_ends, scratch, pile->run_count);
	weft__sort_u64(piles->failed + pile->first_failed, scratch, pile->failed_count);
	add_sums(run_starts, pile->run_count, piles->start_sums + pile->first_sum);
	add_sums(run_ends, pile->run_count, piles->end_sums + pile->first_sum);
	if (pile->count) {
		pile->start = piles->starts[pile->first];
		pile->end = piles->ends[pile->first + pile->count - 1];
	}
}

static bool sort_all(struct weft__piles *piles)
{
	uint32_t most = piles->task_count;
	for (uint32_t i = 0; i < piles->count; i++) {
		const struct weft__pile *pile = &piles->list[i];
		most = pile->count > most ? pile->count : most;
		most = pile->run_count > most ? pile->run_count : most;
	}
	uint64_t *scratch = malloc((most + (size_t)1) * sizeof(*scratch));
	for (uint32_t i = 0; scratch && i < piles->count; i++)
		sort_pile(piles, &piles->list[i], scratch);
	if (scratch) {
		weft__sort_u64(piles->task_starts, scratch, piles->task_count);
		weft__sort_u64(piles->task_ends, scratch, piles->task_count);
	}
	free(scratch);
	return scratch != NULL;
}

static uint32_t row_of(const struct weft_layout *l, const struct weft__pile *pile, uint32_t index)
{
	return pile->fold != WEFT_NONE ? l->folds[pile->fold].row
								   : l->groups[index - l->fold_count].first_row;
}

/* Sorts piles by time, then distributes them to their rows. */
static bool deal_out(const struct weft_layout *l, struct weft__piles *piles)
{
	uint32_t count = piles->count;
	uint64_t *start = malloc((count + (size_t)1) * sizeof(*start));
	uint32_t *order = malloc((2 * (size_t)count + 1) * sizeof(*order));
	piles->row_first = calloc(l->row_count + (size_t)2, sizeof(*piles->row_first));
	piles->by_row = malloc((count + (size_t)1) * sizeof(*piles->by_row));
	bool complete = start && order && piles->row_first && piles->by_row;
	if (complete) {
		uint32_t *next = piles->row_first + 1;
		for (uint32_t i = 0; i < count; i++)
			start[i] = piles->list[i].start;
		weft__order_by_u64(start, order, order + count, count);
		for (uint32_t i = 0; i < count; i++)
			if (piles->list[i].count)
				next[row_of(l, &piles->list[i], i) + 1]++;
		for (uint32_t row = 0; row < l->row_count; row++)
			next[row + 1] += next[row];
		for (uint32_t i = 0; i < count; i++)
			if (piles->list[order[i]].count)
				piles->by_row[next[row_of(l, &piles->list[order[i]], order[i])]++] = order[i];
	}
	free(start);
	free(order);
	return complete;
}

int weft__render_scene_make_piles(struct weft_scene *scene)
{
	const struct weft_layout *l = scene->layout;
	struct weft__piles *piles = &scene->piles;
	struct weft__pile total;
	piles->count = l->fold_count + l->group_count;
	if (piles->count == 0 && !l->has_waits)
		return 0;
	piles->list = calloc(piles->count + (size_t)1, sizeof(*piles->list));
	if (!piles->list)
		return WEFT_ERROR_MEMORY;
	count_all(scene->model, l, piles, &total);
	if (!allocate(piles, &total))
		return WEFT_ERROR_MEMORY;
	fill(scene->model, l, piles);
	return sort_all(piles) && deal_out(l, piles) ? 0 : WEFT_ERROR_MEMORY;
}

void weft__render_piles_finish(struct weft__piles *piles)
{
	void *const columns[] = {piles->list, piles->row_first, piles->by_row, piles->starts,
		piles->ends, piles->run_starts, piles->run_ends, piles->start_sums, piles->end_sums,
		piles->failed, piles->task_starts, piles->task_ends};
	for (unsigned i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		free(columns[i]);
	*piles = (struct weft__piles){0};
}

/* The number of a pile's sorted values below `limit`. */
static uint32_t count_below(const uint64_t *values, uint32_t count, uint64_t limit)
{
	return weft__lower_bound_u64(values, count, limit);
}

static uint64_t sum_of_first(const uint64_t *values, const uint64_t *sums, uint32_t count)
{
	uint64_t sum = sums[count / SUM_EVERY];
	for (uint32_t i = count - count % SUM_EVERY; i < count; i++)
		sum += values[i];
	return sum;
}

/* Moves a cursor's indices in the sorted columns forward to a time. */
static void move(struct weft__pile_cursor *c, uint64_t time)
{
	const struct weft__piles *piles = c->piles;
	const struct weft__pile *pile = c->pile;
	const uint64_t *starts = piles->run_starts + pile->first_run;
	const uint64_t *ends = piles->run_ends + pile->first_run;
	/* A span's end is exclusive: a span that ends at `time` is over. */
	c->ended = weft__render_gallop_u64(piles->ends + pile->first, c->ended, pile->count, time + 1);
	c->failed = weft__render_gallop_u64(
		piles->failed + pile->first_failed, c->failed, pile->failed_count, time);
	if (pile->run_count == 0)
		return;
	c->run_begun = weft__render_gallop_u64(starts, c->run_begun, pile->run_count, time);
	c->run_ended = weft__render_gallop_u64(ends, c->run_ended, pile->run_count, time);
	uint64_t begun_sum = sum_of_first(starts, piles->start_sums + pile->first_sum, c->run_begun);
	uint64_t ended_sum = sum_of_first(ends, piles->end_sums + pile->first_sum, c->run_ended);
	c->ran = (uint64_t)(c->run_begun - c->run_ended) * time - begun_sum + ended_sum;
}

struct weft__pile_cursor weft__render_pile_seek(
	const struct weft__piles *piles, const struct weft__pile *pile, uint64_t time)
{
	struct weft__pile_cursor cursor = {.piles = piles, .pile = pile, .time = time};
	move(&cursor, time);
	return cursor;
}

struct weft__share weft__render_pile_step(struct weft__pile_cursor *c, uint64_t end)
{
	struct weft__share share = {0};
	if (end <= c->time)
		return share;
	const uint64_t *starts = c->piles->starts + c->pile->first;
	uint32_t ended = c->ended, failed_before = c->failed;
	uint64_t ran = c->ran;
	c->begun = weft__render_gallop_u64(starts, c->begun, c->pile->count, end);
	move(c, end);
	c->time = end;
	share.tasks = c->begun - ended;
	share.running_ns = c->ran - ran;
	share.failed = c->failed - failed_before;
	return share;
}

struct weft__share weft__render_pile_share(
	const struct weft__piles *piles, const struct weft__pile *pile, uint64_t start, uint64_t end)
{
	struct weft__pile_cursor cursor = weft__render_pile_seek(piles, pile, start);
	return weft__render_pile_step(&cursor, end);
}

uint32_t weft__render_piles_alive(const struct weft__piles *piles, uint64_t start, uint64_t end)
{
	return count_below(piles->task_starts, piles->task_count, end) -
		   count_below(piles->task_ends, piles->task_count, start);
}

static bool has_ended(const void *context, uint32_t index, uint64_t time)
{
	const struct weft__piles *piles = context;
	return piles->list[piles->by_row[index]].end <= time;
}

uint32_t weft__render_piles_from(const struct weft__piles *piles, uint32_t row, uint64_t time)
{
	return weft__search(piles, piles->row_first[row], piles->row_first[row + 1], has_ended, time);
}

void weft__render_fold_members(const struct weft_scene *scene, uint32_t fold, uint64_t start,
	uint64_t end, uint32_t *ret_first, uint32_t *ret_last)
{
	const struct weft__pile *pile = &scene->piles.list[fold];
	const uint64_t *starts = scene->piles.starts + pile->first;
	uint64_t longest = scene->layout->folds[fold].max_ns;
	*ret_first = count_below(starts, pile->count, start > longest ? start - longest : 0);
	*ret_last = count_below(starts, pile->count, end);
}
