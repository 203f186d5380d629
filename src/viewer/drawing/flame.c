/* SPDX-License-Identifier: ISC
 *
 * Draws the flame graph over the tasks, with a sentence above it and its colours below.
 */
#include <stdio.h>
#include <string.h>

#include "profile/graph.h"
#include "render/theme.h"
#include "viewer/state.h"

#define TEXT_SIZE 12.0

const char *weft__viewer_explain_no_flame(const struct weft_viewer *viewer)
{
	const struct weft__flame_view *f = &viewer->flame;
	if (f->is_making)
		return "Making the flame graph \xe2\x80\xa6 Escape ends it.";
	if (f->is_ended)
		return "The flame graph was not made.";
	if (f->is_cpu && viewer->is_live)
		return "A trace that grows has no samples of what threads ran yet.";
	return f->is_cpu
			   ? "No samples of what threads ran here; `weft record --samples 99` takes them."
			   : "No waits here whose calls were noted; the adapters of `weft record` note them.";
}

/* "Where threads waited: 702 ms in 454 waits, within 168 ms", or why there is nothing. */
static void write_head(const struct weft_viewer *viewer, char *text, size_t size)
{
	const struct weft__flame_view *f = &viewer->flame;
	const uint64_t begin = viewer->model->summary.start;
	if (f->is_making || f->is_ended || !f->profile || !weft_profile_weight(f->profile))
		snprintf(text, size, "%s", weft__viewer_explain_no_flame(viewer));
	else
		weft_profile_describe(
			f->profile, f->part.from > begin ? f->part.from - begin : 0, text, size);
}

int weft__viewer_draw_flame(const struct weft_viewer *viewer, struct weft_canvas *canvas)
{
	const struct weft__theme *theme = weft__render_theme(viewer->theme);
	const struct weft__profile_graph *graph = viewer->flame.graph;
	const struct weft_box box = weft__viewer_flame_box(viewer);
	const struct weft_text_style style = {theme->dim, TEXT_SIZE, false, false, 0};
	struct weft__profile_drawing d = {.canvas = canvas,
		.font = viewer->font ? viewer->font : &weft_font_builtin,
		.top = weft__viewer_flame_top(viewer),
		.from = box.y + WEFT__FLAME_HEAD,
		.to = box.y + box.height,
		.dim = theme->dim,
		.hovered = viewer->flame.hovered};
	char text[200];
	int error = 0;
	write_head(viewer, text, sizeof(text));
	weft_canvas_clip(canvas, box.x, box.y, box.x + box.width, box.y + box.height);
	weft_canvas_rect(
		canvas, box.x, box.y, box.x + box.width, box.y + box.height, theme->background);
	weft__profile_draw_words(&d, WEFT__FLAME_MARGIN, box.y + WEFT__FLAME_HEAD - 10,
		box.width - 2 * WEFT__FLAME_MARGIN, (struct weft_slice){text, strlen(text)}, style);
	weft_canvas_clip(canvas, box.x, d.from, box.x + box.width, d.to);
	if (graph) {
		const double below = d.top + graph->rows * WEFT__GRAPH_ROW + WEFT__FLAME_GAP;
		error = weft__profile_graph_draw(graph, &d);
		weft__profile_graph_draw_legend(
			graph, &d, WEFT__FLAME_MARGIN, below, box.width - WEFT__FLAME_MARGIN);
	}
	weft_canvas_unclip(canvas);
	weft_canvas_unclip(canvas);
	return error;
}
