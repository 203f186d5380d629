/* SPDX-License-Identifier: ISC
 *
 * Lanes: rows that are too close to be distinguished share a lane, so that there are never more
 * lanes than the height has room for, however many rows there are. Rows outside the view (plain
 * rows can be) have no lane.
 */
#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "render/painter.h"

/* Makes a lane of many rows end with a block, so that whole blocks can be counted; this moves its
 * edge by less than a pixel. */
static uint32_t snap(const struct painter *p, uint32_t row, uint32_t next)
{
	const struct weft__blocks *blocks = &p->scene->census.blocks;
	uint32_t block = weft__render_census_block(blocks, next), first = blocks->first[block];
	bool is_near = first > row && (next - first) * 4 <= next - row;
	return next < p->layout->row_count && is_near ? first : next;
}

/* The first row of the next lane. */
static uint32_t end_of_lane(const struct painter *p, uint32_t row, double y, double spacing)
{
	uint32_t rows = p->layout->row_count;
	if (spacing >= WEFT__LANE_HEIGHT)
		return row + 1;
	double below = weft_view_row(p->view, y + WEFT__LANE_HEIGHT);
	uint32_t next = below >= rows - 1 ? rows : (uint32_t)ceil(below);
	return next <= row ? row + 1 : snap(p, row, next);
}

void weft__render_make_lanes(struct painter *p)
{
	uint32_t rows = p->layout->row_count, capacity;
	capacity = 2 + (uint32_t)(p->view->height / WEFT__LANE_HEIGHT * 2);
	p->lanes = malloc(capacity * sizeof(*p->lanes));
	if (!p->lanes) {
		p->error = WEFT_ERROR_MEMORY;
		return;
	}
	double first, last;
	weft_view_rows_seen(p->view, &first, &last); /* plain rows may be outside the view */
	uint32_t end = rows && last + 2 < rows ? (uint32_t)last + 2 : rows;
	for (uint32_t row = rows ? (uint32_t)first : 0, next; row < end; row = next) {
		double y = weft_view_y(p->view, row), spacing = weft_view_row_spacing(p->view, row);
		next = p->lane_count + 1 == capacity ? end : end_of_lane(p, row, y, spacing);
		double last_y = weft_view_y(p->view, next - 1), shift = 0;
		if (p->options->row_shifts && next - row == 1)
			shift = p->options->row_shifts[row] * p->options->row_shift;
		p->lanes[p->lane_count++] = (struct weft__lane){
			.first_row = row,
			.row_count = next - row,
			.y = floor(p->y0 + (y + last_y) / 2 + shift),
			.spacing = fmax(spacing, last_y - y),
		};
	}
}

static bool begins_by(const void *lanes, uint32_t lane, uint64_t row)
{
	return ((const struct weft__lane *)lanes)[lane].first_row <= row;
}

uint32_t weft__render_lane_of_row(const struct painter *p, uint32_t row)
{
	uint32_t count = p->lane_count > 1 ? p->lane_count : 1;
	return weft__search_flat(p->lanes, 1, count, begins_by, row) - 1;
}
