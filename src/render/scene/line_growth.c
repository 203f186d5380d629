/* SPDX-License-Identifier: ISC
 *
 * Tasks by row, made from those of the former scene: everything is copied but the ends of rows that
 * have new or changed tasks. What is copied stays in order, because old tasks keep their rows.
 *
 *     old    [ row 0   ][ row 1   ][ row 2 ][ row 3 ]
 *                   ^from ^end of row 1: these are put in order again, with the new tasks
 *     new    [ row 0   ][ row 1 | tail   ][ row 2 ][ row 3 ]
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "render/scene/lines.h"

/* Old indices [from, end), to the end of a row, are replaced by tail_count tasks. */
struct splice {
	uint32_t row, from, end;
	uint32_t first_tail, tail_count;
	uint32_t shift; /* added to an old index before `from`, gives the new one; may wrap */
};

/* How a list by row grows. */
struct plan {
	const struct weft_scene *scene;
	const uint32_t *old_first, *old; /* the former list */
	uint32_t old_rows, old_count;
	uint32_t *movers, mover_count; /* changed and new tasks, by row and time */
	struct splice *splices;        /* by row, and one at the end that replaces nothing */
	uint32_t splice_count;         /* without that */
	uint32_t *tails;
	uint32_t count; /* length of the new list */
};

static void plan_finish(struct plan *plan)
{
	free(plan->movers);
	free(plan->splices);
	free(plan->tails);
}

/* Sorts the changed and new tasks that are wanted by row, then by start, then by number. */
static int sort_movers(struct plan *plan, weft__render_wanted *wanted)
{
	const struct weft_scene *scene = plan->scene;
	const struct weft_layout *layout = scene->layout;
	uint32_t news = weft__render_news_count(scene), count = 0;
	size_t room = news + (size_t)1;
	uint64_t *keys = calloc(2 * room, sizeof(*keys));
	uint32_t *tasks = malloc(room * sizeof(*tasks)), *order = malloc(2 * room * sizeof(*order));
	plan->movers = malloc(room * sizeof(*plan->movers));
	bool complete = keys && tasks && order && plan->movers;
	for (uint32_t i = 0; complete && i < news; i++)
		if (wanted(scene, weft__render_news_task(scene, i))) {
			tasks[count] = weft__render_news_task(scene, i);
			keys[count] = layout->start[tasks[count]];
			count++;
		}
	if (complete) {
		weft__order_by_u64(keys, order, order + room, count);
		for (uint32_t i = 0; i < count; i++)
			keys[i] = (uint64_t)layout->row[tasks[order[i]]] << 32 | i;
		weft__sort_u64_by(keys, keys + room, count, 32);
		for (uint32_t i = 0; i < count; i++)
			plan->movers[i] = tasks[order[(uint32_t)keys[i]]];
		plan->mover_count = count;
	}
	free(keys);
	free(tasks);
	free(order);
	return complete ? 0 : WEFT_ERROR_MEMORY;
}

/* A task among those of a row, which are by their old start and number. */
struct searched {
	const struct plan *plan;
	uint32_t task;
};

static bool is_before(const void *searched, uint32_t index, uint64_t start)
{
	const struct searched *s = searched;
	uint32_t other = s->plan->old[index];
	uint64_t others = s->plan->scene->news.previous->layout->start[other];
	return others < start || (others == start && other < s->task);
}

/* The first old index in [from, end) whose task comes, by its old start, after a start and number.
 */
static uint32_t first_after(
	const struct plan *plan, uint32_t from, uint32_t end, uint64_t start, uint32_t task)
{
	const struct searched searched = {plan, task};
	return weft__search(&searched, from, end, is_before, start);
}

