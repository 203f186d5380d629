/* SPDX-License-Identifier: ISC
 *
 * Draws a frame, from back to front, in the order of docs/model.md.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/options.h"
#include "render/painter.h"

/* The text that is shown instead of an empty picture. */
static const char *why_nothing(const struct painter *p)
{
	if (p->model->summary.events == 0)
		return "The trace is valid, but has no events: nothing was recorded.";
	if (p->model->tasks.count == 0)
		return "This trace has no tasks: its events name none.";
	return "All tasks are hidden.";
}

static void draw_nothing(struct painter *p)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {p->theme->dim, 13, false, false, 0};
	const char *text = why_nothing(p);
	double room = box->width - 2 * WEFT_VIEW_MARGIN;
	double width = fmin(weft__measure(p, text, &style), room);
	weft__put_text(p, box->x + (box->width - width) / 2, box->y + box->height / 2,
		(struct weft_slice){text, strlen(text)}, room, &style);
}

static void draw_picture(struct painter *p)
{
	const struct weft_box *box = &p->frame->picture;
	weft_canvas_clip(p->canvas, box->x, box->y, box->x + box->width, box->y + box->height);
	weft__draw_bands(p);
	weft__draw_losses(p);
	weft__draw_grid(p);
	weft__make_lanes(p);
	if (!p->error)
		weft__rule_groups(p);
	weft__find_edges(p);
	if (!p->error)
		weft__make_pieces(p);
	weft__place_counters(p);
	if (!p->error) {
		weft__draw_grounds(p);
		weft__draw_links(p);
		weft__draw_tasks(p);
		weft__draw_arrows(p);
		weft__draw_highlight(p);
		weft__draw_marks(p);
	}
	if (!p->error)
		weft__draw_counters(p);
	if (!p->error)
		weft__name_bands(p); /* from here on above the counters, which would cross out the text */
	if (!p->error)
		weft__name_folds(p);
	if (!p->error)
		weft__draw_names(p);
	if (!p->error)
		weft__label_waits(p);
	if (!p->error)
		weft__draw_handles(p);
	if (p->layout->row_count == 0)
		draw_nothing(p);
	weft_canvas_unclip(p->canvas);
	if (!p->error)
		weft__name_groups(p);
	weft__name_counters(p);
}

static void draw_frame(struct painter *p)
{
	weft_canvas_rect(p->canvas, 0, 0, p->frame->width, p->frame->height, p->theme->background);
	weft__draw_title(p);
	weft__draw_strip(p);
	weft__draw_ruler(p);
	draw_picture(p);
	weft__draw_status(p);
}

/* Finds the times at the edges, so that things outside can be skipped by comparing times. */
static void find_edges(struct painter *p)
{
	p->left = weft_view_time(p->view, 0);
	p->right = weft_view_time(p->view, p->frame->picture.width);
	if (p->right < UINT64_MAX)
		p->right++; /* inclusive: a task that starts there is visible */
}

WEFT__EXPORT int weft_render_frame(const struct weft_scene *scene, const struct weft_frame *frame,
	const struct weft_view *view, const struct weft_render_options *given,
	struct weft_canvas *canvas)
{
	struct weft_render_options known;
	const struct weft_render_options *options = &known;
	WEFT__OPTIONS_COPY(&known, given);
	struct painter p = {
		.scene = scene,
		.model = scene->model,
		.layout = scene->layout,
		.frame = frame,
		.view = view,
		.options = options,
		.font = options->font ? options->font : &weft_font_builtin,
		.theme = weft__theme(options->theme),
		.canvas = canvas,
		.x0 = frame->picture.x,
		.y0 = frame->picture.y,
	};
	p.occupied = weft__occupied_create(frame->picture.y, frame->picture.y + frame->picture.height);
	p.bars = weft__bars_create(&p);
	find_edges(&p);
	if (p.occupied && p.bars)
		draw_frame(&p);
	if (!p.occupied || !p.bars || weft__occupied_failed(p.occupied))
		p.error = WEFT_ERROR_MEMORY;
	weft__occupied_destroy(p.occupied);
	weft__bars_destroy(p.bars);
	free(p.lanes);
	free(p.pieces);
	if (p.edge_columns)
		weft__edge_columns_finish(p.edge_columns);
	free(p.edge_columns);
	free(p.curves);
	free(p.named);
	free(p.marks);
	return p.error ? p.error : weft_canvas_error(canvas);
}
