/* SPDX-License-Identifier: ISC
 *
 * Tasks by row and time, with running sums: a stretch of a row is a difference of two indices,
 * however many tasks lie between them. line_growth.c makes the same from the former scene.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "render/scene/lines.h"

bool weft__render_is_line(const struct weft_scene *scene, uint32_t task)
{
	return scene->layout->form[task] == WEFT_FORM_LINE;
}

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* Sorts tasks by time: as one number with their times, which is several times as fast as through an
 * index, unless both together exceed 64 bits. */
int weft__render_scene_order_tasks(struct weft_scene *scene)
{
	const uint64_t *start = scene->layout->start;
	uint32_t count = scene->model->tasks.count;
	unsigned bits = bits_of(count);
	size_t room = count + (size_t)1;
	if (scene->news.previous)
		return 0; /* only new tasks need an order */
	uint32_t *order = scene->order = malloc(room * sizeof(*order));
	bool fits = bits_of(scene->end - scene->start) + bits <= 64;
	uint64_t *keys = malloc(room * (fits ? 2 * sizeof(*keys) : sizeof(uint32_t)));
	if (!order || !keys) {
		free(keys);
		return WEFT_ERROR_MEMORY;
	}
	if (!fits)
		weft__order_by_u64(start, order, (uint32_t *)keys, count);
	for (uint32_t task = 0; fits && task < count; task++)
		keys[task] = (start[task] - scene->start) << bits | task;
	if (fits)
		weft__sort_u64_by(keys, keys + room, count, bits);
	for (uint32_t i = 0; fits && i < count; i++)
		order[i] = (uint32_t)(keys[i] & ((UINT64_C(1) << bits) - 1));
	free(keys);
	return 0;
}

/* Distributes the tasks that are `wanted` to their rows, in the order of time. `first` is all 0 and
 * one entry longer than at the end; returns their number. */
static uint32_t deal_out(
	const struct weft_scene *scene, weft__render_wanted *wanted, uint32_t *first, uint32_t *to)
{
	const struct weft_layout *layout = scene->layout;
	uint32_t *next = first + 1; /* becomes `first` when all are distributed */
	for (uint32_t task = 0; task < scene->model->tasks.count; task++)
		if (wanted(scene, task))
			next[layout->row[task] + 1]++;
	for (uint32_t row = 0; row < layout->row_count; row++)
		next[row + 1] += next[row];
	for (uint32_t i = 0; i < scene->model->tasks.count; i++)
		if (wanted(scene, scene->order[i]))
			to[next[layout->row[scene->order[i]]]++] = scene->order[i];
	return first[layout->row_count];
}

/* Distributes tasks from the order of time to their rows. */
static int sort_into_rows(struct weft_scene *scene)
{
	const struct weft_layout *layout = scene->layout;
	uint32_t count = scene->model->tasks.count;
	scene->row_first = calloc(layout->row_count + (size_t)2, sizeof(*scene->row_first));
	scene->by_row = malloc((count + (size_t)1) * sizeof(*scene->by_row));
	if (!scene->row_first || !scene->by_row)
		return WEFT_ERROR_MEMORY;
	scene->line_count = deal_out(scene, weft__render_is_line, scene->row_first, scene->by_row);
	return 0;
}

/* The same for all shown tasks, since folded tasks have rows, too. */
static int sort_all_shown(struct weft_scene *scene)
{
	uint32_t shown = 0;
	for (uint32_t task = 0; task < scene->model->tasks.count; task++)
		shown += weft__render_scene_shows(scene, task);
	scene->shown_first = scene->row_first;
	scene->shown = scene->by_row;
	if (shown == scene->line_count)
		return 0;
	scene->shown_first = calloc(scene->layout->row_count + (size_t)2, sizeof(*scene->shown_first));
	scene->shown = malloc((shown + (size_t)1) * sizeof(*scene->shown));
	if (!scene->shown_first || !scene->shown)
		return WEFT_ERROR_MEMORY;
	deal_out(scene, weft__render_scene_shows, scene->shown_first, scene->shown);
	return 0;
}

