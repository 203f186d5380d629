/* SPDX-License-Identifier: ISC
 *
 * The view's window in the overview: the user drags it by its middle or its edges; a drag outside
 * it chooses a new range for the view.
 */
#include <math.h>

#include "viewer/state.h"

#define EDGE_PX 6.0
#define TOUCHED 16.0 /* px, for fingers */
#define THIN    3    /* in reaches: in a narrower window, a press inside drags the whole window */

struct weft__strip weft__viewer_strip(const struct weft_viewer *viewer)
{
	return weft__render_strip_of(&viewer->frame.strip, &viewer->view);
}

enum weft__drag weft__viewer_strip_part(const struct weft_viewer *viewer, double x)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	const struct weft__strip strip = weft__viewer_strip(viewer);
	double start = weft__render_strip_x(&strip, weft_view_time(view, 0));
	double end = weft__render_strip_x(&strip, weft_view_time(view, view->width));
	double reach = viewer->pointer.is_touch ? TOUCHED : EDGE_PX;
	double edge =
		end - start < THIN * reach ? 0 : reach; /* a narrow window is dragged as a whole */
	bool is_all = weft__view_duration(view) >= (double)(view->end - view->start) * 0.999;
	if (fabs(x - start) <= reach && x < start + edge + 1)
		return WEFT__DRAG_WINDOW_START;
	if (fabs(x - end) <= reach && x > end - edge - 1)
		return WEFT__DRAG_WINDOW_END;
	if (x > start && x < end && !is_all)
		return WEFT__DRAG_WINDOW;
	return WEFT__DRAG_STRIP_RANGE;
}

void weft__viewer_press_strip(struct weft_viewer *viewer, double x)
{
	struct weft__pointer *p = &viewer->pointer;
	p->drag = weft__viewer_strip_part(viewer, x);
	weft__viewer_remember(viewer, true);
	const struct weft__strip strip = weft__viewer_strip(viewer);
	p->held_x = x - strip.area.x - weft__view_x_of(&strip.view, viewer->view.left);
}

static void move_edge(struct weft_viewer *viewer, uint64_t time, bool is_start)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	uint64_t start = weft__viewer_start(&view);
	uint64_t end = weft_view_time(&view, view.width - WEFT_VIEW_MARGIN);
	if (is_start)
		start = time < end ? time : end;
	else
		end = time > start ? time : start;
	weft_view_set_range(&view, start, (double)(end - start));
	weft__viewer_jump(viewer, &view);
}

/* Shows a range that is chosen outside the window at once, so that the user sees it while
 * dragging. */
static void choose(struct weft_viewer *viewer, double x)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	const struct weft__strip strip = weft__viewer_strip(viewer);
	uint64_t from = weft__render_strip_time(&strip, viewer->pointer.press_x);
	uint64_t to = weft__render_strip_time(&strip, x);
	if (fabs(x - viewer->pointer.press_x) < EDGE_PX)
		return;
	weft_view_set_range(&view, from < to ? from : to, (double)(from < to ? to - from : from - to));
	weft__viewer_jump(viewer, &view);
}

void weft__viewer_drag_strip(struct weft_viewer *viewer, double x)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	const struct weft__strip strip = weft__viewer_strip(viewer);
	enum weft__drag drag = viewer->pointer.drag;
	if (drag == WEFT__DRAG_WINDOW) {
		double left = weft__view_ns(&strip.view, x - strip.area.x - viewer->pointer.held_x);
		weft_view_pan(&view, -weft__view_x_of(&view, left));
		weft__viewer_jump(viewer, &view);
	} else if (drag == WEFT__DRAG_WINDOW_START || drag == WEFT__DRAG_WINDOW_END) {
		move_edge(viewer, weft__render_strip_time(&strip, x), drag == WEFT__DRAG_WINDOW_START);
	} else {
		choose(viewer, x);
	}
}
