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
	double width = fmin(weft__render_measure(p, text, &style), room);
	weft__render_put_text(p, box->x + (box->width - width) / 2, box->y + box->height / 2,
		(struct weft_slice){text, strlen(text)}, room, &style);
}

static void begin_picture(struct painter *p)
{
	const struct weft_box *box = &p->frame->picture;
	weft_canvas_clip(p->canvas, box->x, box->y, box->x + box->width, box->y + box->height);
}

static void end_picture(struct painter *p)
{
	if (p->layout->row_count == 0)
		draw_nothing(p);
	weft_canvas_unclip(p->canvas);
}

static void draw_background(struct painter *p)
{
	weft_canvas_rect(p->canvas, 0, 0, p->frame->width, p->frame->height, p->theme->background);
}

static void draw_grid(struct painter *p)
{
	weft__render_draw_grid(p, &p->frame->picture);
}

static void begin(struct painter *p)
{
	const struct weft_box *box = &p->frame->picture;
	p->occupied = weft__render_occupied_create(box->y, box->y + box->height);
	p->bars = weft__render_bars_create(p);
	p->spans = weft__render_spans_create();
	if (!p->occupied || !p->bars || !p->spans)
		p->error = WEFT_ERROR_MEMORY;
}

static void end(struct painter *p)
{
	if (weft__render_occupied_failed(p->occupied))
		p->error = WEFT_ERROR_MEMORY;
}

/* From back to front. A step that has no memory sets the painter's error, and the steps after it,
 * which need what it makes, are left out. */
static void (*const steps[])(struct painter *) = {
	begin,
	draw_background,
	weft__render_draw_title,
	weft__render_draw_strip,
	weft__render_draw_ruler,
	weft__render_draw_counter_lanes,
	begin_picture,
	weft__render_draw_bands,
	weft__render_draw_losses,
	weft__render_draw_unread,
	draw_grid,
	weft__render_make_lanes,
	weft__render_rule_groups,
	weft__render_find_edges,
	weft__render_make_pieces,
	weft__render_arrange_counters,
	weft__render_draw_grounds,
	weft__render_draw_links,
	weft__render_draw_tasks,
	weft__render_draw_arrows,
	weft__render_draw_stripes,
	weft__render_draw_highlight,
	weft__render_draw_marks,
	weft__render_draw_counters,
	weft__render_name_folds, /* from here on above the counters, which would cross out the text */
	weft__render_draw_names,
	weft__render_name_spans,
	weft__render_name_bands,
	weft__render_label_waits,
	weft__render_name_stubs,
	weft__render_draw_handles,
	weft__render_draw_alerts,
	end_picture,
	weft__render_name_groups,
	weft__render_name_counters,
	weft__render_draw_status,
	end,
};

/* The same without the picture. */
static void (*const steps_around[])(struct painter *) = {
	draw_background,
	weft__render_draw_title,
	weft__render_draw_strip,
	weft__render_draw_ruler,
	weft__render_draw_status_text,
};

static void finish(struct painter *p)
{
	weft__render_occupied_destroy(p->occupied);
	weft__render_bars_destroy(p->bars);
	weft__render_spans_destroy(p->spans);
	free(p->lanes);
	free(p->pieces);
	if (p->edge_columns)
		weft__render_edge_columns_finish(p->edge_columns);
	free(p->edge_columns);
	free(p->curves);
	free(p->named);
	free(p->stub_names);
	free(p->marks);
}

/* The time at the right edge. It is inclusive: a task that starts there is visible. */
static uint64_t right_edge(const struct weft_frame *frame, const struct weft_view *view)
{
	uint64_t right = weft_view_time(view, frame->picture.width);
	return right < UINT64_MAX ? right + 1 : right;
}

static struct painter painter_of(const struct weft_scene *scene, const struct weft_frame *frame,
	const struct weft_view *view, const struct weft_render_options *options,
	struct weft_canvas *canvas)
{
	return (struct painter){
		.scene = scene,
		.model = scene->model,
		.layout = scene->layout,
		.frame = frame,
		.view = view,
		.options = options,
		.font = options->font ? options->font : &weft_font_builtin,
		.theme = weft__render_theme(options->theme),
		.x0 = frame->picture.x,
		.y0 = frame->picture.y,
		.left = weft_view_time(view, 0),
		.right = right_edge(frame, view),
		.canvas = canvas,
	};
}

int weft__render_around(const struct weft_scene *scene, const struct weft_frame *frame,
	const struct weft_view *view, const struct weft_render_options *options,
	struct weft_canvas *canvas)
{
	struct painter p = painter_of(scene, frame, view, options, canvas);
	for (unsigned i = 0; i < sizeof(steps_around) / sizeof(steps_around[0]); i++)
		steps_around[i](&p);
	return p.error ? p.error : weft_canvas_error(canvas);
}

int weft__render_things_render(struct weft__things *things, const struct weft_scene *scene,
	const struct weft_frame *frame, const struct weft_view *view,
	const struct weft_render_options *options, struct weft_canvas *canvas)
{
	struct painter p = painter_of(scene, frame, view, options, canvas);
	p.things = things;
	weft__render_things_clear(things);
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]) && !p.error; i++)
		steps[i](&p);
	if (things && !p.error)
		weft__render_keep_things(&p);
	else
		weft__render_things_clear(things);
	finish(&p);
	return p.error ? p.error : weft_canvas_error(canvas);
}

WEFT__EXPORT int weft_render_frame(const struct weft_scene *scene, const struct weft_frame *frame,
	const struct weft_view *view, const struct weft_render_options *given,
	struct weft_canvas *canvas)
{
	struct weft_render_options options;
	WEFT__OPTIONS_COPY(&options, given);
	return weft__render_things_render(NULL, scene, frame, view, &options, canvas);
}
