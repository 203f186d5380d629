/* SPDX-License-Identifier: ISC
 *
 * Chooses the bands that are drawn across all rows: every GC, and the times in which no thread runs
 * anything. With one thread those are its idle bands; with several, the times in which all their
 * idle bands overlap. Bands of one kind do not overlap, so the first one in view is found by binary
 * search.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "render/scene/scene.h"

/* Adds a band that doesn't begin before the others; cuts off its overlap with the last. */
static void keep(struct weft__bands *bands, struct weft_band_period band)
{
	uint64_t end = bands->count ? bands->list[bands->count - 1].end : 0;
	if (band.start < end)
		band.start = end;
	if (band.start < band.end)
		bands->list[bands->count++] = band;
}

static void keep_kind(struct weft__bands *bands, const struct weft_model *model, unsigned kind)
{
	for (uint32_t i = 0; i < model->band_count; i++)
		if (model->bands[i].kind == kind)
			keep(bands, model->bands[i]);
}

/* Lists the starts and ends of idle bands as sortable numbers: time, then the change of the count.
 * At equal times ends come first, since a band's end is exclusive. */
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

static void keep_common(struct weft_scene *scene, const uint64_t *changes, size_t count)
{
	uint32_t idle = 0, threads = scene->model->thread_count;
	struct weft_band_period band = {.reason = WEFT_NONE, .kind = WEFT_BAND_IDLE};
	for (size_t i = 0; i < count; i++) {
		uint64_t time = (changes[i] >> 1) + scene->start;
		if (!(changes[i] & 1)) {
			band.end = time;
			if (idle-- == threads)
				keep(&scene->idle, band);
		} else if (++idle == threads) {
			band.start = time;
		}
	}
}

static int make_common(struct weft_scene *scene)
{
	const struct weft_model *model = scene->model;
	size_t room = 2 * (size_t)model->band_count + 1;
	uint64_t *changes = malloc(2 * room * sizeof(*changes));
	if (!changes)
		return WEFT_ERROR_MEMORY;
	size_t count = list_changes(model, scene->start, changes);
	weft__sort_u64(changes, changes + room, count);
	keep_common(scene, changes, count);
	free(changes);
	return 0;
}

int weft__scene_make_bands(struct weft_scene *scene)
{
	const struct weft_model *model = scene->model;
	size_t room = model->band_count + (size_t)1;
	scene->idle.list = malloc(room * sizeof(*scene->idle.list));
	scene->gc.list = malloc(room * sizeof(*scene->gc.list));
	if (!scene->idle.list || !scene->gc.list)
		return WEFT_ERROR_MEMORY;
	keep_kind(&scene->gc, model, WEFT_BAND_GC);
	if (model->thread_count > 1)
		return make_common(scene);
	keep_kind(&scene->idle, model, WEFT_BAND_IDLE);
	return 0;
}
