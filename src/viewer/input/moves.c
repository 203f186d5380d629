/* SPDX-License-Identifier: ISC
 *
 * Moves of the view in steps: each starts from the target of the current glide.
 */
#include "viewer/state.h"

uint64_t weft__viewer_start(const struct weft_view *view)
{
	return weft_view_time(view, WEFT_VIEW_MARGIN);
}

void weft__viewer_zoom(struct weft_viewer *viewer, double x, double factor)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	weft__viewer_remember(viewer, false);
	weft_view_zoom(&view, x, factor);
	weft__viewer_glide(viewer, &view);
}

/* Moves the picture by dx and dy px. */
void weft__viewer_pan(struct weft_viewer *viewer, double dx, double dy)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	weft__viewer_remember(viewer, false);
	weft_view_pan(&view, dx);
	if (dy != 0)
		weft_view_pan_rows(&view, -dy / view.rows.spacing);
	weft__viewer_glide(viewer, &view);
}

void weft__viewer_fit(struct weft_viewer *viewer)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	weft__viewer_remember(viewer, true);
	weft_view_fit(&view);
	weft__viewer_glide(viewer, &view);
}

void weft__viewer_show_range(struct weft_viewer *viewer, uint64_t start, double duration)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	weft__viewer_remember(viewer, true);
	weft_view_set_range(&view, start, duration);
	weft__viewer_glide(viewer, &view);
}
