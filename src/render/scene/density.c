/* SPDX-License-Identifier: ISC
 *
 * See density.h. Whole blocks of rows are counted by the census. A lane's first and last rows, if
 * their block extends beyond the lane, are examined one by one: a block with several rows has few
 * tasks.
 */
#include "render/scene/density.h"

#include <math.h>
#include <stdlib.h>

#include "base/ns.h"
#include "base/search.h"
#include "render/painter.h"
#include "view/time.h"

/* Ranges of blocks, and each one's lane; WEFT_NONE between lanes. */
struct ranges {
	uint32_t *firsts, *lanes;
	uint32_t count;
};

struct counting {
	const struct painter *p;
	struct weft__density *density;
	struct ranges ranges;
	uint32_t *ticks, *bounds; /* of the columns */
	struct weft__run *scratch;
};

/* The first time whose x is in column c; after the view's end if the column is beyond it. */
static uint64_t column_time(const struct painter *p, uint32_t c)
{
	uint64_t time = weft__view_first_time(p->view, c);
	return time == UINT64_MAX ? weft__ns_add(p->view->end, 1) : time;
}

static struct weft__density_cell *cells_of_lane(const struct weft__density *density, uint32_t lane)
{
	return density->cells + (size_t)lane * density->columns;
}

/* The amounts that each point of a set adds: to its cell, and, if it is before the first column, to
 * the tasks alive at its lane's left edge. Minus one is UINT32_MAX. */
struct effect {
	uint32_t alive;
	struct weft__density_cell cell;
};

struct found {
	const struct counting *counting;
	const struct effect *effect;
};

static void found_points(void *context, uint32_t range, uint32_t before,
	const struct weft__run *runs, uint32_t run_count)
{
	const struct found *found = context;
	const struct counting *c = found->counting;
	const struct weft__density_cell add = found->effect->cell;
	uint32_t lane = c->ranges.lanes[range];
	if (lane == WEFT_NONE)
		return;
	struct weft__density_cell *cells = cells_of_lane(c->density, lane);
	c->density->alive[lane] += before * found->effect->alive;
	for (uint32_t i = 0; i < run_count; i++) {
		struct weft__density_cell *cell = &cells[runs[i].column];
		cell->starts += runs[i].count * add.starts;
		cell->lasts += runs[i].count * add.lasts;
		cell->failed += runs[i].count * add.failed;
		cell->running_ns += (float)runs[i].count * add.running_ns;
	}
}

static void count_set(
	const struct counting *c, const struct weft__point_set *set, const struct effect *effect)
{
	struct found found = {c, effect};
	struct weft__points_query query = {
		.columns = c->density->columns,
		.firsts = c->ranges.firsts,
		.ranges = c->ranges.count,
		.scratch = c->scratch,
		.found = found_points,
		.context = &found,
	};
	weft__render_point_set_count(set, c->ticks, c->bounds, query);
}

/* Counts the tasks that go on beyond the end of a live trace: they end at its last instant. */
static void count_open(struct counting *c)
{
	const struct weft__census *census = &c->p->scene->census;
	const struct ranges *ranges = &c->ranges;
	uint32_t column = 0;
	if (!census->open_before)
		return;
	while (column < c->density->columns && c->ticks[column + 1] <= census->open_tick)
		column++;
	for (uint32_t i = 0; i < ranges->count; i++) {
		uint32_t lane = ranges->lanes[i];
		if (lane == WEFT_NONE)
			continue;
		uint32_t open =
			census->open_before[ranges->firsts[i + 1]] - census->open_before[ranges->firsts[i]];
		if (census->open_tick < c->ticks[0])
			c->density->alive[lane] -= open;
		else if (column < c->density->columns)
			cells_of_lane(c->density, lane)[column].lasts += open;
	}
}

/* The column of a time, which is not before the first column; `columns` if it is after the last. */
static uint32_t column_of(const struct counting *c, uint64_t time)
{
	const struct weft__density *density = c->density;
	double x = floor(weft_view_x(c->p->view, time));
	if (time >= density->times[density->columns] || x >= density->columns)
		return density->columns;
	return x > 0 ? (uint32_t)x : 0;
}

/* Adds an activation's part of each column. */
static void add_activation(
	struct counting *c, struct weft__density_cell *cells, uint64_t start, uint64_t end)
{
	const uint64_t *times = c->density->times;
	if (start < times[0])
		start = times[0];
	if (start >= end)
		return;
	for (uint32_t i = column_of(c, start); i < c->density->columns && times[i] < end; i++) {
		uint64_t from = start > times[i] ? start : times[i];
		uint64_t to = end < times[i + 1] ? end : times[i + 1];
		cells[i].running_ns += to > from ? (float)(to - from) : 0;
	}
}

static void add_activations(struct counting *c, struct weft__density_cell *cells, uint32_t task)
{
	const struct weft_activations *a = &c->p->model->activations;
	uint32_t first = c->p->model->tasks.first_activation[task];
	uint32_t end = c->p->model->tasks.end_activation[task];
	uint32_t i = first + weft__lower_bound_u64(a->end + first, end - first, c->density->times[0]);
	for (; i < end && a->start[i] < c->density->times[c->density->columns]; i++)
		add_activation(c, cells, a->start[i], a->end[i]);
}

