/* SPDX-License-Identifier: ISC
 *
 * Makes all parts of a scene, and finds tasks in a row. The census counts stretches of several
 * rows.
 */
#include "render/scene/scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/both.h"
#include "base/export.h"
#include "base/search.h"
#include "base/sort.h"
#include "render/scene_maker.h"

uint64_t weft__render_scene_start(const struct weft_scene *scene, uint32_t index)
{
	return scene->layout->start[scene->by_row[index]];
}

uint64_t weft__render_scene_end(const struct weft_scene *scene, uint32_t index)
{
	return scene->model->tasks.end[scene->by_row[index]];
}

static bool starts_before(const void *scene, uint32_t index, uint64_t time)
{
	return weft__render_scene_start(scene, index) < time;
}

static bool ends_by(const void *scene, uint32_t index, uint64_t time)
{
	return weft__render_scene_end(scene, index) <= time;
}

static uint32_t gallop_u32(const uint32_t *values, uint32_t low, uint32_t count, uint32_t value)
{
	return weft__gallop(values, low, count, weft__is_less_u32, value);
}

uint32_t weft__render_gallop_u64(
	const uint64_t *values, uint32_t low, uint32_t count, uint64_t value)
{
	return weft__gallop(values, low, count, weft__is_less_u64, value);
}

uint32_t weft__render_gallop_u64_near(
	const uint64_t *values, uint32_t low, uint32_t count, uint64_t value, uint32_t guess)
{
	uint32_t high = guess > low ? guess : low, step = 1;
	if (high < count && values[high] < value)
		return weft__render_gallop_u64(values, high + 1, count, value);
	if (high > count)
		high = count;
	while (high > low) {
		uint32_t at = high - low > step ? high - step : low;
		if (values[at] < value)
			return weft__render_gallop_u64(values, at + 1, high, value);
		high = at;
		step *= 2;
	}
	return low;
}

/* Compares ticks, which are contiguous in memory, as far as they are exact enough. */
uint32_t weft__render_scene_first_from(
	const struct weft_scene *scene, uint32_t first, uint32_t last, uint64_t time)
{
	uint32_t tick = weft__render_census_tick(scene, time);
	uint32_t index = gallop_u32(scene->start_ticks, first, last, tick);
	if (scene->census.tick_shift == 0 && tick < UINT32_MAX)
		return index;
	return weft__gallop(scene, index, last, starts_before, time);
}

uint32_t weft__render_scene_first_alive(
	const struct weft_scene *scene, uint32_t first, uint32_t last, uint64_t time)
{
	if (time == UINT64_MAX)
		return last;
	return weft__gallop(scene, first, last, ends_by, time);
}

uint32_t weft__render_scene_first_failed(
	const struct weft_scene *scene, uint32_t first, uint32_t last)
{
	uint32_t low = weft__lower_bound_u32(scene->failed_lines, scene->failed_line_count, first);
	if (low == scene->failed_line_count || scene->failed_lines[low] >= last)
		return last;
	return scene->failed_lines[low];
}

bool weft__render_scene_has_gap_after(const struct weft_scene *scene, uint32_t index)
{
	return scene->gap_after[index / 64] >> index % 64 & 1;
}

/* Hidden tasks are not counted as problems. */
static bool is_new_problem(const struct weft_scene *scene, uint32_t task)
{
	return scene->model->tasks.flags[task] & WEFT_TASK_FAILED &&
		   weft__render_scene_shows(scene, task) && weft__render_news_has_end(scene, task);
}

static void count_never_resolved(struct weft_scene *scene)
{
	uint32_t never = 0;
	for (uint32_t i = 0; i < scene->problem_count; i++) {
		scene->never_before[i] = never;
		never += (scene->model->tasks.flags[scene->problems[i]] & WEFT_TASK_NEVER_RESOLVED) != 0;
	}
	scene->never_before[scene->problem_count] = never;
}

