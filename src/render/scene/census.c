/* SPDX-License-Identifier: ISC
 *
 * Counts where tasks start, end, fail and run, by block of rows and by time: point_sets.h counts
 * what lies in whole blocks. Running time is represented by points, too: one for each run_ns.
 *
 * A scene of a growing trace shares the points of the former one and adds those of tasks that are
 * new or changed. A point is only made when it is final: a task's last instant when it has ended.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "base/sort.h"
#include "render/scene/scene.h"

/* The minimum number of running points. Fuzz targets define a smaller one, since they make a scene
 * of each input. */
#ifndef WEFT__CENSUS_RUNS_MIN
#define WEFT__CENSUS_RUNS_MIN (1 << 16)
#endif
#define RUN_TICKS (1 << 22)

uint32_t weft__render_census_tick(const struct weft_scene *scene, uint64_t time)
{
	uint64_t ns = time > scene->start ? time - scene->start : 0;
	uint64_t tick = ns >> scene->census.tick_shift;
	return tick < UINT32_MAX ? (uint32_t)tick : UINT32_MAX;
}

/* The last instant of a task: its start, if it ends at once. */
uint64_t weft__render_census_last(const struct weft_scene *scene, uint32_t task)
{
	uint64_t start = scene->layout->start[task], end = scene->model->tasks.end[task];
	return end > start ? end - 1 : start;
}

int weft__render_scene_list_tracks(struct weft_scene *scene)
{
	const struct weft_tasks *t = &scene->model->tasks;
	if (scene->model->summary.tracks == 0)
		return 0;
	scene->tracks = malloc(scene->model->summary.tracks * sizeof(*scene->tracks));
	if (!scene->tracks)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < t->count; task++)
		if (t->kind[task] == WEFT_KIND_TRACK && weft__render_scene_shows(scene, task) &&
			scene->track_count < scene->model->summary.tracks)
			scene->tracks[scene->track_count++] = task;
	return 0;
}

/* The lines of tracks in a view: in the sets they are like tasks. */
static uint32_t count_tracks(const struct weft_scene *scene, uint32_t first, uint32_t last)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < scene->track_count; i++) {
		uint32_t start = weft__render_census_tick(scene, scene->layout->start[scene->tracks[i]]);
		uint32_t end =
			weft__render_census_tick(scene, weft__render_census_last(scene, scene->tracks[i]));
		count += start < last && end >= first;
	}
	return count;
}

uint32_t weft__render_census_alive(const struct weft_scene *scene, uint64_t start, uint64_t end)
{
	const struct weft__census *census = &scene->census;
	uint32_t first = weft__render_census_tick(scene, start),
			 last = weft__render_census_tick(scene, end);
	uint32_t begun = weft__render_point_set_from(&census->starts, last) -
					 weft__render_point_set_from(&census->starts_gone, last);
	uint32_t ended = weft__render_point_set_from(&census->lasts, first);
	if (census->open_before && census->open_tick < first)
		ended += census->open_before[census->blocks.count];
	return begun - ended - count_tracks(scene, first, last);
}

/* Points that are being collected: times in ticks, and the blocks of their rows. */
struct collection {
	const struct weft_scene *scene;
	struct weft__pairs pairs;
	uint32_t count;
	uint64_t capacity;
	int error;
};

/* 0 or WEFT_ERROR_MEMORY. */
static int collection_init(struct collection *c, const struct weft_scene *scene, uint32_t capacity)
{
	size_t room = capacity + (size_t)1;
	*c = (struct collection){.scene = scene, .capacity = capacity};
	c->pairs.keys = malloc(room * sizeof(*c->pairs.keys));
	c->pairs.values = malloc(room * sizeof(*c->pairs.values));
	if (c->pairs.keys && c->pairs.values)
		return 0;
	free(c->pairs.keys);
	free(c->pairs.values);
	return WEFT_ERROR_MEMORY;
}

