/* SPDX-License-Identifier: ISC
 *
 * Which bands are drawn over all rows: every GC, and idleness where no thread runs anything. With
 * one thread that is each of its idle bands; with several it is where all of theirs overlap.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "render/scene.h"

static uint32_t keep_all(struct weft_scene *scene)
{
	const struct weft_model *model = scene->model;
	for (uint32_t i = 0; i < model->band_count; i++)
		scene->bands[i] = model->bands[i];
	return model->band_count;
}

/* Each idle band's start and end as a number that sorts: time and what it does to the count. Ends
 * come first, as a band is over at its end. */
static size_t list_changes(const struct weft_model *model, uint64_t start, uint64_t *changes)
{
	size_t count = 0;
	for (uint32_t i = 0; i < model->band_count; i++) {
		const struct weft_band_period *band = &model->bands[i];
		if (band->kind != WEFT_BAND_IDLE || band->end <= band->start)
			continue;
		changes[count++] = (band->start - start) << 1 | 1;
		changes[count++] = (band->end - start) << 1;
	}
	return count;
}

static uint32_t keep_common(struct weft_scene *scene, const uint64_t *changes, size_t count)
{
	uint32_t kept = 0, idle = 0, threads = scene->model->thread_count;
	for (size_t i = 0; i < count; i++) {
		uint64_t time = (changes[i] >> 1) + scene->start;
		if (!(changes[i] & 1)) {
			if (idle-- == threads && scene->bands[kept].start < time)
				scene->bands[kept++].end = time;
		} else if (++idle == threads) {
			scene->bands[kept] = (struct weft_band_period){
				.start = time, .reason = WEFT_NONE, .kind = WEFT_BAND_IDLE};
		}
	}
	for (uint32_t i = 0; i < scene->model->band_count; i++)
		if (scene->model->bands[i].kind != WEFT_BAND_IDLE)
			scene->bands[kept++] = scene->model->bands[i];
	return kept;
}

static int compare_starts(const void *a, const void *b)
{
	const struct weft_band_period *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

int weft__scene_make_bands(struct weft_scene *scene)
{
	const struct weft_model *model = scene->model;
	scene->bands = malloc((model->band_count + (size_t)1) * sizeof(*scene->bands));
	if (!scene->bands)
		return WEFT_ERROR_MEMORY;
	if (model->thread_count <= 1) {
		scene->band_count = keep_all(scene);
		return 0;
	}
	size_t room = 2 * (size_t)model->band_count + 1;
	uint64_t *changes = malloc(2 * room * sizeof(*changes));
	if (!changes)
		return WEFT_ERROR_MEMORY;
	size_t count = list_changes(model, scene->start, changes);
	weft__sort_u64(changes, changes + room, count);
	scene->band_count = keep_common(scene, changes, count);
	qsort(scene->bands, scene->band_count, sizeof(*scene->bands), compare_starts);
	free(changes);
	return 0;
}