/* Tasks that failed since the former scene, in the order of their ends. */
struct failures {
	uint32_t *tasks, count;
	uint64_t *ends;
};

static void failures_finish(struct failures *failures)
{
	free(failures->tasks);
	free(failures->ends);
}

/* 0 or WEFT_ERROR_MEMORY; call finish in both cases. */
static int find_failures(const struct weft_scene *scene, struct failures *failures)
{
	uint32_t count = weft__render_news_count(scene), found = 0;
	for (uint32_t i = 0; i < count; i++)
		found += is_new_problem(scene, weft__render_news_task(scene, i));
	size_t room = found + (size_t)1;
	uint32_t *tasks = malloc(room * sizeof(*tasks)), *order = malloc(2 * room * sizeof(*order));
	uint64_t *ends = malloc(room * sizeof(*ends));
	*failures =
		(struct failures){malloc(room * sizeof(*tasks)), found, malloc(room * sizeof(*ends))};
	bool complete = tasks && order && ends && failures->tasks && failures->ends;
	for (uint32_t i = 0, at = 0; complete && i < count; i++)
		if (is_new_problem(scene, weft__render_news_task(scene, i))) {
			tasks[at] = weft__render_news_task(scene, i);
			ends[at] = scene->model->tasks.end[tasks[at]];
			at++;
		}
	if (complete)
		weft__order_by_u64(ends, order, order + room, found);
	for (uint32_t i = 0; complete && i < found; i++) {
		failures->tasks[i] = tasks[order[i]];
		failures->ends[i] = ends[order[i]];
	}
	free(tasks);
	free(order);
	free(ends);
	return complete ? 0 : WEFT_ERROR_MEMORY;
}

/* Merges the problems of the former scene with the new ones, by end, then by number. */
static void merge_problems(struct weft_scene *scene, const struct failures *new)
{
	const struct weft_scene *old = scene->news.previous;
	uint32_t i = 0, j = 0, old_count = old ? old->problem_count : 0;
	for (uint32_t at = 0; at < scene->problem_count; at++) {
		bool is_old =
			i < old_count &&
			(j == new->count || old->problem_ends[i] < new->ends[j] ||
				(old->problem_ends[i] == new->ends[j] && old->problems[i] < new->tasks[j]));
		scene->problems[at] = is_old ? old->problems[i] : new->tasks[j];
		scene->problem_ends[at] = is_old ? old->problem_ends[i++] : new->ends[j++];
	}
}

static int list_problems(struct weft_scene *scene)
{
	struct failures new;
	int error = find_failures(scene, &new);
	scene->problem_count = new.count;
	if (scene->news.previous)
		scene->problem_count += scene->news.previous->problem_count;
	size_t room = scene->problem_count + (size_t)1;
	scene->problems = malloc(room * sizeof(*scene->problems));
	scene->problem_ends = malloc(room * sizeof(*scene->problem_ends));
	scene->never_before = malloc(room * sizeof(*scene->never_before));
	if (!scene->problems || !scene->problem_ends || !scene->never_before)
		error = WEFT_ERROR_MEMORY;
	if (!error) {
		merge_problems(scene, &new);
		count_never_resolved(scene);
	}
	failures_finish(&new);
	return error;
}

uint32_t weft__render_scene_problem_from(
	const struct weft_scene *scene, uint32_t first, uint64_t time)
{
	return weft__render_gallop_u64(scene->problem_ends, first, scene->problem_count, time);
}

static void find_end(struct weft_scene *scene)
{
	const struct weft_tasks *tasks = &scene->model->tasks;
	scene->start = scene->model->summary.start;
	scene->end = scene->model->summary.end;
	for (uint32_t task = 0; task < tasks->count && !scene->model->summary.live; task++)
		if (tasks->end[task] > scene->end)
			scene->end = tasks->end[task];
	while ((scene->end - scene->start) >> scene->census.tick_shift >= UINT32_MAX)
		scene->census.tick_shift++;
}

