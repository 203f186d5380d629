/* SPDX-License-Identifier: ISC
 *
 * The total length of activations: a running sum for every few of them, so that a pixel column with
 * a million costs as little as one with ten.
 */
#include <stdlib.h>

#include "render/scene/scene.h"

#define CHUNK 16

static uint64_t sum_of(const struct weft_activations *a, uint32_t first, uint32_t last)
{
	uint64_t sum = 0;
	for (uint32_t i = first; i < last; i++)
		sum += a->end[i] - a->start[i];
	return sum;
}

int weft__scene_make_runs(struct weft_scene *scene)
{
	const struct weft_activations *a = &scene->model->activations;
	uint32_t chunks = a->count / CHUNK;
	uint64_t sum = 0;
	scene->ran_before = malloc((chunks + (size_t)1) * sizeof(*scene->ran_before));
	if (!scene->ran_before)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < chunks; i++) {
		scene->ran_before[i] = sum;
		sum += sum_of(a, i * CHUNK, (i + 1) * CHUNK);
	}
	scene->ran_before[chunks] = sum;
	return 0;
}

/* The total length of all activations before the i-th. */
static uint64_t ran_before(const struct weft_scene *scene, uint32_t i)
{
	return scene->ran_before[i / CHUNK] + sum_of(&scene->model->activations, i / CHUNK * CHUNK, i);
}

uint64_t weft__scene_ran(const struct weft_scene *scene, uint32_t first, uint32_t last)
{
	if (last - first < 2 * CHUNK)
		return sum_of(&scene->model->activations, first, last);
	return ran_before(scene, last) - ran_before(scene, first);
}