/* Where a row begins to differ because of a task. */
static uint32_t differs_from(const struct plan *plan, uint32_t task, uint32_t from, uint32_t end)
{
	const struct weft_scene *scene = plan->scene;
	uint32_t at = first_after(plan, from, end, scene->layout->start[task], task);
	if (task >= scene->news.first_task)
		return at;
	uint32_t was = first_after(plan, from, end, scene->news.previous->layout->start[task], task);
	return was < at ? was : at;
}

/* Lists the parts of rows that are replaced. */
static int find_splices(struct plan *plan)
{
	uint32_t tails = 0, shift = 0;
	plan->splices = malloc((plan->mover_count + (size_t)1) * sizeof(*plan->splices));
	if (!plan->splices)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < plan->mover_count;) {
		uint32_t row = plan->scene->layout->row[plan->movers[i]], new_tasks = 0;
		bool is_old = row < plan->old_rows;
		uint32_t first = is_old ? plan->old_first[row] : plan->old_count;
		uint32_t end = is_old ? plan->old_first[row + 1] : plan->old_count, from = end;
		for (; i < plan->mover_count && plan->scene->layout->row[plan->movers[i]] == row; i++) {
			from = differs_from(plan, plan->movers[i], first, from);
			new_tasks += plan->movers[i] >= plan->scene->news.first_task;
		}
		plan->splices[plan->splice_count++] =
			(struct splice){row, from, end, tails, end - from + new_tasks, shift};
		tails += end - from + new_tasks;
		shift += new_tasks;
	}
	plan->splices[plan->splice_count] = (struct splice){
		plan->scene->layout->row_count, plan->old_count, plan->old_count, tails, 0, shift};
	plan->count = plan->old_count + shift;
	plan->tails = malloc((tails + (size_t)1) * sizeof(*plan->tails));
	return plan->tails ? 0 : WEFT_ERROR_MEMORY;
}

static bool is_changed(const struct weft__news *news, uint32_t task)
{
	return weft__contains_u32(news->changed, news->changed_count, task);
}

static bool comes_before(const struct plan *plan, uint32_t a, uint32_t b)
{
	const uint64_t *start = plan->scene->layout->start;
	return start[a] < start[b] || (start[a] == start[b] && a < b);
}

/* Merges the unchanged old tasks of a splice with those that move to its row, from `mover` on.
 * Returns the next mover. */
static uint32_t fill_tail(struct plan *plan, const struct splice *splice, uint32_t mover)
{
	uint32_t *to = plan->tails + splice->first_tail, old = splice->from, at = 0;
	while (at < splice->tail_count) {
		while (old < splice->end && is_changed(&plan->scene->news, plan->old[old]))
			old++;
		bool has_mover = mover < plan->mover_count &&
						 plan->scene->layout->row[plan->movers[mover]] == splice->row;
		bool takes_old = old < splice->end &&
						 (!has_mover || comes_before(plan, plan->old[old], plan->movers[mover]));
		to[at++] = takes_old ? plan->old[old++] : plan->movers[mover++];
	}
	return mover;
}

/* 0 or WEFT_ERROR_MEMORY; call finish in both cases. */
static int plan_init(struct plan *plan, const struct weft_scene *scene, weft__render_wanted *wanted,
	const uint32_t *old_first, const uint32_t *old)
{
	uint32_t old_rows = scene->news.previous->layout->row_count, mover = 0;
	*plan = (struct plan){.scene = scene,
		.old_first = old_first,
		.old = old,
		.old_rows = old_rows,
		.old_count = old_first[old_rows]};
	int error = sort_movers(plan, wanted);
	if (!error)
		error = find_splices(plan);
	for (uint32_t i = 0; !error && i < plan->splice_count; i++)
		mover = fill_tail(plan, &plan->splices[i], mover);
	return error;
}

/* A part of the former list that is copied, and the tail behind it. */
struct stretch {
	uint32_t old, count; /* old indices from `old` on */
	uint32_t to;         /* the new index of the first */
	uint32_t tail, tail_count;
	const uint32_t *tasks; /* of the tail, from new index `tail` on */
};

