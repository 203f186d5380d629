/* SPDX-License-Identifier: ISC
 *
 * Counts the rows above and below the picture, or merged by the lens, that have tasks at the
 * visible time. Notes at the edges of the picture show the numbers and lead there: see toolbar.c.
 */
#include <math.h>

#include "base/search.h"
#include "render/rows.h"
#include "viewer/state.h"

struct weft__outside weft__viewer_outside(
	const struct weft_viewer *viewer, const struct weft_view *view)
{
	const uint32_t *before = viewer->heights.before;
	uint32_t rows = viewer->layout->row_count;
	double first, last;
	if (rows == 0 || viewer->heights.scene != viewer->scene || view->row_count != rows)
		return (struct weft__outside){0, 0, 0, 0};
	weft_view_rows_spaced(view, WEFT__LANE_HEIGHT, &first, &last);
	uint32_t from = (uint32_t)fmin(ceil(first), rows - 1.0), to = (uint32_t)fmax(last, from) + 1;
	return (struct weft__outside){
		.above = before[from],
		.below = before[rows] - before[to],
		.last_above = weft__lower_bound_u32(before, rows + 1, before[from]) - 1,
		.first_below = weft__lower_bound_u32(before, rows + 1, before[to] + 1) - 1,
	};
}

void weft__viewer_go_outside(struct weft_viewer *viewer, bool is_below)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	struct weft__outside outside = weft__viewer_outside(viewer, &view);
	if ((is_below ? outside.below : outside.above) == 0) {
		weft__viewer_show_message(
			viewer, "No row further %s has a task at the visible time.", is_below ? "down" : "up");
		return;
	}
	weft__viewer_remember(viewer, true);
	weft_view_set_focus(&view, is_below ? outside.first_below : outside.last_above);
	weft__viewer_glide(viewer, &view);
}