/* Makes room for half as many points again. Out of line, so that collect() is inlined. */
__attribute__((noinline)) static bool make_room(struct collection *c)
{
	uint64_t room = c->capacity + c->capacity / 2 + 64;
	uint32_t *keys = NULL;
	uint16_t *values = NULL;
	if (room < UINT32_MAX && room <= SIZE_MAX / sizeof(*keys)) {
		keys = realloc(c->pairs.keys, (size_t)room * sizeof(*keys));
		c->pairs.keys = keys ? keys : c->pairs.keys;
		values = realloc(c->pairs.values, (size_t)room * sizeof(*values));
		c->pairs.values = values ? values : c->pairs.values;
	}
	c->capacity = keys && values ? room : c->capacity;
	c->error = keys && values ? 0 : WEFT_ERROR_MEMORY;
	return !c->error;
}

static inline void collect(struct collection *c, uint64_t time, uint32_t task)
{
	if (c->count == c->capacity && !make_room(c))
		return;
	c->pairs.keys[c->count] = weft__render_census_tick(c->scene, time);
	c->pairs.values[c->count++] = c->scene->block_of_row[c->scene->layout->row[task]];
}

/* Makes `to` the former scene's set, plus the collected points. */
static int extend_set(struct collection *c, const struct weft__point_set *former, unsigned low_bit,
	struct weft__point_set *to)
{
	if (c->error) {
		free(c->pairs.keys);
		free(c->pairs.values);
		return c->error;
	}
	if (c->scene->news.previous)
		weft__render_point_set_share(former, to);
	return weft__render_point_set_add(
		to, c->pairs, c->count, low_bit, c->scene->census.blocks.levels);
}

static const struct weft__census *former_census(const struct weft_scene *scene)
{
	return scene->news.previous ? &scene->news.previous->census : &scene->census;
}

/* All starts, in the order of time. */
static int make_all_starts(struct weft_scene *scene)
{
	uint32_t count = scene->model->tasks.count;
	struct collection c;
	int error = collection_init(&c, scene, count);
	if (error)
		return error;
	for (uint32_t i = 0; i < count; i++)
		if (weft__render_scene_shows(scene, scene->order[i]))
			collect(&c, scene->layout->start[scene->order[i]], scene->order[i]);
	return extend_set(&c, NULL, 32, &scene->census.starts);
}

/* The points that a set gets. */
struct wanted {
	uint32_t tasks; /* how many of the news are examined, from the first on */
	uint32_t room;  /* the expected number of points */
	bool (*has)(const struct weft_scene *scene, uint32_t task);
	uint64_t (*time)(const struct weft_scene *scene, uint32_t task);
};

static uint64_t start_of(const struct weft_scene *scene, uint32_t task)
{
	return scene->layout->start[task];
}

static uint64_t former_start_of(const struct weft_scene *scene, uint32_t task)
{
	return scene->news.previous->layout->start[task];
}

static bool has_failed_end(const struct weft_scene *scene, uint32_t task)
{
	return scene->model->tasks.flags[task] & WEFT_TASK_FAILED &&
		   weft__render_news_has_end(scene, task);
}

/* Makes a set of the former one and the wanted points. It is inlined into each caller, so that a
 * task costs no indirect call. */
__attribute__((always_inline)) static inline int make_set(struct weft_scene *scene,
	struct wanted wanted, const struct weft__point_set *former, struct weft__point_set *to)
{
	struct collection c;
	int error = collection_init(&c, scene, wanted.room);
	if (error)
		return error;
	for (uint32_t i = 0; i < wanted.tasks && !c.error; i++) {
		uint32_t task = weft__render_news_task(scene, i);
		if (wanted.has(scene, task) && weft__render_scene_shows(scene, task))
			collect(&c, wanted.time(scene, task), task);
	}
	return extend_set(&c, former, 0, to);
}

int weft__render_scene_make_starts(struct weft_scene *scene)
{
	struct weft__census *census = &scene->census;
	const struct weft__census *former = former_census(scene);
	uint32_t count = weft__render_news_count(scene), changed = scene->news.changed_count;
	if (!scene->news.previous)
		return make_all_starts(scene);
	struct wanted new = {count, count, weft__render_news_has_start, start_of};
	struct wanted gone = {changed, changed, weft__render_news_has_start, former_start_of};
	int error = make_set(scene, new, &former->starts, &census->starts);
	return error ? error : make_set(scene, gone, &former->starts_gone, &census->starts_gone);
}