static struct stretch stretch_of(const struct plan *plan, uint32_t i)
{
	const struct splice *splice = &plan->splices[i];
	uint32_t old = i > 0 ? plan->splices[i - 1].end : 0;
	return (struct stretch){old, splice->from - old, old + splice->shift,
		splice->from + splice->shift, splice->tail_count, plan->tails + splice->first_tail};
}

/* Makes a list by row. 0 or WEFT_ERROR_MEMORY. */
static int grow_list(const struct plan *plan, uint32_t **ret_first, uint32_t **ret_list)
{
	uint32_t rows = plan->scene->layout->row_count, row = 0;
	uint32_t *first = *ret_first = malloc((rows + (size_t)1) * sizeof(*first));
	uint32_t *list = *ret_list = malloc((plan->count + (size_t)1) * sizeof(*list));
	if (!first || !list)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i <= plan->splice_count; i++) {
		struct stretch s = stretch_of(plan, i);
		memcpy(list + s.to, plan->old + s.old, s.count * sizeof(*list));
		memcpy(list + s.tail, s.tasks, s.tail_count * sizeof(*list));
		for (; row <= plan->splices[i].row; row++)
			first[row] = (row < plan->old_rows ? plan->old_first[row] : plan->old_count) +
						 plan->splices[i].shift;
	}
	return 0;
}

static void copy_bits(
	const uint64_t *from, uint32_t at, uint64_t *to, uint32_t to_at, uint32_t count)
{
	while (count > 0) {
		uint32_t here = 64 - (at % 64 > to_at % 64 ? at % 64 : to_at % 64);
		uint32_t take = count < here ? count : here;
		uint64_t bits = from[at / 64] >> at % 64 & UINT64_MAX >> (64 - take);
		to[to_at / 64] |= bits << to_at % 64;
		at += take;
		to_at += take;
		count -= take;
	}
}

static void set_gap(struct weft_scene *scene, uint32_t index)
{
	if (index + 1 >= scene->line_count)
		return;
	uint64_t bit = UINT64_C(1) << index % 64;
	scene->gap_after[index / 64] &= ~bit;
	if (weft__render_ends_before_next(scene, index))
		scene->gap_after[index / 64] |= bit;
}

/* Copies the failures of a stretch; `next` is the first that may be in it. Returns the next. */
static uint32_t copy_failed(struct weft_scene *scene, const struct stretch *s, uint32_t next)
{
	const struct weft_scene *old = scene->news.previous;
	while (next < old->failed_line_count && old->failed_lines[next] < s->old)
		next++;
	for (; next < old->failed_line_count && old->failed_lines[next] < s->old + s->count; next++)
		scene->failed_lines[scene->failed_line_count++] = old->failed_lines[next] - s->old + s->to;
	return next;
}

/* Copies and fills the columns beside by_row. */
static void grow_columns(struct weft_scene *scene, const struct plan *plan)
{
	const struct weft_scene *old = scene->news.previous;
	uint32_t running = 0, failed = 0;
	for (uint32_t k = 0; k <= plan->splice_count; k++) {
		struct stretch s = stretch_of(plan, k);
		uint32_t more = running - old->running_before[s.old];
		memcpy(scene->start_ticks + s.to, old->start_ticks + s.old,
			s.count * sizeof(*old->start_ticks));
		for (uint32_t i = 0; i < s.count; i++)
			scene->running_before[s.to + i] = old->running_before[s.old + i] + more;
		running = old->running_before[s.old + s.count] + more;
		copy_bits(old->gap_after, s.old, scene->gap_after, s.to, s.count);
		failed = copy_failed(scene, &s, failed);
		for (uint32_t i = 0; i < s.tail_count; i++) {
			uint32_t task = s.tasks[i], index = s.tail + i;
			scene->start_ticks[index] = weft__render_census_tick(scene, scene->layout->start[task]);
			scene->running_before[index] = running;
			running += weft__render_running_units(scene, task);
			if (scene->model->tasks.flags[task] & WEFT_TASK_FAILED)
				scene->failed_lines[scene->failed_line_count++] = index;
		}
	}
	scene->running_before[scene->line_count] = running;
}