typedef int make_part(struct weft_scene *scene);

/* The parts of a scene, in two stages. Each stage is two lists that can run in parallel and take
 * about equal time. Within a list, parts that temporarily need much memory come first, while little
 * permanent memory is in use. */
static make_part *const lists[][2][12] = {
	{{weft__render_scene_make_blocks, NULL},
		{weft__render_scene_choose_runs, weft__render_scene_order_tasks, NULL}},
	{{weft__render_scene_make_running, weft__render_scene_make_starts,
		 weft__render_scene_make_lines, weft__render_scene_make_tails,
		 weft__render_scene_make_piles, list_problems, weft__render_scene_list_tracks,
		 weft__render_scene_make_bands, weft__render_scene_make_overview, NULL},
		{weft__render_scene_make_runs, weft__render_scene_make_spells,
			weft__render_scene_make_quickest, weft__render_scene_make_edges,
			weft__render_scene_make_lasts, weft__render_scene_make_fails,
			weft__render_scene_make_open, weft__render_scene_make_scales,
			weft__render_scene_make_extremes, NULL}},
};

#define PARTS 21 /* parts in all lists */

struct making {
	struct weft_scene *scene;
	make_part *const *list;
	const struct weft_progress *progress; /* NULL: no reports */
	unsigned done;                        /* parts done before */
	int error;
};

static void make_list(void *context)
{
	struct making *m = context;
	for (make_part *const *part = m->list; *part && !m->error; part++) {
		if (m->progress && !m->progress->step(m->progress->context, (double)m->done++ / PARTS))
			m->error = WEFT_ERROR_CANCELED;
		else
			m->error = (*part)(m->scene);
	}
}

static unsigned length_of(make_part *const *list)
{
	unsigned length = 0;
	while (list[length])
		length++;
	return length;
}

/* Only the calling thread reports progress: with help, that of its own list. */
static int make_parts(struct weft_scene *scene, const struct weft_progress *progress)
{
	const struct weft_help *help = progress ? progress->help : NULL;
	progress = progress && progress->step ? progress : NULL;
	unsigned done = 0;
	int error = 0;
	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]) && !error; i++) {
		struct making first = {scene, lists[i][0], progress, done, 0};
		done += length_of(lists[i][0]);
		struct making second = {scene, lists[i][1], help ? NULL : progress, done, 0};
		done += length_of(lists[i][1]);
		if (help) {
			weft__both(help, make_list, &first, make_list, &second);
		} else {
			make_list(&first);
			if (!first.error)
				make_list(&second);
		}
		error = first.error ? first.error : second.error;
	}
	return error;
}

/* Only needed while the scene is made. */
static void free_scratch(struct weft_scene *scene)
{
	weft__render_scene_forget_news(scene);
	free(scene->order);
	free(scene->block_of_row);
	scene->order = NULL;
	scene->block_of_row = NULL;
}

/* A scene without parts. */
static int begin_scene(const struct weft_scene *previous, const struct weft_model *model,
	const struct weft_layout *layout, struct weft_scene **ret_scene)
{
	struct weft_scene *scene = calloc(1, sizeof(*scene));
	if (!scene)
		return WEFT_ERROR_MEMORY;
	scene->model = model;
	scene->layout = layout;
	find_end(scene);
	int error = weft__render_scene_find_news(scene, previous);
	if (!error) {
		*ret_scene = scene;
		return 0;
	}
	free_scratch(scene);
	weft_scene_destroy(scene);
	return error;
}

static int create(const struct weft_scene *previous, const struct weft_model *model,
	const struct weft_layout *layout, const struct weft_progress *progress,
	struct weft_scene **ret_scene)
{
	struct weft_scene *scene = NULL;
	int error = begin_scene(previous, model, layout, &scene);
	if (error)
		return error;
	error = make_parts(scene, progress);
	free_scratch(scene);
	if (error)
		weft_scene_destroy(scene);
	else
		*ret_scene = scene;
	return error;
}