static void add_task(struct counting *c, uint32_t lane, uint32_t task)
{
	const struct painter *p = c->p;
	struct weft__density *density = c->density;
	struct weft__density_cell *cells = cells_of_lane(density, lane);
	uint64_t start = p->layout->start[task], last = weft__render_census_last(p->scene, task);
	uint32_t column;
	if (last < density->times[0])
		return;
	if (start < density->times[0])
		density->alive[lane]++;
	else if ((column = column_of(c, start)) < density->columns)
		cells[column].starts++;
	column = column_of(c, last);
	if (column < density->columns) {
		cells[column].lasts++;
		cells[column].failed += (p->model->tasks.flags[task] & WEFT_TASK_FAILED) != 0;
	}
	add_activations(c, cells, task);
}

static void add_rows(struct counting *c, uint32_t lane, uint32_t row, uint32_t last)
{
	const struct weft_scene *scene = c->p->scene;
	uint64_t right = c->density->times[c->density->columns];
	for (; row < last; row++)
		for (uint32_t i = scene->shown_first[row];
			 i < scene->shown_first[row + 1] && c->p->layout->start[scene->shown[i]] < right; i++)
			add_task(c, lane, scene->shown[i]);
}

static void add_range(struct ranges *ranges, uint32_t first, uint32_t last, uint32_t lane)
{
	uint32_t end = ranges->firsts[ranges->count];
	if (first > end) {
		ranges->lanes[ranges->count] = WEFT_NONE;
		ranges->firsts[++ranges->count] = first;
	}
	ranges->lanes[ranges->count] = lane;
	ranges->firsts[++ranges->count] = last;
}

/* Counts what is not in a whole block, and lists the whole blocks. */
static void divide_lane(struct counting *c, uint32_t lane)
{
	const struct weft__blocks *blocks = &c->p->scene->census.blocks;
	uint32_t row = c->p->lanes[lane].first_row, end = row + c->p->lanes[lane].row_count;
	uint32_t first = weft__render_census_block(blocks, row), last;
	first += blocks->first[first] < row;
	last = end >= blocks->first[blocks->count] ? blocks->count
											   : weft__render_census_block(blocks, end);
	if (first >= last) {
		add_rows(c, lane, row, end);
		return;
	}
	add_rows(c, lane, row, blocks->first[first]);
	add_range(&c->ranges, first, last, lane);
	add_rows(c, lane, blocks->first[last], end);
}

static void count_all(struct counting *c)
{
	const struct weft__census *census = &c->p->scene->census;
	for (uint32_t lane = 0; lane < c->p->lane_count; lane++)
		if (c->p->lanes[lane].row_count > 1)
			divide_lane(c, lane);
	if (c->ranges.count == 0)
		return;
	for (uint32_t i = 0; i <= c->density->columns; i++)
		c->ticks[i] = weft__render_census_tick(c->p->scene, c->density->times[i]);
	count_set(c, &census->starts, &(struct effect){1, {.starts = 1}});
	count_set(c, &census->starts_gone, &(struct effect){UINT32_MAX, {.starts = UINT32_MAX}});
	count_set(c, &census->lasts, &(struct effect){UINT32_MAX, {.lasts = 1}});
	count_set(c, &census->fails, &(struct effect){0, {.failed = 1}});
	count_set(c, &census->runs, &(struct effect){0, {.running_ns = (float)census->run_ns}});
	count_open(c);
}

static struct weft__density *allocate(const struct painter *p)
{
	struct weft__density *density = calloc(1, sizeof(*density));
	if (!density)
		return NULL;
	density->columns = (uint32_t)ceil(p->frame->picture.width) + 1;
	size_t lanes = p->lane_count + (size_t)1;
	density->times = malloc((density->columns + (size_t)1) * sizeof(*density->times));
	density->alive = calloc(lanes, sizeof(*density->alive));
	density->cells = calloc(lanes * density->columns, sizeof(*density->cells));
	if (density->times && density->alive && density->cells)
		return density;
	weft__render_density_destroy(density);
	return NULL;
}

struct weft__density *weft__render_density_create(const struct painter *p)
{
	struct weft__density *density = allocate(p);
	if (!density)
		return NULL;
	size_t ranges = 2 * (size_t)p->lane_count + 2, bounds = density->columns + (size_t)1;
	struct counting c = {
		.p = p,
		.density = density,
		.ranges = {calloc(ranges, sizeof(uint32_t)), calloc(ranges, sizeof(uint32_t)), 0},
		.ticks = malloc(bounds * sizeof(uint32_t)),
		.bounds = malloc(bounds * sizeof(uint32_t)),
		.scratch = malloc(bounds * (WEFT__POINT_LEVELS + 1) * sizeof(struct weft__run)),
	};
	bool complete = c.ranges.firsts && c.ranges.lanes && c.ticks && c.bounds && c.scratch;
	for (uint32_t i = 0; i <= density->columns; i++)
		density->times[i] = column_time(p, i);
	if (complete)
		count_all(&c);
	free(c.ranges.firsts);
	free(c.ranges.lanes);
	free(c.ticks);
	free(c.bounds);
	free(c.scratch);
	if (complete)
		return density;
	weft__render_density_destroy(density);
	return NULL;
}

void weft__render_density_destroy(struct weft__density *density)
{
	if (!density)
		return;
	free(density->times);
	free(density->alive);
	free(density->cells);
	free(density);
}