int weft__render_scene_make_lasts(struct weft_scene *scene)
{
	uint32_t count = weft__render_news_count(scene);
	struct wanted lasts = {count, count, weft__render_news_has_end, weft__render_census_last};
	return make_set(scene, lasts, &former_census(scene)->lasts, &scene->census.lasts);
}

int weft__render_scene_make_fails(struct weft_scene *scene)
{
	struct wanted fails = {
		weft__render_news_count(scene), 0, has_failed_end, weft__render_census_last};
	return make_set(scene, fails, &former_census(scene)->fails, &scene->census.fails);
}

/* Counts the shown tasks of each block that have not ended. */
static void count_open(struct weft_scene *scene)
{
	const struct weft__news *news = &scene->news;
	uint32_t *open = scene->census.open;
	if (news->previous)
		memcpy(
			open, news->previous->census.open, news->previous->census.blocks.count * sizeof(*open));
	for (uint32_t i = 0; i < weft__render_news_count(scene); i++) {
		uint32_t task = weft__render_news_task(scene, i);
		if (!weft__render_scene_shows(scene, task))
			continue;
		uint32_t block = scene->block_of_row[scene->layout->row[task]];
		open[block] += task >= news->first_task;
		open[block] -= weft__render_news_has_end(scene, task);
	}
}

/* Leaves an unended task out that starts at the end: it has no last instant before that. */
static void leave_out(struct weft_scene *scene, uint32_t task)
{
	struct weft__census *census = &scene->census;
	if (weft__render_census_has_ended(scene, task) || !weft__render_scene_shows(scene, task) ||
		scene->layout->start[task] < scene->end)
		return;
	census->open_before[scene->block_of_row[scene->layout->row[task]]]--;
	census->newborn[census->newborn_count++] = task;
}

static void sum_up_open(struct weft_scene *scene)
{
	struct weft__census *census = &scene->census;
	const struct weft__census *former = former_census(scene);
	uint32_t sum = 0, newborn = scene->news.previous ? former->newborn_count : 0;
	memcpy(census->open_before, census->open, census->blocks.count * sizeof(*census->open));
	/* Such a task was new or changed when it was left out first. */
	for (uint32_t i = 0; i < newborn; i++)
		if (!weft__render_news_has_start(scene, former->newborn[i]))
			leave_out(scene, former->newborn[i]);
	for (uint32_t i = 0; i < weft__render_news_count(scene); i++)
		if (weft__render_news_has_start(scene, weft__render_news_task(scene, i)))
			leave_out(scene, weft__render_news_task(scene, i));
	for (uint32_t block = 0; block <= census->blocks.count; block++) {
		uint32_t count = census->open_before[block];
		census->open_before[block] = sum;
		sum += count;
	}
}

int weft__render_scene_make_open(struct weft_scene *scene)
{
	struct weft__census *census = &scene->census;
	size_t blocks = census->blocks.count + (size_t)1;
	size_t newborn = weft__render_news_count(scene) + (size_t)1;
	if (!scene->model->summary.live)
		return 0;
	if (scene->news.previous)
		newborn += scene->news.previous->census.newborn_count;
	census->open_tick =
		weft__render_census_tick(scene, scene->end > scene->start ? scene->end - 1 : 0);
	census->open = calloc(blocks, sizeof(*census->open));
	census->open_before = calloc(blocks, sizeof(*census->open_before));
	census->newborn = malloc(newborn * sizeof(*census->newborn));
	if (!census->open || !census->open_before || !census->newborn)
		return WEFT_ERROR_MEMORY;
	count_open(scene);
	sum_up_open(scene);
	return 0;
}

/* Low bits of a tick that running points ignore: a four-millionth of the trace is accurate enough,
 * and saves a sorting pass. */
static unsigned spare_bits(const struct weft_scene *scene)
{
	unsigned bits = 0;
	while (weft__render_census_tick(scene, scene->end) >> bits > RUN_TICKS)
		bits++;
	return bits;
}

/* Where in an activation its first point is: the golden ratio spreads those of neighbours evenly.
 * It depends on nothing else, so that points stay where they are while a trace grows. */