/* ---- In steps ---- */

struct weft__scene_maker {
	struct weft_scene *scene;
	unsigned stage, list, part; /* the next one */
};

int weft__render_scene_maker_create(const struct weft_model *model,
	const struct weft_layout *layout, struct weft__scene_maker **ret_maker)
{
	struct weft__scene_maker *m = calloc(1, sizeof(*m));
	int error = m ? begin_scene(NULL, model, layout, &m->scene) : WEFT_ERROR_MEMORY;
	if (error)
		free(m);
	else
		*ret_maker = m;
	return error;
}

/* The next part; NULL if there is none. */
static make_part *next_part(struct weft__scene_maker *m)
{
	while (m->stage < sizeof(lists) / sizeof(lists[0])) {
		make_part *part = lists[m->stage][m->list][m->part++];
		if (part)
			return part;
		m->part = 0;
		m->stage += m->list;
		m->list = !m->list;
	}
	return NULL;
}

int weft__render_scene_maker_step(struct weft__scene_maker *m, struct weft_scene **ret_scene)
{
	make_part *part = next_part(m);
	int error = part ? part(m->scene) : 0;
	if (part)
		return error ? error : WEFT_AGAIN;
	free_scratch(m->scene);
	*ret_scene = m->scene;
	m->scene = NULL;
	return 0;
}

void weft__render_scene_maker_destroy(struct weft__scene_maker *m)
{
	if (m && m->scene) {
		free_scratch(m->scene);
		weft_scene_destroy(m->scene);
	}
	free(m);
}

WEFT__EXPORT int weft_scene_create_watched(const struct weft_model *model,
	const struct weft_layout *layout, const struct weft_progress *progress,
	struct weft_scene **ret_scene)
{
	return create(NULL, model, layout, progress, ret_scene);
}

WEFT__EXPORT int weft_scene_create_from(const struct weft_model *model,
	const struct weft_layout *layout, const struct weft_scene *previous,
	struct weft_scene **ret_scene)
{
	return create(previous, model, layout, NULL, ret_scene);
}

WEFT__EXPORT int weft_scene_create(
	const struct weft_model *model, const struct weft_layout *layout, struct weft_scene **ret_scene)
{
	return weft_scene_create_watched(model, layout, NULL, ret_scene);
}

WEFT__EXPORT void weft_scene_destroy(struct weft_scene *scene)
{
	if (!scene)
		return;
	weft__render_point_set_finish(&scene->census.starts);
	weft__render_point_set_finish(&scene->census.starts_gone);
	weft__render_point_set_finish(&scene->census.lasts);
	weft__render_point_set_finish(&scene->census.fails);
	weft__render_point_set_finish(&scene->census.runs);
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		weft__render_point_set_finish(&scene->edges.points[type]);
	weft__render_point_set_finish(&scene->edges.gone);
	if (scene->shown != scene->by_row)
		free(scene->shown);
	if (scene->shown_first != scene->row_first)
		free(scene->shown_first);
	void *columns[] = {scene->census.blocks.first, scene->census.blocks.weights,
		scene->census.open_before, scene->census.open, scene->census.newborn, scene->row_first,
		scene->by_row, scene->row_ticks, scene->running_before, scene->failed_lines,
		scene->start_ticks, scene->gap_after, scene->ran_before, scene->edges.before,
		scene->edges.times, scene->overview, scene->whiskers, scene->to_grow, scene->idle.list,
		scene->gc.list, scene->scales, scene->families, scene->extremes, scene->tracks,
		scene->problems, scene->problem_ends, scene->never_before, scene->tails};
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		free(columns[i]);
	weft__render_piles_finish(&scene->piles);
	weft__render_spells_finish(&scene->spells);
	weft__render_quickest_finish(&scene->quickest);
	free(scene);
}
