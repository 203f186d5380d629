/* SPDX-License-Identifier: ISC
 *
 * Tasks by row and time, with running sums: what a stretch of a row holds is then the difference of
 * two places, however many tasks lie between them.
 */
#include "render/scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/sort.h"

uint64_t weft__scene_start(const struct weft_scene *scene, uint32_t place)
{
	return scene->layout->start[scene->by_row[place]];
}

uint64_t weft__scene_end(const struct weft_scene *scene, uint32_t place)
{
	return scene->model->tasks.end[scene->by_row[place]];
}

/* Steps double from `first` on, then halve: most answers are near. */
static uint32_t first_where(const struct weft_scene *scene, uint32_t first, uint32_t last,
	uint64_t (*value)(const struct weft_scene *, uint32_t), uint64_t limit)
{
	uint32_t low = first, step = 1;
	while (low < last && value(scene, low) < limit) {
		first = low + 1;
		low = last - low > step ? low + step : last;
		step *= 2;
	}
	while (first < low) {
		uint32_t middle = first + (low - first) / 2;
		if (value(scene, middle) < limit)
			first = middle + 1;
		else
			low = middle;
	}
	return first;
}

uint32_t weft__scene_first_from(
	const struct weft_scene *scene, uint32_t first, uint32_t last, uint64_t time)
{
	return first_where(scene, first, last, weft__scene_start, time);
}

uint32_t weft__scene_first_alive(
	const struct weft_scene *scene, uint32_t first, uint32_t last, uint64_t time)
{
	if (time == UINT64_MAX)
		return last;
	return first_where(scene, first, last, weft__scene_end, time + 1);
}

/* Tasks in the order of time, then dealt out to their rows. */
static int sort_into_rows(struct weft_scene *scene)
{
	const struct weft_layout *layout = scene->layout;
	uint32_t count = scene->model->tasks.count, rows = layout->row_count;
	uint32_t *order = malloc((count + (size_t)1) * sizeof(*order));
	uint32_t *scratch = malloc((count + (size_t)1) * sizeof(*scratch));
	scene->row_first = calloc(rows + (size_t)2, sizeof(*scene->row_first));
	scene->by_row = malloc((count + (size_t)1) * sizeof(*scene->by_row));
	bool complete = order && scratch && scene->row_first && scene->by_row;
	if (complete) {
		uint32_t *next = scene->row_first + 1; /* row_first itself once all are dealt */
		weft__order_by_u64(layout->start, order, scratch, count);
		for (uint32_t task = 0; task < count; task++)
			if (layout->form[task] == WEFT_FORM_LINE)
				next[layout->row[task] + 1]++;
		for (uint32_t row = 0; row < rows; row++)
			next[row + 1] += next[row];
		for (uint32_t i = 0; i < count; i++)
			if (layout->form[order[i]] == WEFT_FORM_LINE)
				scene->by_row[next[layout->row[order[i]]]++] = order[i];
		scene->place_count = scene->row_first[rows];
	}
	free(order);
	free(scratch);
	return complete ? 0 : WEFT_ERROR_MEMORY;
}

static int sum_up(struct weft_scene *scene)
{
	const struct weft_tasks *tasks = &scene->model->tasks;
	size_t places = tasks->count + (size_t)1;
	scene->running_before = malloc(places * sizeof(*scene->running_before));
	scene->failed_before = malloc(places * sizeof(*scene->failed_before));
	if (!scene->running_before || !scene->failed_before)
		return WEFT_ERROR_MEMORY;
	uint64_t running = 0;
	uint32_t failed = 0;
	for (uint32_t place = 0; place < scene->place_count; place++) {
		uint32_t task = scene->by_row[place];
		scene->running_before[place] = running;
		scene->failed_before[place] = failed;
		running += weft_model_running_ns(scene->layout->model, task);
		failed += (tasks->flags[task] & WEFT_TASK_FAILED) != 0;
	}
	scene->running_before[scene->place_count] = running;
	scene->failed_before[scene->place_count] = failed;
	return 0;
}

/* Whoever hides a task does not want to hear of it. */
static bool is_problem(const struct weft_scene *scene, uint32_t task)
{
	return (scene->model->tasks.flags[task] & WEFT_TASK_FAILED) &&
		   scene->layout->form[task] != WEFT_FORM_HIDDEN;
}

static int list_problems(struct weft_scene *scene)
{
	const struct weft_tasks *tasks = &scene->model->tasks;
	uint32_t count = 0, used = 0;
	for (uint32_t task = 0; task < tasks->count; task++)
		count += is_problem(scene, task);
	size_t bytes = (count + (size_t)1) * sizeof(uint32_t);
	uint64_t *ends = malloc(2 * bytes);
	uint32_t *failed = malloc(bytes), *order = malloc(bytes), *scratch = malloc(bytes);
	scene->problems = malloc(bytes);
	bool complete = ends && failed && order && scratch && scene->problems;
	for (uint32_t task = 0; complete && task < tasks->count; task++)
		if (is_problem(scene, task)) {
			ends[used] = tasks->end[task];
			failed[used++] = task;
		}
	if (complete)
		weft__order_by_u64(ends, order, scratch, used);
	for (uint32_t i = 0; complete && i < used; i++)
		scene->problems[i] = failed[order[i]];
	scene->problem_count = used;
	free(ends);
	free(failed);
	free(order);
	free(scratch);
	return complete ? 0 : WEFT_ERROR_MEMORY;
}

uint32_t weft__scene_problem_from(const struct weft_scene *scene, uint64_t time)
{
	uint32_t low = 0, high = scene->problem_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (scene->model->tasks.end[scene->problems[middle]] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void find_end(struct weft_scene *scene)
{
	const struct weft_tasks *tasks = &scene->model->tasks;
	scene->start = scene->model->summary.start;
	scene->end = scene->model->summary.end;
	for (uint32_t task = 0; task < tasks->count; task++)
		if (tasks->end[task] > scene->end)
			scene->end = tasks->end[task];
}

WEFT__EXPORT int weft_scene_create(
	const struct weft_model *model, const struct weft_layout *layout, struct weft_scene **ret_scene)
{
	struct weft_scene *scene = calloc(1, sizeof(*scene));
	if (!scene)
		return WEFT_ERROR_MEMORY;
	scene->model = model;
	scene->layout = layout;
	find_end(scene);
	int error = sort_into_rows(scene);
	if (!error)
		error = sum_up(scene);
	if (!error)
		error = list_problems(scene);
	if (!error)
		error = weft__scene_make_bands(scene);
	if (!error)
		error = weft__scene_make_overview(scene);
	if (!error)
		error = weft__scene_make_scales(scene);
	if (error)
		weft_scene_destroy(scene);
	else
		*ret_scene = scene;
	return error;
}

WEFT__EXPORT void weft_scene_destroy(struct weft_scene *scene)
{
	if (!scene)
		return;
	free(scene->row_first);
	free(scene->by_row);
	free(scene->running_before);
	free(scene->failed_before);
	free(scene->overview);
	free(scene->bands);
	free(scene->scales);
	free(scene->problems);
	free(scene);
}
