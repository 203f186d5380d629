/* SPDX-License-Identifier: ISC
 *
 * Wheels and touchpads zoom at the pointer, with Shift they move in time, with Alt through rows. A
 * mouse's notches glide; a touchpad's steps are small and frequent enough without.
 */
#include <math.h>

#include "base/export.h"
#include "profile/graph.h"
#include "viewer/state.h"

#define NOTCH        120.0
#define ZOOM_A_NOTCH 1.2
#define ROWS_A_NOTCH 3.0
#define NOTCHES_MAX  20.0
#define COARSE       60.0 /* px; a larger step is a notch of a wheel, not a touchpad's */

static double limit(double px)
{
	return isfinite(px) ? fmin(fmax(px, -NOTCHES_MAX * NOTCH), NOTCHES_MAX * NOTCH) : 0;
}

/* Keeps the row under the pointer there, although the heights of the rows change. */
static void hold_row(struct weft_viewer *viewer, struct weft_view *view, double y)
{
	double row = weft_view_row(&viewer->view, y);
	weft__viewer_follow_view(viewer, view);
	if (view->rows.are_uneven && y > 0 && y < view->height)
		weft_view_drag_row(view, row, y);
}

WEFT__EXPORT void weft_viewer_wheel(struct weft_viewer *viewer, double x, double y, double dx,
	double dy, unsigned modifiers, double now_ms)
{
	weft__viewer_begin(viewer, now_ms);
	dx = limit(dx);
	dy = limit(dy);
	if (!viewer->model || !isfinite(x) || !isfinite(y))
		return;
	if (weft__viewer_is_over_flame(viewer, x, y)) {
		weft__viewer_scroll_flame(viewer, dy / NOTCH * ROWS_A_NOTCH * WEFT__GRAPH_ROW);
		weft__viewer_hover_flame(viewer, x, y);
		weft__viewer_settle(viewer);
		return;
	}
	struct weft_view view = *weft__viewer_wanted(viewer);
	if (modifiers & WEFT_VIEWER_SHIFT) {
		weft_view_pan(&view, -(dx + dy));
	} else if (modifiers & WEFT_VIEWER_ALT) {
		weft_view_pan_rows(&view, dy / NOTCH * ROWS_A_NOTCH);
	} else {
		weft_view_zoom(&view, x - viewer->frame.picture.x, pow(ZOOM_A_NOTCH, -dy / NOTCH));
		weft_view_pan(&view, -dx);
		hold_row(viewer, &view, y - viewer->frame.picture.y);
	}
	weft__viewer_remember(viewer, false);
	if (fmax(fabs(dx), fabs(dy)) >= COARSE)
		weft__viewer_glide(viewer, &view);
	else
		weft__viewer_jump(viewer, &view);
	weft__viewer_settle(viewer);
}

WEFT__EXPORT void weft_viewer_pinch(
	struct weft_viewer *viewer, double x, double y, double factor, double now_ms)
{
	weft__viewer_begin(viewer, now_ms);
	if (!viewer->model || !isfinite(x) || !isfinite(y) || !(factor > 0) || !isfinite(factor) ||
		weft__viewer_is_over_flame(viewer, x, y))
		return;
	struct weft_view view = *weft__viewer_wanted(viewer);
	weft__viewer_remember(viewer, false);
	weft_view_zoom(&view, x - viewer->frame.picture.x, factor);
	weft__viewer_jump(viewer, &view);
	weft__viewer_settle(viewer);
}
