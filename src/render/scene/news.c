/* SPDX-License-Identifier: ISC
 *
 * Finds what is new since the former scene of a growing trace. The model says which tasks have
 * changed since the snapshot before it, and tasks of a live layout keep their rows: so a task is
 * new, or changed, or needs no work at all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "layout/growth.h"
#include "model/growth.h"
#include "render/scene/scene.h"

static uint32_t count_runs(const struct weft_model *model, uint32_t task)
{
	return model->tasks.end_activation[task] - model->tasks.first_activation[task];
}

uint64_t weft__render_news_former_end(const struct weft_scene *scene, uint32_t task, uint32_t run)
{
	uint64_t start = scene->model->activations.start[run];
	if (task >= scene->news.first_task)
		return start;
	const struct weft_model *old = scene->news.previous->model;
	uint32_t i =
		old->tasks.first_activation[task] + run - scene->model->tasks.first_activation[task];
	return i < old->tasks.end_activation[task] ? old->activations.end[i] : start;
}

/* True if all old activations of a task are still its first ones, though the last may have become
 * longer. It is not so if the task runs on two threads at once: activations are in the order of
 * their ends, and the ones before the last become longer, too. */
static bool runs_continue(const struct weft_model *old, const struct weft_model *new, uint32_t task)
{
	const struct weft_activations *before = &old->activations, *after = &new->activations;
	uint32_t count = count_runs(old, task);
	if (count == 0)
		return true;
	uint32_t a = old->tasks.end_activation[task] - 1;
	uint32_t b = new->tasks.first_activation[task] + count - 1;
	return b < new->tasks.end_activation[task] && before->start[a] == after->start[b] &&
		   before->end[a] <= after->end[b] &&
		   (count == 1 || (before->start[a - 1] == after->start[b - 1] &&
							  before->end[a - 1] == after->end[b - 1]));
}

/* True if a changed task is as is expected of one: an end does not change. */
static bool is_as_expected(
	const struct weft_scene *old, const struct weft_scene *new, uint32_t task)
{
	return (!weft__render_census_has_ended(old, task) ||
			   (weft__render_census_has_ended(new, task) &&
				   old->model->tasks.end[task] == new->model->tasks.end[task])) &&
		   runs_continue(old->model, new->model, task);
}

static bool are_as_expected(const struct weft_scene *scene)
{
	const struct weft__news *news = &scene->news;
	for (uint32_t i = 0; i < news->changed_count; i++)
		if (!is_as_expected(news->previous, scene, news->changed[i]))
			return false;
	return true;
}

/* True if all old tasks are still in their rows. */
static bool keeps_rows(const struct weft_layout *before, const struct weft_layout *after)
{
	size_t count = before->model->tasks.count;
	if (weft__layout_growth(after, before))
		return true;
	return before->row_count <= after->row_count &&
		   memcmp(before->row, after->row, count * sizeof(*after->row)) == 0 &&
		   memcmp(before->form, after->form, count * sizeof(*after->form)) == 0;
}

static bool is_continued(const struct weft_scene *old, const struct weft_scene *new)
{
	return old->model->tasks.count > 0 && old->start == new->start &&
		   old->census.tick_shift == new->census.tick_shift &&keeps_rows(old->layout, new->layout);
}

#define STARTS 512 /* compared at once */

/* Counts the old tasks whose starts the layout has changed; lists them, unless `to` is NULL. */
static uint32_t find_moved(const struct weft_scene *old, const struct weft_scene *new, uint32_t *to)
{
	const uint64_t *before = old->layout->start, *after = new->layout->start;
	uint32_t count = 0, tasks = old->model->tasks.count;
	for (uint32_t first = 0, end; first < tasks; first = end) {
		end = tasks - first < STARTS ? tasks : first + STARTS;
		if (memcmp(before + first, after + first, (end - first) * sizeof(*after)) == 0)
			continue;
		for (uint32_t task = first; task < end; task++)
			if (before[task] != after[task]) {
				if (to)
					to[count] = task;
				count++;
			}
	}
	return count;
}

/* Merges two ascending lists without duplicates. Returns the length. */
static uint32_t unite(
	const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count, uint32_t *to)
{
	uint32_t i = 0, j = 0, count = 0;
	while (i < a_count || j < b_count) {
		uint32_t next = j == b_count || (i < a_count && a[i] <= b[j]) ? a[i] : b[j];
		i += i < a_count && a[i] == next;
		j += j < b_count && b[j] == next;
		to[count++] = next;
	}
	return count;
}

/* Lists the tasks that the model or the layout has changed; `moved` are the latter. */
static int unite_changed(struct weft__news *news, const struct weft__growth *growth,
	const uint32_t *moved, uint32_t moved_count)
{
	size_t room = growth->changed_count + (size_t)moved_count + 1;
	news->changed = malloc(room * sizeof(*news->changed));
	if (!news->changed)
		return WEFT_ERROR_MEMORY;
	news->changed_count =
		unite(growth->changed, growth->changed_count, moved, moved_count, news->changed);
	return 0;
}

static int list_changed(
	const struct weft_scene *old, struct weft_scene *new, const struct weft__growth *growth)
{
	const struct weft__layout_growth *layout = weft__layout_growth(new->layout, old->layout);
	if (layout)
		return unite_changed(&new->news, growth, layout->changed, layout->changed_count);
	uint32_t count = find_moved(old, new, NULL);
	uint32_t *moved = malloc((count + (size_t)1) * sizeof(*moved));
	if (!moved)
		return WEFT_ERROR_MEMORY;
	find_moved(old, new, moved);
	int error = unite_changed(&new->news, growth, moved, count);
	free(moved);
	return error;
}

/* The model lists them in the order in which they were dropped. */
static int list_dropped(struct weft_scene *scene, const struct weft__growth *growth)
{
	struct weft__news *news = &scene->news;
	size_t count = growth->dropped_count;
	uint64_t *sorted = malloc((2 * count + 1) * sizeof(*sorted));
	news->dropped = malloc((count + 1) * sizeof(*news->dropped));
	if (!sorted || !news->dropped) {
		free(sorted);
		return WEFT_ERROR_MEMORY;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = growth->dropped[i];
	weft__sort_u64(sorted, sorted + count, count);
	for (size_t i = 0; i < count; i++)
		news->dropped[i] = (uint32_t)sorted[i];
	news->dropped_count = (uint32_t)count;
	free(sorted);
	return 0;
}

void weft__render_scene_forget_news(struct weft_scene *scene)
{
	free(scene->news.changed);
	free(scene->news.dropped);
	scene->news = (struct weft__news){0};
}

int weft__render_scene_find_news(struct weft_scene *scene, const struct weft_scene *previous)
{
	const struct weft__growth *growth =
		previous ? weft__model_growth(scene->model, previous->model) : NULL;
	if (!growth || !is_continued(previous, scene))
		return 0;
	scene->news = (struct weft__news){
		.previous = previous,
		.first_task = growth->tasks,
		.first_edge = growth->edges,
	};
	int error = list_changed(previous, scene, growth);
	if (!error)
		error = list_dropped(scene, growth);
	if (!error && !are_as_expected(scene))
		weft__render_scene_forget_news(scene);
	return error;
}
