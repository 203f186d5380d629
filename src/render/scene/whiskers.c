/* SPDX-License-Identifier: ISC
 *
 * The whiskers of the overview: for each of its columns, the task that lived longest of those that
 * began there and have ended, if it lived clearly longer than is usual.
 *
 * A column's longest task is usual up to three times the median of all columns. From there the
 * height grows with the logarithm, up to twice the 99th percentile or 16 times the median: a task
 * beyond that does not flatten the others, but ends in an open mark.
 */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "render/scene/scene.h"

#define COLUMNS_MIN 8 /* with fewer, nothing is usual */
#define USUAL       3
#define HIGH        16

struct limits {
	double low, high; /* ns */
};

/* False if there are too few columns with tasks. */
static bool find_limits(const struct weft_scene *scene, uint64_t *lives, struct limits *ret_limits)
{
	uint32_t count = 0;
	for (unsigned i = 0; i < WEFT__OVERVIEW_COLUMNS; i++)
		if (scene->overview[i].longest_ns)
			lives[count++] = scene->overview[i].longest_ns;
	if (count < COLUMNS_MIN)
		return false;
	weft__sort_u64(lives, lives + WEFT__OVERVIEW_COLUMNS, count);
	double median = (double)lives[count / 2], most = (double)lives[(count - 1) * 99 / 100];
	*ret_limits = (struct limits){USUAL * median, fmax(2 * most, HIGH * median)};
	return true;
}

static void add_whisker(struct weft_scene *scene, const struct weft__overview_column *column,
	const struct limits *limits)
{
	double ns = (double)column->longest_ns;
	if (ns <= limits->low)
		return;
	double height = log(ns / limits->low) / log(limits->high / limits->low);
	scene->whiskers[scene->whisker_count++] = (struct weft__whisker){
		scene->layout->start[column->longest], column->longest, (float)fmin(height, 1), height > 1};
}

int weft__render_scene_make_whiskers(struct weft_scene *scene)
{
	const size_t columns = WEFT__OVERVIEW_COLUMNS;
	uint64_t *lives = malloc(2 * columns * sizeof(*lives));
	struct limits limits;
	scene->whiskers = malloc(columns * sizeof(*scene->whiskers));
	if (!lives || !scene->whiskers) {
		free(lives);
		return WEFT_ERROR_MEMORY;
	}
	if (find_limits(scene, lives, &limits))
		for (unsigned i = 0; i < columns; i++)
			add_whisker(scene, &scene->overview[i], &limits);
	free(lives);
	return 0;
}
