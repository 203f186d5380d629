/* SPDX-License-Identifier: ISC
 *
 * The total length of a task's activations: a running sum at every few rows of the column, so that
 * a pixel column with a million costs as little as one with ten. Each task has sums of its own,
 * because the rows of a live model are not contiguous.
 */
#include <stdlib.h>
#include <string.h>

#include "render/scene/scene.h"

#define CHUNK 16

static uint64_t sum_of(const struct weft_activations *a, uint32_t first, uint32_t last)
{
	uint64_t sum = 0;
	for (uint32_t i = first; i < last; i++)
		sum += a->end[i] - a->start[i];
	return sum;
}

/* The first chunk that begins at or after a row. */
static uint32_t chunk_from(uint32_t row)
{
	return row / CHUNK + (row % CHUNK != 0);
}

/* Fills the sums at the chunks that begin within a task's rows. */
static void sum_up(struct weft_scene *scene, uint32_t first, uint32_t end)
{
	uint64_t sum = 0;
	for (uint32_t chunk = chunk_from(first), last = (end - 1) / CHUNK; chunk <= last; chunk++) {
		scene->ran_before[chunk] = sum;
		if (chunk < last)
			sum += sum_of(&scene->model->activations, chunk * CHUNK, (chunk + 1) * CHUNK);
	}
}

/* Starts with the sums of the former scene. */
int weft__render_scene_make_runs(struct weft_scene *scene)
{
	const struct weft_tasks *t = &scene->model->tasks;
	const struct weft_scene *old = scene->news.previous;
	uint32_t news = weft__render_news_count(scene), last = old ? old->ran_end : 0;
	for (uint32_t i = 0; i < news; i++) {
		uint32_t end = t->end_activation[weft__render_news_task(scene, i)];
		last = end > last ? end : last;
	}
	scene->ran_end = last;
	scene->ran_before = malloc((last / CHUNK + (size_t)1) * sizeof(*scene->ran_before));
	if (!scene->ran_before)
		return WEFT_ERROR_MEMORY;
	if (old)
		memcpy(scene->ran_before, old->ran_before,
			(old->ran_end / CHUNK + (size_t)1) * sizeof(*scene->ran_before));
	for (uint32_t i = 0; i < news; i++) {
		uint32_t task = weft__render_news_task(scene, i);
		if (t->end_activation[task] - t->first_activation[task] >= 2 * CHUNK)
			sum_up(scene, t->first_activation[task], t->end_activation[task]);
	}
	return 0;
}

uint64_t weft__render_scene_ran(const struct weft_scene *scene, uint32_t first, uint32_t last)
{
	const struct weft_activations *a = &scene->model->activations;
	if (last - first < 2 * CHUNK)
		return sum_of(a, first, last);
	uint32_t from = chunk_from(first), to = (last - 1) / CHUNK;
	return sum_of(a, first, from * CHUNK) + scene->ran_before[to] - scene->ran_before[from] +
		   sum_of(a, to * CHUNK, last);
}
