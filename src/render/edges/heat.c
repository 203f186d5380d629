/* SPDX-License-Identifier: ISC
 *
 * Heat: where a pixel column has more arrows of a type than can be drawn, the rows that they point
 * to have a line for each type below them, stronger for more arrows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/edges/edge_columns.h"
#include "render/painter.h"

#define SPACING 12.0 /* px between rows that have room for these lines */
#define BELOW   4.0  /* px below the row's middle */
#define SHADES  3
#define GROUP   4 /* columns */

struct heat {
	struct painter *p;
	const struct weft__edge_columns *columns;
	unsigned type;
	uint32_t width;          /* columns in the picture */
	uint32_t first, lanes;   /* the lanes that have room */
	uint32_t *counts;        /* by lane and column */
	uint32_t *firsts;        /* blocks to be counted */
	uint32_t *lane_of_range; /* WEFT_NONE between lanes */
	uint32_t ranges;
	struct weft__run *scratch;
};

static bool has_room(const struct weft__lane *lane)
{
	return lane->row_count == 1 && lane->spacing >= SPACING;
}

static void found(void *context, uint32_t range, uint32_t before, const struct weft__run *runs,
	uint32_t run_count)
{
	struct heat *heat = context;
	uint32_t lane = heat->lane_of_range[range];
	(void)before;
	for (uint32_t i = 0; lane != WEFT_NONE && i < run_count; i++)
		heat->counts[(size_t)lane * heat->width + runs[i].column] += runs[i].count;
}

/* Adds a block of several rows, which has few arrows, one by one. */
static void add_block(struct heat *heat, uint32_t block)
{
	const struct painter *p = heat->p;
	const struct weft__points *points = &p->scene->edges.points[heat->type];
	struct weft__points_path path;
	const uint32_t *ranks = heat->columns->ranks[heat->type];
	uint32_t i = weft__points_rank(points, block, ranks[0]);
	uint32_t last = weft__points_rank(points, block, ranks[heat->width]);
	weft__points_path_init(&path, points, block);
	for (uint32_t column = 0; i < last; i++) {
		uint32_t rank = weft__points_select(&path, i);
		while (ranks[column + 1] <= rank)
			column++;
		if (!weft__column_is_dense(heat->columns, heat->type, column))
			continue;
		uint32_t edge = weft__edges_nth(p->scene, heat->type, rank);
		uint32_t row = p->layout->row[weft__edge_target(p->model, edge)];
		uint32_t lane = weft__lane_of_row(p, row);
		if (lane >= heat->first && p->lanes[lane].first_row == row && has_room(&p->lanes[lane]))
			heat->counts[(size_t)(lane - heat->first) * heat->width + column]++;
	}
}

static void add_range(struct heat *heat, uint32_t block, uint32_t lane)
{
	if (block > heat->firsts[heat->ranges]) {
		heat->lane_of_range[heat->ranges] = WEFT_NONE;
		heat->firsts[++heat->ranges] = block;
	}
	heat->lane_of_range[heat->ranges] = lane;
	heat->firsts[++heat->ranges] = block + 1;
}

static void count_type(struct heat *heat)
{
	const struct painter *p = heat->p;
	const struct weft__blocks *blocks = &p->scene->census.blocks;
	struct weft__points_query query = {
		heat->columns->ranks[heat->type], heat->width, heat->firsts, 0, heat->scratch, found, heat};
	uint32_t block_before = WEFT_NONE;
	heat->ranges = 0;
	heat->firsts[0] = 0;
	memset(heat->counts, 0, (size_t)heat->lanes * heat->width * sizeof(*heat->counts));
	for (uint32_t lane = 0; lane < heat->lanes; lane++) {
		uint32_t row = p->lanes[heat->first + lane].first_row;
		uint32_t block = weft__census_block(blocks, row);
		if (!has_room(&p->lanes[heat->first + lane]) || block == block_before)
			continue;
		block_before = block;
		if (blocks->first[block + 1] - blocks->first[block] == 1)
			add_range(heat, block, lane);
		else
			add_block(heat, block);
	}
	query.ranges = heat->ranges;
	weft__points_count(&p->scene->edges.points[heat->type], &query);
}