/* The threshold at which a task's last part of a unit counts as a whole one is different for each
 * task, so that many short tasks are not all rounded the same way. */
uint32_t weft__render_running_units(const struct weft_scene *scene, uint32_t task)
{
	uint64_t share = (uint64_t)(task * UINT32_C(2654435769)) << scene->running_shift >> 32;
	uint64_t running = weft_model_running_ns(scene->model, task);
	return (uint32_t)((running + share) >> scene->running_shift);
}

/* An unended task has no gap behind it, although a live model ends it at the present. */
bool weft__render_ends_before_next(const struct weft_scene *scene, uint32_t index)
{
	return weft__render_census_has_ended(scene, scene->by_row[index]) &&
		   weft__render_scene_end(scene, index) <= weft__render_scene_start(scene, index + 1);
}

struct weft__row_ticks weft__render_row_ticks(const struct weft_scene *scene, uint32_t row)
{
	uint32_t first = scene->row_first[row], end = scene->row_first[row + 1];
	if (first == end)
		return (struct weft__row_ticks){WEFT__NO_TICK, 0};
	struct weft__row_ticks ticks = {scene->start_ticks[first], WEFT__NO_TICK};
	if (!weft__render_census_has_ended(scene, scene->by_row[end - 1]))
		return ticks;
	ticks.end = weft__render_census_tick(scene, weft__render_scene_end(scene, end - 1));
	if (ticks.end == WEFT__NO_TICK)
		ticks.end--;
	return ticks;
}

static int allocate(struct weft_scene *scene)
{
	size_t size = scene->line_count + (size_t)1;
	uint32_t failed = 0;
	for (uint32_t i = 0; i < scene->line_count; i++)
		failed += (scene->model->tasks.flags[scene->by_row[i]] & WEFT_TASK_FAILED) != 0;
	scene->running_before = malloc(size * sizeof(*scene->running_before));
	scene->start_ticks = malloc(size * sizeof(*scene->start_ticks));
	scene->failed_lines = malloc((failed + (size_t)1) * sizeof(*scene->failed_lines));
	scene->gap_after = calloc(scene->line_count / 64 + (size_t)1, sizeof(*scene->gap_after));
	scene->row_ticks = malloc((scene->layout->row_count + (size_t)1) * sizeof(*scene->row_ticks));
	return scene->running_before && scene->start_ticks && scene->failed_lines && scene->gap_after &&
				   scene->row_ticks
			   ? 0
			   : WEFT_ERROR_MEMORY;
}

static void fill(struct weft_scene *scene)
{
	uint32_t running = 0;
	for (uint32_t index = 0; index < scene->line_count; index++) {
		uint32_t task = scene->by_row[index];
		scene->start_ticks[index] = weft__render_census_tick(scene, scene->layout->start[task]);
		scene->running_before[index] = running;
		running += weft__render_running_units(scene, task);
		if (scene->model->tasks.flags[task] & WEFT_TASK_FAILED)
			scene->failed_lines[scene->failed_line_count++] = index;
	}
	scene->running_before[scene->line_count] = running;
	for (uint32_t index = 0; index + 1 < scene->line_count; index++)
		if (weft__render_ends_before_next(scene, index))
			scene->gap_after[index / 64] |= UINT64_C(1) << index % 64;
	for (uint32_t row = 0; row < scene->layout->row_count; row++)
		scene->row_ticks[row] = weft__render_row_ticks(scene, row);
}

int weft__render_scene_make_lines(struct weft_scene *scene)
{
	if (scene->news.previous)
		return weft__render_scene_grow_lines(scene);
	int error = sort_into_rows(scene);
	if (!error)
		error = sort_all_shown(scene);
	if (!error)
		error = allocate(scene);
	if (!error)
		fill(scene);
	return error;
}
