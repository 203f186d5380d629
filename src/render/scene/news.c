/* SPDX-License-Identifier: ISC
 *
 * What is new since the former scene of a growing trace. Tasks of a builder keep their index, and
 * those of a live layout their row, so a task is new, or changed, or needs no work at all.
 */
#include <stdlib.h>
#include <string.h>

#include "render/scene/scene.h"

/* Flags that an index depends on. */
#define OUTCOME (WEFT_TASK_RESOLVED | WEFT_TASK_FAILED | WEFT_TASK_NEVER_RESOLVED)

static uint32_t count_runs(const struct weft_model *model, uint32_t task)
{
	return model->tasks.end_activation[task] - model->tasks.first_activation[task];
}

uint64_t weft__news_former_end(const struct weft_scene *scene, uint32_t task, uint32_t run)
{
	uint64_t start = scene->model->activations.start[run];
	if (task >= scene->news.first_task)
		return start;
	const struct weft_model *old = scene->news.previous->model;
	uint32_t i =
		old->tasks.first_activation[task] + run - scene->model->tasks.first_activation[task];
	return i < old->tasks.end_activation[task] ? old->activations.end[i] : start;
}

/* True if the old activations are still the same. */
static bool ran_no_more(const struct weft_model *old, const struct weft_model *new, uint32_t task)
{
	uint32_t old_end = old->tasks.end_activation[task], new_end = new->tasks.end_activation[task];
	uint32_t count = count_runs(old, task);
	return count == count_runs(new, task) &&
		   (count == 0 || old->activations.end[old_end - 1] == new->activations.end[new_end - 1]);
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

static bool is_changed(const struct weft_scene *old, const struct weft_scene *new, uint32_t task)
{
	const struct weft_tasks *before = &old->model->tasks, *after = &new->model->tasks;
	return old->layout->start[task] != new->layout->start[task] ||
		   (before->flags[task] ^ after->flags[task]) & OUTCOME ||
		   !ran_no_more(old->model, new->model, task);
}

/* True if no old task got another row or another end. */
static bool are_kept(const struct weft_scene *old, const struct weft_scene *new)
{
	const struct weft_layout *before = old->layout, *after = new->layout;
	uint32_t count = old->model->tasks.count;
	if (count == 0)
		return false;
	if (memcmp(before->row, after->row, count * sizeof(*after->row)) != 0 ||
		memcmp(before->form, after->form, count * sizeof(*after->form)) != 0)
		return false;
	for (uint32_t task = 0; task < count; task++)
		if (old->model->tasks.flags[task] & WEFT_TASK_RESOLVED &&
			old->model->tasks.end[task] != new->model->tasks.end[task])
			return false;
	return true;
}

static bool is_continued(const struct weft_scene *old, const struct weft_scene *new)
{
	return old->model->summary.live && new->model->summary.live && old->start == new->start &&
		   old->census.tick_shift == new->census.tick_shift &&
		   old->model->tasks.count <= new->model->tasks.count &&
		   old->model->edges.count <= new->model->edges.count &&are_kept(old, new);
}

static int list_changed(const struct weft_scene *old, struct weft_scene *new)
{
	struct weft__news *news = &new->news;
	news->changed = malloc(old->model->tasks.count * sizeof(*news->changed));
	if (!news->changed)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < old->model->tasks.count; task++)
		if (is_changed(old, new, task))
			news->changed[news->changed_count++] = task;
	return 0;
}

/* True if the old edges are still the first ones. */
static bool has_same_edges(const struct weft_edges *old, const struct weft_edges *new)
{
	size_t count = old->count;
	return count > 0 && memcmp(old->time, new->time, count * sizeof(*new->time)) == 0 &&
		   memcmp(old->from, new->from, count * sizeof(*new->from)) == 0 &&
		   memcmp(old->to, new->to, count * sizeof(*new->to)) == 0;
}

/* Counts old edges that are dropped now; lists them, unless `to` is NULL. WEFT_NONE if an edge has
 * become something else. */
static uint32_t find_dropped(
	const struct weft_edges *old, const struct weft_edges *new, uint32_t *to)
{
	uint32_t count = 0;
	for (uint32_t first = 0, end; first < old->count; first = end) {
		end = old->count - first < WEFT__EDGE_CHUNK ? old->count : first + WEFT__EDGE_CHUNK;
		if (memcmp(old->type + first, new->type + first, end - first) == 0)
			continue;
		for (uint32_t edge = first; edge < end; edge++) {
			if (old->type[edge] == new->type[edge])
				continue;
			if (new->type[edge] != WEFT_EDGE_DROPPED)
				return WEFT_NONE;
			if (to)
				to[count] = edge;
			count++;
		}
	}
	return count;
}

static int compare_edges(const struct weft_scene *old, struct weft_scene *new)
{
	const struct weft_edges *before = &old->model->edges, *after = &new->model->edges;
	struct weft__news *news = &new->news;
	uint32_t count = has_same_edges(before, after) ? find_dropped(before, after, NULL) : WEFT_NONE;
	if (count == WEFT_NONE)
		return 0;
	news->dropped = malloc((count + (size_t)1) * sizeof(*news->dropped));
	if (!news->dropped)
		return WEFT_ERROR_MEMORY;
	news->first_edge = before->count;
	news->dropped_count = find_dropped(before, after, news->dropped);
	return 0;
}

void weft__scene_forget_news(struct weft_scene *scene)
{
	free(scene->news.changed);
	free(scene->news.dropped);
	scene->news = (struct weft__news){0};
}

int weft__scene_find_news(struct weft_scene *scene, const struct weft_scene *previous)
{
	if (!previous || !is_continued(previous, scene))
		return 0;
	scene->news.previous = previous;
	scene->news.first_task = previous->model->tasks.count;
	int error = list_changed(previous, scene);
	if (!error)
		error = compare_edges(previous, scene);
	for (uint32_t i = 0; !error && i < scene->news.changed_count; i++)
		if (!runs_continue(previous->model, scene->model, scene->news.changed[i])) {
			weft__scene_forget_news(scene);
			break;
		}
	return error;
}
