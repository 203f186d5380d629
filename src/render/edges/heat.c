/* SPDX-License-Identifier: ISC
 *
 * Heat: where more arrows end than there are pixel columns, the rows that they point to have a line
 * for each type below them, stronger for more arrows. Rows with folds have none.
 *
 * A frame that examines each edge has a list of these arrows. One with too many edges for that
 * counts the points of the scene's index.
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
	const struct weft__edge_columns *columns; /* or NULL */
	const struct weft__heat_mark *marks;
	uint32_t mark_count;
	unsigned type;
	uint32_t width;          /* columns in the picture */
	uint32_t first, lanes;   /* the lanes that have room */
	uint32_t *counts;        /* by lane and column */
	uint32_t *firsts;        /* blocks to be counted */
	uint32_t *lane_of_range; /* WEFT_NONE between lanes */
	bool *has_room;          /* by lane */
	uint32_t ranges;
	struct weft__run *scratch;
	uint32_t *keys; /* of the points at which columns begin: see struct weft__edge_index */
	uint32_t *bounds;
	uint32_t sign; /* of the points that are counted: 1, or UINT32_MAX for minus one */
};

/* True if a row has a fold or a folded group in the view. */
static bool has_piles(const struct painter *p, uint32_t row)
{
	const struct weft__piles *piles = &p->scene->piles;
	if (piles->count == 0)
		return false;
	uint32_t next = weft__render_piles_from(piles, row, p->left);
	return next < piles->row_first[row + 1] && piles->list[piles->by_row[next]].start < p->right;
}

static bool has_room(const struct painter *p, const struct weft__lane *lane)
{
	return lane->row_count == 1 && lane->spacing >= SPACING && !has_piles(p, lane->first_row);
}

static void found(void *context, uint32_t range, uint32_t before, const struct weft__run *runs,
	uint32_t run_count)
{
	struct heat *heat = context;
	uint32_t lane = heat->lane_of_range[range];
	(void)before;
	for (uint32_t i = 0; lane != WEFT_NONE && i < run_count; i++)
		heat->counts[(size_t)lane * heat->width + runs[i].column] += runs[i].count * heat->sign;
}

static void add_arrow(struct heat *heat, uint32_t edge, uint32_t column)
{
	const struct painter *p = heat->p;
	uint32_t target = weft__render_edge_target(p->model, edge);
	if (target == WEFT_NONE)
		return; /* it was dropped later */
	uint32_t row = p->layout->row[target], lane = weft__render_lane_of_row(p, row);
	if (lane >= heat->first && lane < heat->first + heat->lanes &&
		p->lanes[lane].first_row == row && heat->has_room[lane - heat->first])
		heat->counts[(size_t)(lane - heat->first) * heat->width + column]++;
}

/* Adds the arrows to a block of several rows, which are few, one by one. */
static void add_block(struct heat *heat, const struct weft__point_part *part, uint32_t block)
{
	const struct weft__points *points = &part->points;
	const uint32_t *keys = heat->keys;
	struct weft__points_path path;
	uint32_t i =
		weft__render_points_rank(points, block + 1, weft__render_point_part_from(part, keys[0]));
	uint32_t last = weft__render_points_rank(
		points, block + 1, weft__render_point_part_from(part, keys[heat->width]));
	if (i < last)
		weft__render_points_path_init(&path, points, block + 1);
	for (uint32_t column = 0; i < last; i++) {
		uint32_t key = part->first + weft__render_points_select(&path, i);
		while (keys[column + 1] <= key)
			column++;
		if (weft__render_column_is_hot(heat->columns, column))
			add_arrow(heat, weft__render_edge_of_key(heat->p->scene, heat->type, key), column);
	}
}

static void find_keys(struct heat *heat)
{
	uint32_t counts[WEFT__EDGE_COUNTS];
	for (uint32_t column = 0; column <= heat->width; column++) {
		for (unsigned type = 0; type < WEFT__EDGE_COUNTS; type++)
			counts[type] = heat->columns->ranks[type][column];
		heat->keys[column] = weft__render_edge_key(counts, heat->type);
	}
}

static void add_range(struct heat *heat, uint32_t block, uint32_t lane)
{
	if (block + 1 > heat->firsts[heat->ranges]) {
		heat->lane_of_range[heat->ranges] = WEFT_NONE;
		heat->firsts[++heat->ranges] = block + 1;
	}
	heat->lane_of_range[heat->ranges] = lane;
	heat->firsts[++heat->ranges] = block + 2;
}

static void count_points(struct heat *heat)
{
	const struct painter *p = heat->p;
	const struct weft__blocks *blocks = &p->scene->census.blocks;
	const struct weft__point_set *points = &p->scene->edges.points[heat->type];
	struct weft__points_query query = {
		NULL, heat->width, heat->firsts, 0, heat->scratch, found, heat};
	uint32_t block_before = WEFT_NONE;
	find_keys(heat);
	heat->ranges = 0;
	heat->firsts[0] = 0;
	for (uint32_t lane = 0; lane < heat->lanes; lane++) {
		uint32_t row = p->lanes[heat->first + lane].first_row;
		uint32_t block = weft__render_census_block(blocks, row);
		if (!heat->has_room[lane] || block == block_before)
			continue;
		block_before = block;
		if (blocks->first[block + 1] - blocks->first[block] == 1)
			add_range(heat, block, lane);
		else
			for (unsigned i = 0; i < points->count; i++)
				add_block(heat, points->parts[i], block);
	}
	query.ranges = heat->ranges;
	heat->sign = 1;
	weft__render_point_set_count(points, heat->keys, heat->bounds, query);
	heat->sign = UINT32_MAX;
	if (heat->type == WEFT_EDGE_TRY_READ)
		weft__render_point_set_count(&p->scene->edges.gone, heat->keys, heat->bounds, query);
}