static void find_new_gaps(struct weft_scene *scene, const struct plan *plan)
{
	for (uint32_t k = 0; k < plan->splice_count; k++) {
		struct stretch s = stretch_of(plan, k);
		for (uint32_t i = s.tail > 0 ? s.tail - 1 : 0; i < s.tail + s.tail_count; i++)
			set_gap(scene, i);
	}
}

/* Copies the ticks of rows, but for those with new or changed tasks. */
static int grow_row_ticks(struct weft_scene *scene, const struct plan *plan)
{
	uint32_t rows = scene->layout->row_count;
	struct weft__row_ticks *ticks = malloc((rows + (size_t)1) * sizeof(*ticks));
	scene->row_ticks = ticks;
	if (!ticks)
		return WEFT_ERROR_MEMORY;
	memcpy(ticks, scene->news.previous->row_ticks, plan->old_rows * sizeof(*ticks));
	for (uint32_t k = 0; k < plan->splice_count; k++)
		if (plan->splices[k].row < plan->old_rows)
			ticks[plan->splices[k].row] = weft__render_row_ticks(scene, plan->splices[k].row);
	for (uint32_t row = plan->old_rows; row < rows; row++)
		ticks[row] = weft__render_row_ticks(scene, row);
	return 0;
}

static int grow_all_columns(struct weft_scene *scene, const struct plan *plan)
{
	size_t size = plan->count + (size_t)1;
	size_t failed = scene->news.previous->failed_line_count +
					(size_t)plan->splices[plan->splice_count].first_tail + 1;
	scene->line_count = plan->count;
	scene->running_before = malloc(size * sizeof(*scene->running_before));
	scene->start_ticks = malloc(size * sizeof(*scene->start_ticks));
	scene->failed_lines = malloc(failed * sizeof(*scene->failed_lines));
	scene->gap_after = calloc(plan->count / 64 + (size_t)1, sizeof(*scene->gap_after));
	if (!scene->running_before || !scene->start_ticks || !scene->failed_lines || !scene->gap_after)
		return WEFT_ERROR_MEMORY;
	grow_columns(scene, plan);
	find_new_gaps(scene, plan);
	return grow_row_ticks(scene, plan);
}

/* True if all new tasks that are shown are lines, as all old ones are. */
static bool are_all_lines(const struct weft_scene *scene)
{
	const struct weft_scene *old = scene->news.previous;
	if (old->shown != old->by_row)
		return false;
	for (uint32_t task = scene->news.first_task; task < scene->model->tasks.count; task++)
		if (weft__render_scene_shows(scene, task) && !weft__render_is_line(scene, task))
			return false;
	return true;
}

static int grow_shown(struct weft_scene *scene)
{
	const struct weft_scene *old = scene->news.previous;
	struct plan plan;
	if (are_all_lines(scene)) {
		scene->shown_first = scene->row_first;
		scene->shown = scene->by_row;
		return 0;
	}
	int error = plan_init(&plan, scene, weft__render_scene_shows, old->shown_first, old->shown);
	if (!error)
		error = grow_list(&plan, &scene->shown_first, &scene->shown);
	plan_finish(&plan);
	return error;
}

int weft__render_scene_grow_lines(struct weft_scene *scene)
{
	const struct weft_scene *old = scene->news.previous;
	struct plan plan;
	int error = plan_init(&plan, scene, weft__render_is_line, old->row_first, old->by_row);
	if (!error)
		error = grow_list(&plan, &scene->row_first, &scene->by_row);
	if (!error)
		error = grow_all_columns(scene, &plan);
	plan_finish(&plan);
	return error ? error : grow_shown(scene);
}
