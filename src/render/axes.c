/* SPDX-License-Identifier: ISC
 *
 * Converts times and rows to pixels for all painters.
 */
#include <math.h>

#include "render/painter.h"

double weft__render_x(const struct painter *p, uint64_t time)
{
	return p->x0 + weft_view_x(p->view, time);
}

double weft__render_y(const struct painter *p, uint32_t row)
{
	const struct weft__lane *lane = &p->lanes[weft__render_lane_of_row(p, row)];
	if (row - lane->first_row >= lane->row_count) /* outside the view */
		return p->y0 + weft_view_y(p->view, row);
	return lane->y;
}

bool weft__render_draws_edge(const struct painter *p, uint32_t a, uint32_t b)
{
	return weft__render_scene_draws_edge(p->scene, a, b);
}

/* The threshold is 1.5 times the number that have room beside each other. */
bool weft__render_is_dense(const struct weft_fold *fold)
{
	return (double)fold->p50_ns * fold->count > 1.5 * (double)(fold->end - fold->start);
}

double weft__render_crisp(double at)
{
	return floor(at) + 0.5;
}
