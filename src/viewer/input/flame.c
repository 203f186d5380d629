/* SPDX-License-Identifier: ISC
 *
 * The flame graph under the pointer: it is in the place of the tasks and of the counters' lanes,
 * below the ruler, with a line of words above its boxes. A click zooms, wheel and drag scroll.
 */
#include <math.h>

#include "profile/graph.h"
#include "viewer/state.h"

struct weft_box weft__viewer_flame_box(const struct weft_viewer *viewer)
{
	const struct weft_frame *frame = &viewer->frame;
	const double top = frame->ruler.y + frame->ruler.height;
	const double bottom = frame->status.height > 0 ? frame->status.y : frame->height;
	return (struct weft_box){0, top, frame->width, fmax(bottom - top, 0)};
}

bool weft__viewer_is_over_flame(const struct weft_viewer *viewer, double x, double y)
{
	const struct weft_box box = weft__viewer_flame_box(viewer);
	return viewer->flame.is_shown && viewer->model && weft__viewer_inside(&box, x, y);
}

double weft__viewer_flame_top(const struct weft_viewer *viewer)
{
	return weft__viewer_flame_box(viewer).y + WEFT__FLAME_HEAD - viewer->flame.scroll;
}

void weft__viewer_hover_flame(struct weft_viewer *viewer, double x, double y)
{
	const struct weft_box box = weft__viewer_flame_box(viewer);
	struct weft__flame_view *f = &viewer->flame;
	const bool is_over = f->graph && y >= box.y + WEFT__FLAME_HEAD;
	f->hovered = is_over ? weft__profile_graph_at(f->graph, weft__viewer_flame_top(viewer), x, y)
						 : WEFT_NONE;
}

void weft__viewer_scroll_flame(struct weft_viewer *viewer, double px)
{
	const struct weft_box box = weft__viewer_flame_box(viewer);
	const struct weft__profile_drawing measured = {
		.font = viewer->font ? viewer->font : &weft_font_builtin};
	struct weft__flame_view *f = &viewer->flame;
	if (!f->graph)
		return;
	weft__profile_graph_place(
		f->graph, f->graph->zoom, WEFT__FLAME_MARGIN, fmax(box.width - 2 * WEFT__FLAME_MARGIN, 1));
	const double legend = WEFT__FLAME_HEAD + f->graph->rows * WEFT__GRAPH_ROW + WEFT__FLAME_GAP;
	const double height = weft__profile_graph_draw_legend(
		f->graph, &measured, WEFT__FLAME_MARGIN, legend, box.width - WEFT__FLAME_MARGIN);
	f->scroll = fmax(fmin(f->scroll + px, height - box.height), 0);
	viewer->changes |= px != 0 ? WEFT_VIEWER_CANVAS : 0;
}

bool weft__viewer_flame_is_zoomed(const struct weft_viewer *viewer)
{
	return viewer->flame.is_shown && viewer->flame.graph && viewer->flame.graph->zoom;
}

void weft__viewer_zoom_flame(struct weft_viewer *viewer, uint32_t node)
{
	struct weft__flame_view *f = &viewer->flame;
	if (!f->graph || node >= f->graph->tree.count)
		return;
	f->graph->zoom = node;
	f->hovered = WEFT_NONE;
	weft__viewer_scroll_flame(viewer, 0);
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_FLAME;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}