static uint32_t color_of(const struct painter *p, unsigned type)
{
	switch (type) {
	case WEFT_EDGE_READ:
		return p->theme->read;
	case WEFT_EDGE_TRY_READ:
		return p->theme->try_read;
	case WEFT_EDGE_RESOLVE:
		return p->theme->resolve;
	default:
		return p->theme->signal;
	}
}

/* The shade of GROUP columns together, which the eye cannot distinguish. 0: no arrows, then up to 4
 * per column, up to 32, more. */
static unsigned shade(const struct heat *heat, uint32_t lane, uint32_t column)
{
	uint32_t end = column + GROUP < heat->width ? column + GROUP : heat->width, count = 0;
	for (; column < end; column++)
		if (weft__column_is_dense(heat->columns, heat->type, column))
			count += heat->counts[(size_t)lane * heat->width + column];
	if (count == 0)
		return 0;
	return count <= 4 * GROUP ? 1 : count <= 32 * GROUP ? 2 : SHADES;
}

static void draw_lane(struct heat *heat, uint32_t lane, double line)
{
	static const double alphas[SHADES + 1] = {0, 0.35, 0.6, 0.9};
	double x0 = heat->p->x0, y = heat->p->lanes[heat->first + lane].y + BELOW + line;
	uint32_t color = color_of(heat->p, heat->type), begin = 0, column = 0;
	unsigned run = 0;
	for (; column < heat->width + GROUP; column += GROUP) {
		unsigned next = column < heat->width ? shade(heat, lane, column) : 0;
		if (next == run)
			continue;
		if (run)
			weft_canvas_rect(heat->p->canvas, x0 + begin, y, x0 + column, y + 1,
				weft__faded(color, alphas[run]));
		run = next;
		begin = column;
	}
}

static void draw_types(struct heat *heat)
{
	static const uint8_t types[] = {
		WEFT_EDGE_READ, WEFT_EDGE_RESOLVE, WEFT_EDGE_TRY_READ, WEFT_EDGE_SIGNAL};
	for (unsigned i = 0; i < sizeof(types); i++) {
		bool is_dense = false;
		heat->type = types[i];
		for (uint32_t column = 0; column < heat->width && !is_dense; column++)
			is_dense = weft__column_is_dense(heat->columns, types[i], column);
		if (!is_dense)
			continue;
		count_type(heat);
		for (uint32_t lane = 0; lane < heat->lanes; lane++)
			draw_lane(heat, lane, i);
	}
}

void weft__draw_heat(struct painter *p)
{
	const struct weft__edge_columns *columns = p->edge_columns;
	struct heat heat = {.p = p, .columns = columns, .width = columns->count / 2};
	uint32_t last = p->lane_count;
	while (heat.first < last && !has_room(&p->lanes[heat.first]))
		heat.first++;
	while (last > heat.first && !has_room(&p->lanes[last - 1]))
		last--;
	heat.lanes = last - heat.first;
	size_t ranges = 2 * (size_t)heat.lanes + 2;
	heat.counts = malloc(((size_t)heat.lanes * heat.width + 1) * sizeof(*heat.counts));
	heat.firsts = malloc(ranges * sizeof(*heat.firsts));
	heat.lane_of_range = malloc(ranges * sizeof(*heat.lane_of_range));
	heat.scratch =
		malloc((heat.width + (size_t)1) * (WEFT__POINT_LEVELS + 1) * sizeof(*heat.scratch));
	if (heat.counts && heat.firsts && heat.lane_of_range && heat.scratch)
		draw_types(&heat);
	else
		p->error = WEFT_ERROR_MEMORY;
	free(heat.counts);
	free(heat.firsts);
	free(heat.lane_of_range);
	free(heat.scratch);
}
