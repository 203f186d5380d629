/* SPDX-License-Identifier: ISC
 *
 * The whole trace in a few thousand columns: how many threads ran a task, how many tasks were
 * alive, what failed.
 */
#include <math.h>
#include <stdlib.h>

#include "render/scene/scene.h"

struct columns {
	struct weft__overview_column *list;
	uint64_t start;
	double ns; /* ns of one column */
};

static double column_at(const struct columns *columns, uint64_t time)
{
	double at = time > columns->start ? (double)(time - columns->start) / columns->ns : 0;
	return at < WEFT__OVERVIEW_COLUMNS ? at : WEFT__OVERVIEW_COLUMNS;
}

static unsigned column_index(const struct columns *columns, uint64_t time)
{
	unsigned index = (unsigned)column_at(columns, time);
	return index < WEFT__OVERVIEW_COLUMNS ? index : WEFT__OVERVIEW_COLUMNS - 1;
}

/* Adds [start, end) to the columns that it covers. A period across many columns costs two entries:
 * `steps` holds the changes at which whole columns begin and end. */
static void add_period(
	const struct columns *columns, double *partial, double *steps, uint64_t start, uint64_t end)
{
	double from = column_at(columns, start), to = column_at(columns, end);
	unsigned first = (unsigned)from, last = (unsigned)to;
	if (first == last) {
		partial[first] += to - from;
		return;
	}
	partial[first] += first + 1 - from;
	partial[last] += to - last;
	steps[first + 1] += 1;
	steps[last] -= 1;
}

struct sums {
	double partial[WEFT__OVERVIEW_COLUMNS + 2];
	double steps[WEFT__OVERVIEW_COLUMNS + 2];
};

static void store(struct weft__overview_column *list, const struct sums *sums, bool idle)
{
	double whole = 0;
	for (unsigned i = 0; i < WEFT__OVERVIEW_COLUMNS; i++) {
		whole += sums->steps[i];
		*(idle ? &list[i].idle : &list[i].running) = whole + sums->partial[i];
	}
}

static void add_running(
	const struct weft_scene *scene, const struct columns *columns, struct sums *sums)
{
	const struct weft_activations *a = &scene->model->activations;
	const struct weft_tasks *t = &scene->model->tasks;
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t i = t->first_activation[task]; i < t->end_activation[task]; i++)
			add_period(columns, sums->partial, sums->steps, a->start[i], a->end[i]);
	store(columns->list, sums, false);
	*sums = (struct sums){0};
}

static void add_idle(
	const struct weft_scene *scene, const struct columns *columns, struct sums *sums)
{
	for (uint32_t i = 0; i < scene->idle.count; i++)
		add_period(columns, sums->partial, sums->steps, scene->idle.list[i].start,
			scene->idle.list[i].end);
	store(columns->list, sums, true);
}

static void take_longest(
	struct weft__overview_column *column, const struct weft_scene *scene, uint32_t task)
{
	const struct weft_tasks *tasks = &scene->model->tasks;
	uint64_t start = scene->layout->start[task], end = tasks->end[task];
	if (!(tasks->flags[task] & WEFT_TASK_RESOLVED) || end <= start ||
		end - start <= column->longest_ns)
		return;
	column->longest = task;
	column->longest_ns = end - start;
}

static void count_tasks(struct weft_scene *scene, const struct columns *columns)
{
	const struct weft_tasks *tasks = &scene->model->tasks;
	uint32_t alive = 0;
	for (uint32_t task = 0; task < tasks->count; task++) {
		if (scene->layout->form[task] == WEFT_FORM_HIDDEN)
			continue;
		unsigned end = column_index(columns, tasks->end[task]);
		struct weft__overview_column *at_end = &columns->list[end];
		struct weft__overview_column *at_start =
			&columns->list[column_index(columns, scene->layout->start[task])];
		at_start->alive++;
		take_longest(at_start, scene, task);
		if (end + 1 < WEFT__OVERVIEW_COLUMNS)
			columns->list[end + 1].alive--; /* may wrap: only the prefix sum is meaningful */
		if (tasks->flags[task] & WEFT_TASK_NEVER_RESOLVED)
			at_end->never_resolved++;
		else if (tasks->flags[task] & WEFT_TASK_FAILED)
			at_end->failed++;
	}
	for (unsigned i = 0; i < WEFT__OVERVIEW_COLUMNS; i++)
		columns->list[i].alive = alive += columns->list[i].alive;
}

static void find_most_alive(struct weft_scene *scene)
{
	for (unsigned i = 0; i < WEFT__OVERVIEW_COLUMNS; i++)
		if (scene->overview[i].alive > scene->alive_max)
			scene->alive_max = scene->overview[i].alive;
}

int weft__render_scene_make_overview(struct weft_scene *scene)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	scene->overview = calloc(WEFT__OVERVIEW_COLUMNS, sizeof(*scene->overview));
	if (!scene->overview || !sums) {
		free(sums);
		return WEFT_ERROR_MEMORY;
	}
	double length = (double)(scene->end - scene->start);
	struct columns columns = {
		scene->overview, scene->start, fmax(length, 1) / WEFT__OVERVIEW_COLUMNS};
	int error = 0;
	scene->overview_length = WEFT__OVERVIEW_COLUMNS;
	if (scene->model->summary.live) {
		error = weft__render_scene_grow_overview(scene, &columns.ns);
	} else {
		add_running(scene, &columns, sums);
		count_tasks(scene, &columns);
	}
	add_idle(scene, &columns, sums);
	free(sums);
	find_most_alive(scene);
	return error ? error : weft__render_scene_make_whiskers(scene);
}
