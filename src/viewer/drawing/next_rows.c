/* SPDX-License-Identifier: ISC
 *
 * Lays out the rows after another choice, and makes what is drawn of them: in steps between inputs
 * if the trace is large. Until the last step the viewer has its former choice and rows, to which
 * nothing happens if the user ends it or memory runs out.
 */
#include <math.h>
#include <stdlib.h>

#include "layout/maker.h"
#include "render/scene_maker.h"
#include "render/things.h"
#include "story/filtering.h"
#include "viewer/state.h"

#define FRAME_STEPS 2 /* of some milliseconds each, but for passes over all tasks */

/* The choice, and what has been made so far: the filter's result, then the layout, then the scene.
 */
struct weft__next_rows {
	struct weft__rows rows;
	uint32_t anchor; /* the task that keeps its height; WEFT_NONE: the one in focus at the end */
	double focus;    /* the row in focus at the end; NAN: by the anchor */
	struct weft__filtering *filtering;
	struct weft__layout_maker *layout_maker;
	struct weft__scene_maker *scene_maker;
	uint8_t *hidden;
	struct weft_layout *layout;
	struct weft_scene *scene;
};

/* Frees all but the choice. */
static void drop_made(struct weft__next_rows *next)
{
	weft__story_filtering_destroy(next->filtering);
	weft__layout_maker_destroy(next->layout_maker);
	weft__render_scene_maker_destroy(next->scene_maker);
	free(next->hidden);
	weft_scene_destroy(next->scene);
	weft_layout_destroy(next->layout);
}

void weft__viewer_forget_next_rows(struct weft_viewer *viewer)
{
	struct weft__next_rows *next = viewer->next_rows;
	if (!next)
		return;
	drop_made(next);
	weft__viewer_rows_finish(&next->rows);
	free(next);
	viewer->next_rows = NULL;
}

void weft__viewer_settle_rows(struct weft_viewer *viewer)
{
	struct weft__next_rows *next = viewer->next_rows;
	if (!next)
		return;
	weft__viewer_rows_finish(&viewer->rows);
	viewer->rows = next->rows;
	next->rows = (struct weft__rows){.no_fold = false};
	weft__viewer_forget_next_rows(viewer);
}

const struct weft__rows *weft__viewer_wanted_rows(const struct weft_viewer *viewer)
{
	return viewer->next_rows ? &viewer->next_rows->rows : &viewer->rows;
}

void weft__viewer_focus_next_rows(struct weft_viewer *viewer, double focus)
{
	if (viewer->next_rows)
		viewer->next_rows->focus = focus;
}

/* The task that keeps its height: the selected one, or one in the middle of the picture. */
static uint32_t anchor_of(struct weft_viewer *viewer)
{
	const struct weft_box *box = &viewer->frame.picture;
	uint32_t task = viewer->selection.task;
	struct weft__hit hit;
	if (task != WEFT_NONE && viewer->layout->row[task] != WEFT_NONE)
		return task;
	weft__viewer_hit(viewer, box->x + box->width / 2, box->y + box->height / 2, &hit);
	return hit.count ? hit.tasks[0] : WEFT_NONE;
}

static void take_layout(
	struct weft_viewer *viewer, struct weft_layout *layout, struct weft_scene *scene)
{
	weft__render_things_clear(viewer->things);
	weft__viewer_forget_heights(viewer);
	weft_scene_destroy(viewer->scene);
	weft_layout_destroy(viewer->layout);
	viewer->layout = layout;
	viewer->scene = scene;
	viewer->story.layout = layout;
	weft__viewer_survey_relayout(viewer);
	viewer->view.row_count = layout->row_count;
	viewer->hover.fold = viewer->hover.wanted_fold = viewer->hover.handle = WEFT_NONE;
	viewer->hover.max = WEFT_NONE;
	viewer->measured_fold.fold = WEFT_NONE;
	weft__viewer_forget_statistics(viewer); /* tasks may have other starts and parents */
}

