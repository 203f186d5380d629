/* SPDX-License-Identifier: ISC
 *
 * The lowest, highest and mean value of any range of samples: kept for each 32 samples, for each 32
 * of those, and so on, so that a counter with a million changes in one pixel costs a few dozen
 * loads.
 */
#include <stdlib.h>

#include "render/scene/scene.h"

#define BITS   5 /* 32 per group */
#define LEVELS 6

struct extreme {
	int64_t low, high;
	double sum;
};

struct weft__extremes {
	size_t first[LEVELS]; /* first entry of each level in `list`; level 0 summarizes 32 samples */
	struct extreme list[];
};

static void widen(struct extreme *extreme, int64_t low, int64_t high, double sum)
{
	if (low < extreme->low)
		extreme->low = low;
	if (high > extreme->high)
		extreme->high = high;
	extreme->sum += sum;
}

static const struct extreme nothing = {INT64_MAX, INT64_MIN, 0};

/* Adds an entry of level - 1, or a sample. */
static void add_from(const struct weft_scene *scene, unsigned level, uint32_t i, struct extreme *to)
{
	const struct weft__extremes *extremes = scene->extremes;
	if (level == 0) {
		int64_t value = scene->model->samples.value[i];
		widen(to, value, value, (double)value);
	} else {
		const struct extreme *from = &extremes->list[extremes->first[level - 1] + i];
		widen(to, from->low, from->high, from->sum);
	}
}

int weft__scene_make_extremes(struct weft_scene *scene)
{
	uint32_t count = scene->model->samples.count;
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
	for (unsigned level = 0; level < LEVELS; level++) {
		extremes->first[level] = first[level];
		uint64_t below = level ? ((uint64_t)count >> BITS * level) + 1 : count;
		for (uint32_t i = 0; i < below; i++)
			add_from(scene, level, i, &extremes->list[first[level] + (i >> BITS)]);
	}
	return 0;
}

void weft__scene_extremes(const struct weft_scene *scene, uint32_t first, uint32_t last,
	int64_t *ret_low, int64_t *ret_high, double *ret_mean)
{
	struct extreme found = nothing;
	double count = last > first ? (double)(last - first) : 1;
	for (unsigned level = 0; first < last; level++, first >>= BITS, last >>= BITS) {
		uint32_t mask = level < LEVELS ? (1u << BITS) - 1 : 0;
		while (first < last && (first & mask || level == LEVELS))
			add_from(scene, level, first++, &found);
		while (first < last && last & mask)
			add_from(scene, level, --last, &found);
		if (level == LEVELS)
			break;
	}
	*ret_low = found.low;
	*ret_high = found.high;
	*ret_mean = found.sum / count;
}
