/* SPDX-License-Identifier: ISC
 *
 * Sliding rows: after a new layout each row slides from where its tasks were to where they are now,
 * so that eyes can follow. The view is the new one at once; each row has a shift in px that fades
 * to 0. Rows do not slide while a trace is followed, or if there are too many.
 */
#include <math.h>
#include <stdlib.h>

#include "render/rows.h"
#include "viewer/state.h"

#define ROWS_MAX 65536u

/* The y at which a row of the current layout is drawn, with the rest of its slide. */
static double seen_y(const struct weft_viewer *viewer, uint32_t row)
{
	const struct weft__slide *slide = &viewer->slide;
	double shift = slide->is_running && row < slide->count ? slide->shifts[row] * slide->share : 0;
	return weft_view_y(&viewer->view, row) + shift;
}

void weft__viewer_slide_prepare(
	struct weft_viewer *viewer, const struct weft_layout *layout, const struct weft_scene *scene)
{
	struct weft__slide *slide = &viewer->slide;
	uint32_t rows = layout->row_count;
	bool is_wanted = !viewer->reduced_motion && !viewer->is_following && rows <= ROWS_MAX;
	uint64_t left = weft_view_time(&viewer->view, 0);
	double *ys = is_wanted ? malloc((rows + (size_t)1) * sizeof(*ys)) : NULL;
	for (uint32_t i = 0; ys && i < rows; i++) {
		uint32_t task = weft__render_row_task_at(scene, i, left);
		uint32_t row = task == WEFT_NONE ? WEFT_NONE : viewer->layout->row[task];
		ys[i] = row == WEFT_NONE ? (double)NAN : seen_y(viewer, row);
	}
	weft__viewer_slide_stop(viewer);
	slide->shifts = ys;
	slide->count = ys ? rows : 0;
}

/* A row without earlier tasks, such as a heading, slides with the row above. */
void weft__viewer_slide_begin(struct weft_viewer *viewer)
{
	struct weft__slide *slide = &viewer->slide;
	double shift = 0, height = viewer->frame.picture.height;
	for (uint32_t i = 0; i < slide->count; i++) {
		double spacing = weft_view_row_spacing(&viewer->view, i);
		if (!isnan(slide->shifts[i]))
			shift = slide->shifts[i] - weft_view_y(&viewer->view, i);
		shift = fmin(fmax(shift, -height), height);
		slide->shifts[i] = spacing < WEFT__LANE_HEIGHT ? 0 : shift;
		slide->is_running = slide->is_running || fabs(slide->shifts[i]) >= 1;
	}
	slide->begin_ms = viewer->now_ms;
	slide->share = 1;
	if (!slide->is_running)
		weft__viewer_slide_stop(viewer);
}

void weft__viewer_slide_move_on(struct weft_viewer *viewer)
{
	struct weft__slide *slide = &viewer->slide;
	double left = 1 - (viewer->now_ms - slide->begin_ms) / WEFT__SLIDE_MS;
	if (!slide->is_running)
		return;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	slide->share = left * left * left;
	if (left <= 0)
		weft__viewer_slide_stop(viewer);
}

void weft__viewer_slide_stop(struct weft_viewer *viewer)
{
	free(viewer->slide.shifts);
	viewer->slide = (struct weft__slide){.shifts = NULL};
}
