/* SPDX-License-Identifier: ISC
 *
 * The overview of a live trace: its columns are 1 << bits ns wide, so that they stay where they are
 * while the trace grows. When they are used up, two become one. All sums are whole numbers, so that
 * they do not depend on when they were added.
 */
#include <stdlib.h>
#include <string.h>

#include "render/scene/scene.h"

#define COLUMNS WEFT__OVERVIEW_COLUMNS

struct weft__overview_sums {
	unsigned bits;
	uint64_t running_ns[COLUMNS];
	uint32_t starts[COLUMNS], ends[COLUMNS], failed[COLUMNS]; /* tasks that begin or end there */
	uint32_t longest[COLUMNS];                                /* see struct weft__overview_column */
	uint64_t longest_ns[COLUMNS];
};

/* New periods: `whole` has the changes at which columns begin and end that are covered as a whole.
 */
struct added {
	struct weft__overview_sums *sums;
	uint64_t start;
	int64_t whole[COLUMNS + 1];
};

static uint32_t column_of(const struct added *added, uint64_t time)
{
	uint64_t ns = time > added->start ? time - added->start : 0;
	uint64_t column = ns >> added->sums->bits;
	return column < COLUMNS ? (uint32_t)column : COLUMNS - 1;
}

/* Adds [start, end), which is in the trace. */
static void add_period(struct added *added, uint64_t start, uint64_t end)
{
	struct weft__overview_sums *sums = added->sums;
	uint32_t first = column_of(added, start), last = column_of(added, end);
	uint64_t begin = added->start + ((uint64_t)(first + 1) << sums->bits);
	if (end <= start)
		return;
	if (first == last) {
		sums->running_ns[first] += end - start;
		return;
	}
	sums->running_ns[first] += begin - start;
	sums->running_ns[last] += end - (added->start + ((uint64_t)last << sums->bits));
	added->whole[first + 1]++;
	added->whole[last]--;
}

/* If tasks are equally long, the first one counts, so that the order of additions does not matter.
 */
static void take_longest(struct weft__overview_sums *sums, uint32_t to, uint32_t task, uint64_t ns)
{
	if (ns < sums->longest_ns[to] || ns == 0 ||
		(ns == sums->longest_ns[to] && task >= sums->longest[to]))
		return;
	sums->longest[to] = task;
	sums->longest_ns[to] = ns;
}

static void add_ended(struct added *added, const struct weft_scene *scene, uint32_t task)
{
	uint64_t start = scene->layout->start[task], end = scene->model->tasks.end[task];
	uint32_t column = column_of(added, end);
	added->sums->ends[column]++;
	added->sums->failed[column] += (scene->model->tasks.flags[task] & WEFT_TASK_FAILED) != 0;
	take_longest(added->sums, column_of(added, start), task, end > start ? end - start : 0);
}

static void add_shown(struct added *added, const struct weft_scene *scene, uint32_t task)
{
	const struct weft__news *news = &scene->news;
	struct weft__overview_sums *sums = added->sums;
	if (weft__render_news_has_start(scene, task)) {
		sums->starts[column_of(added, scene->layout->start[task])]++;
		if (task < news->first_task)
			sums->starts[column_of(added, news->previous->layout->start[task])]--;
	}
	if (weft__render_news_has_end(scene, task))
		add_ended(added, scene, task);
}

static void add_news(struct added *added, const struct weft_scene *scene)
{
	const struct weft_tasks *tasks = &scene->model->tasks;
	uint64_t whole = 0;
	for (uint32_t i = 0; i < weft__render_news_count(scene); i++) {
		uint32_t task = weft__render_news_task(scene, i),
				 run = weft__render_news_first_run(scene, task);
		for (; run < tasks->end_activation[task]; run++)
			add_period(added, weft__render_news_former_end(scene, task, run),
				scene->model->activations.end[run]);
		if (weft__render_scene_shows(scene, task))
			add_shown(added, scene, task);
	}
	for (uint32_t i = 0; i < COLUMNS; i++) {
		whole += (uint64_t)added->whole[i];
		added->sums->running_ns[i] += whole << added->sums->bits;
	}
}

/* Joins two columns each. */
static void halve(struct weft__overview_sums *sums)
{
	sums->bits++;
	for (uint32_t i = 0; i < COLUMNS; i++) {
		bool is_used = 2 * i < COLUMNS;
		sums->longest_ns[i] = is_used ? sums->longest_ns[2 * i] : 0;
		sums->longest[i] = is_used ? sums->longest[2 * i] : 0;
		if (is_used)
			take_longest(sums, i, sums->longest[2 * i + 1], sums->longest_ns[2 * i + 1]);
		sums->running_ns[i] = is_used ? sums->running_ns[2 * i] + sums->running_ns[2 * i + 1] : 0;
		sums->starts[i] = is_used ? sums->starts[2 * i] + sums->starts[2 * i + 1] : 0;
		sums->ends[i] = is_used ? sums->ends[2 * i] + sums->ends[2 * i + 1] : 0;
		sums->failed[i] = is_used ? sums->failed[2 * i] + sums->failed[2 * i + 1] : 0;
	}
}

static void fill(struct weft_scene *scene, const struct weft__overview_sums *sums)
{
	uint32_t alive = 0;
	for (uint32_t i = 0; i < COLUMNS; i++) {
		struct weft__overview_column *column = &scene->overview[i];
		column->running = (double)sums->running_ns[i] / (double)(UINT64_C(1) << sums->bits);
		column->alive = alive += sums->starts[i];
		column->failed = sums->failed[i];
		column->longest = sums->longest[i];
		column->longest_ns = sums->longest_ns[i];
		alive -= sums->ends[i];
	}
}

int weft__render_scene_grow_overview(struct weft_scene *scene, double *ret_ns)
{
	uint64_t length = scene->end - scene->start;
	struct weft__overview_sums *sums = scene->to_grow = calloc(1, sizeof(*sums));
	struct added *added = calloc(1, sizeof(*added));
	if (!sums || !added) {
		free(added);
		return WEFT_ERROR_MEMORY;
	}
	if (scene->news.previous)
		memcpy(sums, scene->news.previous->to_grow, sizeof(*sums));
	while (length >> sums->bits >= COLUMNS)
		halve(sums);
	added->sums = sums;
	added->start = scene->start;
	add_news(added, scene);
	fill(scene, sums);
	free(added);
	*ret_ns = (double)(UINT64_C(1) << sums->bits);
	scene->overview_length = length ? (double)length / *ret_ns : 1;
	return 0;
}