/* Counts the arrows of the type in the list; false if there is none. */
static bool count_marks(struct heat *heat)
{
	bool is_any = false;
	for (uint32_t i = 0; i < heat->mark_count; i++) {
		const struct weft__heat_mark *mark = &heat->marks[i];
		if (heat->p->model->edges.type[mark->edge] != heat->type || mark->column >= heat->width)
			continue;
		add_arrow(heat, mark->edge, mark->column);
		is_any = true;
	}
	return is_any;
}

/* True if a hot column has arrows of the type. */
static bool has_points(const struct heat *heat)
{
	for (uint32_t column = 0; column < heat->width; column++)
		if (weft__render_column_is_hot(heat->columns, column) &&
			weft__render_edges_in_column(heat->columns, heat->type, column))
			return true;
	return false;
}

static bool count_type(struct heat *heat)
{
	if (heat->columns && !has_points(heat))
		return false;
	memset(heat->counts, 0, (size_t)heat->lanes * heat->width * sizeof(*heat->counts));
	if (!heat->columns)
		return count_marks(heat);
	count_points(heat);
	return true;
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
		if (!heat->columns || weft__render_column_is_hot(heat->columns, column))
			count += heat->counts[(size_t)lane * heat->width + column];
	if (count == 0)
		return 0;
	return count <= 4 * GROUP ? 1 : count <= 32 * GROUP ? 2 : SHADES;
}

static void draw_lane(struct heat *heat, uint32_t lane, double line)
{
	static const double alphas[SHADES + 1] = {0, 0.55, 0.75, 0.95};
	double x0 = heat->p->x0, y = heat->p->lanes[heat->first + lane].y + BELOW + line;
	uint32_t color = color_of(heat->p, heat->type), begin = 0, column = 0;
	unsigned run = 0;
	for (; column < heat->width + GROUP; column += GROUP) {
		unsigned next = column < heat->width ? shade(heat, lane, column) : 0;
		if (next == run)
			continue;
		if (run)
			weft_canvas_rect(heat->p->canvas, x0 + begin, y, x0 + column, y + 1,
				weft__render_faded(color, alphas[run]));
		run = next;
		begin = column;
	}
}

static void draw_types(struct heat *heat)
{
	static const uint8_t types[] = {
		WEFT_EDGE_READ, WEFT_EDGE_RESOLVE, WEFT_EDGE_TRY_READ, WEFT_EDGE_SIGNAL, WEFT_EDGE_RECEIVE};
	for (unsigned i = 0; i < sizeof(types); i++) {
		heat->type = types[i];
		if (!count_type(heat))
			continue;
		for (uint32_t lane = 0; lane < heat->lanes; lane++)
			draw_lane(heat, lane, i);
	}
}

/* Finds the rows that have room. */
static bool find_room(struct heat *heat)
{
	const struct painter *p = heat->p;
	uint32_t last = p->lane_count;
	while (heat->first < last && !has_room(p, &p->lanes[heat->first]))
		heat->first++;
	while (last > heat->first && !has_room(p, &p->lanes[last - 1]))
		last--;
	heat->lanes = last - heat->first;
	heat->has_room = malloc(heat->lanes + (size_t)1);
	for (uint32_t i = 0; heat->has_room && i < heat->lanes; i++)
		heat->has_room[i] = has_room(p, &p->lanes[heat->first + i]);
	return heat->has_room;
}

static bool allocate(struct heat *heat)
{
	const size_t ranges = 2 * (size_t)heat->lanes + 2, columns = heat->width + (size_t)1;
	heat->counts = malloc(((size_t)heat->lanes * heat->width + 1) * sizeof(*heat->counts));
	if (!heat->columns)
		return heat->counts;
	heat->firsts = malloc(ranges * sizeof(*heat->firsts));
	heat->lane_of_range = malloc(ranges * sizeof(*heat->lane_of_range));
	heat->scratch = malloc(columns * (WEFT__POINT_LEVELS + 1) * sizeof(*heat->scratch));
	heat->keys = malloc(columns * sizeof(*heat->keys));
	heat->bounds = malloc(columns * sizeof(*heat->bounds));
	return heat->counts && heat->firsts && heat->lane_of_range && heat->scratch && heat->keys &&
		   heat->bounds;
}

void weft__render_draw_heat(struct painter *p, const struct weft__heat_mark *marks, uint32_t count)
{
	struct heat heat = {
		.p = p,
		.columns = p->edge_columns,
		.marks = marks,
		.mark_count = count,
		.width = (uint32_t)(p->frame->picture.width + 1),
	};
	if (!heat.columns && count == 0)
		return;
	if (find_room(&heat) && allocate(&heat))
		draw_types(&heat);
	else
		p->error = WEFT_ERROR_MEMORY;
	free(heat.has_room);
	free(heat.counts);
	free(heat.firsts);
	free(heat.lane_of_range);
	free(heat.scratch);
	free(heat.keys);
	free(heat.bounds);
}