static uint64_t first_point(const struct weft_scene *scene, uint32_t task, uint32_t run)
{
	uint32_t turn = (task + run * UINT32_C(7919)) * UINT32_C(2654435769);
	return (uint64_t)((double)turn * 0x1p-32 * (double)scene->census.run_ns);
}

/* The old part of a task's first new activation, which may have become longer. */
static uint64_t former_length(const struct weft_scene *scene, uint32_t task, uint32_t run)
{
	if (task >= scene->news.first_task || run == scene->model->tasks.end_activation[task])
		return 0;
	return weft__render_news_former_end(scene, task, run) - scene->model->activations.start[run];
}

/* Collects the points of an activation beyond its first `old` ns. */
static void collect_run(struct collection *c, uint32_t task, uint32_t run, uint64_t old)
{
	const struct weft_scene *scene = c->scene;
	const struct weft_activations *a = &scene->model->activations;
	uint64_t run_ns = scene->census.run_ns, length = a->end[run] - a->start[run];
	uint64_t at = first_point(scene, task, run - scene->model->tasks.first_activation[task]);
	if (old > at)
		at += ((old - at - 1) / run_ns + 1) * run_ns;
	for (; at < length; at += run_ns) {
		collect(c, a->start[run] + at, task);
		if (c->error)
			return;
		c->pairs.keys[c->count - 1] &= UINT32_MAX << scene->census.run_bits;
	}
}

int weft__render_scene_make_running(struct weft_scene *scene)
{
	const struct weft__census *census = &scene->census;
	double former_ns = scene->news.previous ? former_census(scene)->ran_ns : 0;
	double points = fmax((census->ran_ns - former_ns) / (double)census->run_ns, 0);
	struct collection c;
	int error =
		collection_init(&c, scene, (uint32_t)weft__ns_between(points + points / 64, UINT32_MAX));
	if (error)
		return error;
	for (uint32_t i = 0; i < weft__render_news_count(scene) && !c.error; i++) {
		uint32_t task = weft__render_news_task(scene, i),
				 run = weft__render_news_first_run(scene, task);
		uint64_t old = former_length(scene, task, run);
		if (!weft__render_scene_shows(scene, task))
			continue;
		for (; run < scene->model->tasks.end_activation[task] && !c.error; run++, old = 0)
			collect_run(&c, task, run, old);
	}
	return extend_set(&c, &former_census(scene)->runs, census->run_bits, &scene->census.runs);
}

/* The time that all tasks ran: that of the former scene, and what is new. */
static double sum_of_runs(const struct weft_scene *scene)
{
	const struct weft_activations *a = &scene->model->activations;
	double sum = scene->news.previous ? scene->news.previous->census.ran_ns : 0;
	for (uint32_t i = 0; i < weft__render_news_count(scene); i++) {
		uint32_t task = weft__render_news_task(scene, i),
				 run = weft__render_news_first_run(scene, task);
		sum -= (double)former_length(scene, task, run);
		for (; run < scene->model->tasks.end_activation[task]; run++)
			sum += (double)(a->end[run] - a->start[run]);
	}
	return sum;
}

int weft__render_scene_choose_runs(struct weft_scene *scene)
{
	struct weft__census *census = &scene->census;
	uint32_t count = scene->model->tasks.count;
	double wanted = count > WEFT__CENSUS_RUNS_MIN ? count : WEFT__CENSUS_RUNS_MIN;
	census->ran_ns = sum_of_runs(scene);
	while (census->ran_ns > ldexp(UINT32_MAX, (int)scene->running_shift))
		scene->running_shift++;
	if (scene->news.previous) {
		census->run_ns = scene->news.previous->census.run_ns;
		census->run_bits = scene->news.previous->census.run_bits;
		if (census->ran_ns / (double)census->run_ns <= 2 * wanted &&
			scene->running_shift == scene->news.previous->running_shift)
			return 0;
		weft__render_scene_forget_news(scene);
	}
	census->run_ns = weft__ns_between(fmax(census->ran_ns / (wanted - 1), 1), UINT64_MAX);
	census->run_bits = spare_bits(scene);
	return 0;
}