/* Shows the layout; `anchor`, if it is not WEFT_NONE, keeps its height. */
static void show_layout(struct weft_viewer *viewer, struct weft_layout *layout,
	struct weft_scene *scene, uint32_t anchor, double focus)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	double y = view.height / 2;
	if (anchor != WEFT_NONE && viewer->layout->row[anchor] == WEFT_NONE)
		anchor = WEFT_NONE;
	if (anchor != WEFT_NONE)
		y = weft_view_y(&view, viewer->layout->row[anchor]);
	weft__viewer_slide_prepare(viewer, layout, scene);
	weft__viewer_halt(viewer);
	take_layout(viewer, layout, scene);
	view.row_count = layout->row_count;
	view.focus = isnan(focus) ? view.focus : focus;
	viewer->view = view;
	weft__viewer_arrange(viewer); /* groups need a gutter */
	weft__viewer_follow_view(viewer, &viewer->view);
	if (isnan(focus) && anchor != WEFT_NONE && layout->row[anchor] != WEFT_NONE)
		weft_view_drag_row(&viewer->view, layout->row[anchor], y);
	weft__viewer_slide_begin(viewer);
	weft__viewer_hover_nothing(viewer);
	viewer->panel.is_stale = true;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

/* Shows what has been made, and makes its choice the viewer's. */
static void take_made(struct weft_viewer *viewer)
{
	struct weft__next_rows *next = viewer->next_rows;
	uint32_t anchor = next->anchor == WEFT_NONE ? anchor_of(viewer) : next->anchor;
	show_layout(viewer, next->layout, next->scene, anchor, next->focus);
	next->layout = NULL;
	next->scene = NULL;
	weft__viewer_settle_rows(viewer);
}

/* Goes on with the part that is being made, and begins the next one when it is done. */
static int step(const struct weft_model *model, struct weft__next_rows *next)
{
	int status;
	if (next->scene_maker)
		return weft__render_scene_maker_step(next->scene_maker, &next->scene);
	if (next->layout_maker) {
		status = weft__layout_maker_step(next->layout_maker, &next->layout);
		if (!status)
			status = weft__render_scene_maker_create(model, next->layout, &next->scene_maker);
	} else if (next->rows.filter[0] && !next->hidden) {
		status = next->filtering
					 ? weft__story_filtering_step(next->filtering, &next->hidden)
					 : weft__story_filtering_create(model, next->rows.filter, &next->filtering);
	} else {
		const struct weft_layout_options options =
			weft__viewer_rows_options(&next->rows, next->hidden);
		status = weft__layout_maker_create(model, &options, &next->layout_maker);
	}
	return status ? status : WEFT_AGAIN;
}

void weft__viewer_no_memory_for_rows(struct weft_viewer *viewer)
{
	weft__viewer_show_message(viewer, "Memory ran out: the rows are as before.");
}

/* Does some steps, or all for a small trace. */
static int do_steps(struct weft_viewer *viewer)
{
	int status = WEFT_AGAIN;
	bool is_small = weft__viewer_is_small(viewer);
	for (unsigned i = 0; status == WEFT_AGAIN && (is_small || i < FRAME_STEPS); i++)
		status = step(viewer->model, viewer->next_rows);
	if (status == WEFT_AGAIN)
		return status;
	if (!status) {
		take_made(viewer);
		return status;
	}
	weft__viewer_forget_next_rows(viewer);
	weft__viewer_no_memory_for_rows(viewer);
	return status;
}

bool weft__viewer_lay_out(struct weft_viewer *viewer, struct weft__rows *rows, uint32_t anchor)
{
	struct weft__next_rows *next = calloc(1, sizeof(*next));
	if (!next) {
		weft__viewer_rows_finish(rows);
		weft__viewer_no_memory_for_rows(viewer);
		return false;
	}
	next->rows = *rows;
	next->anchor = anchor;
	next->focus = NAN;
	weft__viewer_forget_next_rows(viewer);
	viewer->next_rows = next;
	int status = do_steps(viewer);
	if (status == WEFT_AGAIN)
		weft__viewer_show_message(viewer, "Laying out the rows \xe2\x80\xa6 Escape ends it.");
	return status == 0;
}

bool weft__viewer_learn_rows(struct weft_viewer *viewer)
{
	int status = viewer->next_rows ? do_steps(viewer) : WEFT_ERROR_STATE;
	if (status == 0)
		weft__viewer_show_message(viewer, "The rows are laid out.");
	return status == WEFT_AGAIN;
}

bool weft__viewer_end_rows(struct weft_viewer *viewer)
{
	if (!viewer->next_rows)
		return false;
	weft__viewer_forget_next_rows(viewer);
	weft__viewer_show_message(viewer, "Ended: the rows are as before.");
	return true;
}
