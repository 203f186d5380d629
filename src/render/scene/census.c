/* SPDX-License-Identifier: ISC
 *
 * Counts where tasks start, end, fail and run. Rows are grouped into blocks: a block is a single
 * row, or several rows that have together no more than a frame can examine one by one. points.c
 * counts what lies in whole blocks.
 *
 * Running time is represented by points, too: one for each run_ns.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "base/sort.h"
#include "render/scene/scene.h"

#define BLOCK_WEIGHT 1024  /* weight of several rows together; … */
#define MOST_WEIGHT  1280  /* … in larger traces, … */
#define WANTED       8192  /* … which should not get many more blocks than this … */
#define BLOCKS       30000 /* … and at most 2 * 30000 + 1, since block numbers have 16 bits */
/* The minimum number of running points. Fuzz targets define a smaller one, since they make a scene
 * of each input. */
#ifndef WEFT__CENSUS_RUNS_MIN
#define WEFT__CENSUS_RUNS_MIN (1 << 16)
#endif
#define RUN_TICKS    (1 << 22)
#define SLICE_POINTS 16
#define SLICES_MAX   65536

uint32_t weft__census_tick(const struct weft_scene *scene, uint64_t time)
{
	uint64_t ns = time > scene->start ? time - scene->start : 0;
	uint64_t tick = ns >> scene->census.tick_shift;
	return tick < UINT32_MAX ? (uint32_t)tick : UINT32_MAX;
}

/* The last instant of a task: its start, if it ends at once. */
uint64_t weft__census_last(const struct weft_scene *scene, uint32_t task)
{
	uint64_t start = scene->layout->start[task], end = scene->model->tasks.end[task];
	return end > start ? end - 1 : start;
}

