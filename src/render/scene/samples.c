/* SPDX-License-Identifier: ISC
 *
 * The lowest, highest and mean value of any range of samples: kept for each 32 samples, for each 32
 * of those, and so on, so that a counter with a million changes in one pixel costs a few dozen
 * loads.
 */
#include <math.h>
#include <stdlib.h>

#include "render/scene/scene.h"

#define BITS   5 /* 32 per group */
#define LEVELS 6

struct extreme {
	double low, high;
	double sum;
};

struct weft__extremes {
	size_t first[LEVELS]; /* first entry of each level in `list`; level 0 summarizes 32 samples */
	struct extreme list[];
};

static void widen(struct extreme *extreme, double low, double high, double sum)
{
	extreme->low = low < extreme->low ? low : extreme->low; /* no branches */
	extreme->high = high > extreme->high ? high : extreme->high;
	extreme->sum += sum;
}

static const struct extreme nothing = {INFINITY, -INFINITY, 0};

/* Adds an entry of level - 1, or a sample. */
static void add_from(const struct weft_scene *scene, const struct weft_counter *counter,
	unsigned level, uint32_t i, struct extreme *to)
{
	const struct weft__extremes *extremes = scene->extremes;
	if (level == 0) {
		double value = weft_counter_value(scene->model, counter, i);
		widen(to, value, value, value);
	} else {
		const struct extreme *from = &extremes->list[extremes->first[level - 1] + i];
		widen(to, from->low, from->high, from->sum);
	}
}

/* Only the samples of counters: a live model has unused rows between them. */
static void add_samples(const struct weft_scene *scene, struct extreme *groups)
{
	const struct weft_model *model = scene->model;
	for (uint32_t c = 0; c < model->counter_count; c++) {
		const struct weft_counter *counter = &model->counters[c];
		uint32_t i = counter->first, end = counter->first + counter->count;
		while (i < end) {
			struct extreme *to = &groups[i >> BITS], group = *to; /* a copy stays in registers */
			do
				add_from(scene, counter, 0, i++, &group);
			while (i < end && i % (1u << BITS));
			*to = group;
		}
	}
}

/* One past the last sample of any counter. In a live model that is more than the number of samples.
 */
static uint32_t end_of_samples(const struct weft_model *model)
{
	uint32_t end = 0;
	for (uint32_t i = 0; i < model->counter_count; i++) {
		const struct weft_counter *counter = &model->counters[i];
		if (counter->count && counter->first + counter->count > end)
			end = counter->first + counter->count;
	}
	return end;
}

int weft__render_scene_make_extremes(struct weft_scene *scene)
{
	uint32_t count = end_of_samples(scene->model);
	size_t total = 0, first[LEVELS];
	for (unsigned level = 0; level < LEVELS; level++) {
		first[level] = total;
		total += ((size_t)count >> BITS * (level + 1)) + 1;
	}
	struct weft__extremes *extremes = malloc(sizeof(*extremes) + total * sizeof(extremes->list[0]));
	if (!extremes)
		return WEFT_ERROR_MEMORY;
	scene->extremes = extremes;
	for (size_t i = 0; i < total; i++)
		extremes->list[i] = nothing;
	for (unsigned level = 0; level < LEVELS; level++)
		extremes->first[level] = first[level];
	add_samples(scene, extremes->list);
	for (unsigned level = 1; level < LEVELS; level++) {
		uint64_t below = ((uint64_t)count >> BITS * level) + 1;
		for (uint32_t i = 0; i < below; i++)
			add_from(scene, NULL, level, i, &extremes->list[first[level] + (i >> BITS)]);
	}
	return 0;
}

struct weft__mean weft__render_scene_extremes(const struct weft_scene *scene,
	const struct weft_counter *counter, uint32_t first, uint32_t last)
{
	struct extreme found = nothing;
	double count = last > first ? (double)(last - first) : 1;
	for (unsigned level = 0; first < last; level++, first >>= BITS, last >>= BITS) {
		uint32_t mask = level < LEVELS ? (1u << BITS) - 1 : 0;
		while (first < last && (first & mask || level == LEVELS))
			add_from(scene, counter, level, first++, &found);
		while (first < last && last & mask)
			add_from(scene, counter, level, --last, &found);
		if (level == LEVELS)
			break;
	}
	return (struct weft__mean){found.low, found.high, found.sum / count};
}
