/* SPDX-License-Identifier: ISC
 *
 * Chooses the bands that are drawn across all rows: every GC, and the times in which no thread runs
 * anything. With one thread those are its idle bands; with several, the times in which all threads
 * that exist then are idle. Bands of one kind do not overlap, so the first one in view is found by
 * binary search.
 */
#include <stdlib.h>

#include "base/export.h"
#include "model/idle.h"
#include "render/facts.h"
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

/* Reason and thread are known if only one thread exists then: they are those of the band that
 * begins there. */
static void keep_idle(struct weft_scene *scene, const struct weft__idle *idle, uint32_t count)
{
	const struct weft_model *model = scene->model;
	uint32_t next = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct weft_band_period band = {
			idle[i].start, idle[i].end, WEFT_NONE, WEFT_NONE, WEFT_BAND_IDLE};
		while (next < model->band_count && model->bands[next].start < band.start)
			next++;
		bool begins = next < model->band_count && model->bands[next].start == band.start &&
					  model->bands[next].kind == WEFT_BAND_IDLE;
		if (begins && idle[i].threads == 1) {
			band.thread = model->bands[next].thread;
			band.reason = model->bands[next].reason;
		}
		keep(&scene->idle, band);
	}
}

/* The number of these times is limited by that of bands and threads. */
static int make_common(struct weft_scene *scene)
{
	struct weft__idle *idle;
	uint32_t count;
	int error = weft__model_idle(scene->model, &idle, &count);
	if (error)
		return error == WEFT_ERROR_LIMIT ? 0 : error;
	keep_idle(scene, idle, count);
	free(idle);
	return 0;
}

int weft__render_scene_make_bands(struct weft_scene *scene)
{
	const struct weft_model *model = scene->model;
	size_t room = model->band_count + (size_t)model->thread_count + 1;
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

WEFT__EXPORT int weft_scene_create_squeeze(
	const struct weft_scene *scene, struct weft_squeeze **ret_squeeze)
{
	const struct weft_stripe trace = {scene->start, scene->end};
	struct weft_stripe *idle = malloc((scene->idle.count + (size_t)1) * sizeof(*idle));
	if (!idle)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < scene->idle.count; i++)
		idle[i] = (struct weft_stripe){scene->idle.list[i].start, scene->idle.list[i].end};
	int error = weft_squeeze_create(idle, scene->idle.count, &trace, ret_squeeze);
	free(idle);
	return error;
}

double weft__render_idle_share(const struct weft_scene *scene)
{
	uint64_t ns = 0;
	for (uint32_t i = 0; i < scene->idle.count; i++) {
		const struct weft_band_period *idle = &scene->idle.list[i];
		uint64_t end = idle->end < scene->end ? idle->end : scene->end;
		ns += idle->start < end ? end - idle->start : 0;
	}
	return scene->start < scene->end ? (double)ns / (double)(scene->end - scene->start) : 0;
}