uint32_t weft__census_block(const struct weft__blocks *blocks, uint32_t row)
{
	uint32_t low = 0, high = blocks->count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (blocks->first[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* A branch-free binary search: several searches overlap while they wait for memory. */
uint32_t weft__timed_points_from(const struct weft__timed_points *timed, uint32_t tick)
{
	uint32_t slice = tick >> timed->slice_bits, last = timed->slice_count - 1;
	if (slice > last)
		slice = last;
	uint32_t low = timed->slices[slice];
	uint32_t count = (slice < last ? timed->slices[slice + 1] : timed->points.count) - low;
	while (count > 0) {
		uint32_t half = (count + 1) / 2;
		low += timed->ticks[low + half - 1] < tick ? half : 0;
		count -= half;
	}
	return low;
}

uint32_t weft__census_alive(const struct weft_scene *scene, uint64_t start, uint64_t end)
{
	const struct weft__timed_points *starts = &scene->census.starts, *lasts = &scene->census.lasts;
	uint32_t begun = weft__timed_points_from(starts, weft__census_tick(scene, end));
	return begun - weft__timed_points_from(lasts, weft__census_tick(scene, start));
}

/* The cost of examining a row: its tasks, their activations, and the arrows that point to it. NULL
 * without memory. */
static uint32_t *weigh_rows(const struct weft_scene *scene, uint64_t *ret_sum)
{
	const struct weft_model *model = scene->model;
	const uint32_t *row = scene->layout->row;
	uint32_t *weights = calloc(scene->layout->row_count + (size_t)1, sizeof(*weights));
	if (!weights)
		return NULL;
	*ret_sum = 0;
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		uint32_t runs = model->tasks.end_activation[task] - model->tasks.first_activation[task];
		if (weft__scene_shows(scene, task)) {
			weights[row[task]] += 1 + runs;
			*ret_sum += 1 + runs;
		}
	}
	for (uint32_t edge = 0; edge < model->edges.count; edge++) {
		uint32_t target = weft__edge_target(model, edge);
		if (target != WEFT_NONE && weft__scene_shows(scene, target)) {
			weights[row[target]]++;
			++*ret_sum;
		}
	}
	return weights;
}

/* The weight limit of a block: two neighbours together exceed it, so there are at most 2 * BLOCKS +
 * 1. */
static uint64_t most_weight(uint64_t sum)
{
	uint64_t most = sum / WANTED;
	most = most < BLOCK_WEIGHT ? BLOCK_WEIGHT : most > MOST_WEIGHT ? MOST_WEIGHT : most;
	return most > sum / BLOCKS ? most : sum / BLOCKS + 1;
}

static int take_rows_together(struct weft_scene *scene)
{
	struct weft__blocks *blocks = &scene->census.blocks;
	uint32_t rows = scene->layout->row_count, weight = 0;
	uint64_t sum = 0;
	uint32_t *weights = weigh_rows(scene, &sum);
	uint64_t most = most_weight(sum);
	blocks->first = malloc((2 * (size_t)BLOCKS + 3) * sizeof(*blocks->first));
	if (!weights || !blocks->first) {
		free(weights);
		return WEFT_ERROR_MEMORY;
	}
	for (uint32_t row = 0; row < rows; row++) {
		if (row == 0 || (uint64_t)weight + weights[row] > most) {
			blocks->first[blocks->count++] = row;
			weight = 0;
		}
		weight += weights[row];
	}
	blocks->first[blocks->count] = rows;
	free(weights);
	while (UINT32_C(1) << blocks->levels <= blocks->count)
		blocks->levels++;
	return 0;
}

/* Points that are being collected: times, and the blocks of their rows. */
struct collection {
	const struct weft_scene *scene;
	struct weft__pairs pairs;
	uint32_t capacity, count;
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

static void collect(struct collection *c, uint64_t time, uint32_t task)
{
	if (c->count == c->capacity)
		return;
	c->pairs.keys[c->count] = weft__census_tick(c->scene, time);
	c->pairs.values[c->count++] = c->scene->block_of_task[task];
}

/* Makes an index of slices; a slice has several points, so that the index is small. */
static int make_slices(const struct weft_scene *scene, struct weft__timed_points *timed)
{
	uint32_t count = timed->points.count, tick = weft__census_tick(scene, scene->end), used = 0;
	uint32_t most = count / SLICE_POINTS + 2;
	if (most > SLICES_MAX)
		most = SLICES_MAX;
	while (tick >> timed->slice_bits >= most)
		timed->slice_bits++;
	timed->slice_count = (tick >> timed->slice_bits) + 1;
	timed->slices = malloc(timed->slice_count * sizeof(*timed->slices));
	if (!timed->slices)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		while (used < timed->slice_count && used <= timed->ticks[i] >> timed->slice_bits)
			timed->slices[used++] = i;
	while (used < timed->slice_count)
		timed->slices[used++] = count;
	return 0;
}

/* Sorts the collected points by the bits of their ticks from `low_bit` on (32: already sorted), and
 * frees the collection. */
static int make_timed_points(
	struct collection *c, struct weft__timed_points *timed, unsigned low_bit)
{
	size_t count = c->count, room = count + 1;
	struct weft__pairs scratch = {
		low_bit < 32 ? malloc(room * sizeof(*scratch.keys)) : NULL,
		malloc(room * sizeof(*scratch.values)),
	};
	int error = scratch.values && (scratch.keys || low_bit == 32) ? 0 : WEFT_ERROR_MEMORY;
	if (!error && low_bit < 32)
		weft__sort_pairs(c->pairs, scratch, count, low_bit);
	free(scratch.keys);
	if (!error)
		error = weft__points_init(&timed->points, c->pairs.values, scratch.values, c->count,
			c->scene->census.blocks.levels);
	free(scratch.values);
	free(c->pairs.values);
	timed->ticks = c->pairs.keys;
	return error ? error : make_slices(c->scene, timed);
}

/* Low bits of a tick that running points ignore: a four-millionth of the trace is accurate enough,
 * and saves a sorting pass. */
static unsigned spare_bits(const struct weft_scene *scene)
{
	unsigned bits = 0;
	while (weft__census_tick(scene, scene->end) >> bits > RUN_TICKS)
		bits++;
	return bits;
}

static uint64_t coarse(const struct weft_scene *scene, uint64_t time, unsigned spare)
{
	unsigned bits = spare + scene->census.tick_shift;
	return scene->start + ((time - scene->start) >> bits << bits);
}

/* Adds a point each time that another run_ns is full; the remainder carries over to the next task.
 */
static void collect_runs(struct collection *c, double run_ns)
{
	const struct weft_scene *scene = c->scene;
	const struct weft_activations *a = &scene->model->activations;
	const uint32_t *first = scene->model->tasks.first_activation;
	const uint32_t *end = scene->model->tasks.end_activation;
	double missing = run_ns / 2;
	unsigned spare = spare_bits(scene);
	for (uint32_t task = 0; task < scene->model->tasks.count; task++) {
		if (!weft__scene_shows(scene, task))
			continue;
		for (uint32_t i = first[task]; i < end[task]; i++) {
			double length = (double)(a->end[i] - a->start[i]), at = missing;
			for (; at <= length && c->count < c->capacity; at += run_ns)
				collect(c,
					coarse(scene, a->start[i] + weft__ns_between(at, a->end[i] - a->start[i] - 1),
						spare),
					task);
			missing = at - length;
		}
	}
}

static double run_of_point(const struct weft_scene *scene, size_t points)
{
	double sum = 0;
	for (uint32_t task = 0; task < scene->model->tasks.count; task++)
		sum += (double)weft_model_running_ns(scene->model, task);
	return fmax(sum / (double)(points - 1), 1);
}

int weft__scene_make_starts(struct weft_scene *scene)
{
	uint32_t count = scene->model->tasks.count;
	struct collection c;
	int error = collection_init(&c, scene, count);
	if (error)
		return error;
	for (uint32_t i = 0; i < count; i++)
		if (weft__scene_shows(scene, scene->order[i]))
			collect(&c, scene->layout->start[scene->order[i]], scene->order[i]);
	return make_timed_points(&c, &scene->census.starts, 32);
}

int weft__scene_make_lasts(struct weft_scene *scene)
{
	uint32_t count = scene->model->tasks.count;
	struct collection c;
	int error = collection_init(&c, scene, count);
	if (error)
		return error;
	for (uint32_t task = 0; task < count; task++)
		if (weft__scene_shows(scene, task))
			collect(&c, weft__census_last(scene, task), task);
	return make_timed_points(&c, &scene->census.lasts, 0);
}

int weft__scene_make_fails(struct weft_scene *scene)
{
	const struct weft_tasks *tasks = &scene->model->tasks;
	uint32_t failed = 0;
	struct collection c;
	for (uint32_t task = 0; task < tasks->count; task++)
		failed += (tasks->flags[task] & WEFT_TASK_FAILED) != 0;
	int error = collection_init(&c, scene, failed);
	if (error)
		return error;
	for (uint32_t task = 0; task < tasks->count; task++)
		if (weft__scene_shows(scene, task) && tasks->flags[task] & WEFT_TASK_FAILED)
			collect(&c, weft__census_last(scene, task), task);
	return make_timed_points(&c, &scene->census.fails, 0);
}

int weft__scene_make_running(struct weft_scene *scene)
{
	struct weft__census *census = &scene->census;
	uint32_t count = scene->model->tasks.count;
	struct collection c;
	int error =
		collection_init(&c, scene, count > WEFT__CENSUS_RUNS_MIN ? count : WEFT__CENSUS_RUNS_MIN);
	if (error)
		return error;
	census->run_ns = run_of_point(scene, c.capacity);
	collect_runs(&c, census->run_ns);
	return make_timed_points(&c, &census->runs, spare_bits(scene));
}

static int find_blocks(struct weft_scene *scene)
{
	const struct weft_layout *layout = scene->layout;
	const struct weft__blocks *blocks = &scene->census.blocks;
	uint16_t *block_of_row = malloc((layout->row_count + (size_t)1) * sizeof(*block_of_row));
	if (!block_of_row)
		return WEFT_ERROR_MEMORY;
	for (uint32_t block = 0; block < blocks->count; block++)
		for (uint32_t row = blocks->first[block]; row < blocks->first[block + 1]; row++)
			block_of_row[row] = (uint16_t)block;
	for (uint32_t task = 0; task < scene->model->tasks.count; task++)
		if (weft__scene_shows(scene, task))
			scene->block_of_task[task] = block_of_row[layout->row[task]];
	free(block_of_row);
	return 0;
}

int weft__scene_make_blocks(struct weft_scene *scene)
{
	uint32_t count = scene->model->tasks.count;
	int error = take_rows_together(scene);
	scene->block_of_task = malloc((count + (size_t)1) * sizeof(*scene->block_of_task));
	if (!scene->block_of_task)
		error = WEFT_ERROR_MEMORY;
	return error ? error : find_blocks(scene);
}
