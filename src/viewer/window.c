/* SPDX-License-Identifier: ISC
 *
 * The window's layout: canvas and panel beside or below each other, and in the canvas a frame with
 * the bar of buttons in its title line, or under it if that is too narrow; without both if the
 * shell has a header bar. When a part opens or closes, a view of the whole trace still shows the
 * whole trace; otherwise the task under the pointer stays there.
 */
#include <math.h>

#include "viewer/state.h"

#define PANEL_WIDTH  320.0
#define PANEL_SHARE  0.42  /* share of the height that a panel below the canvas takes */
#define NARROW       900.0 /* px; narrower windows have their panel below the canvas */
#define STRIP_HEIGHT 30.0  /* px, the overview below a header bar of the shell */
#define BAR_HEIGHT   40.0
#define TOUCH_HEIGHT 44.0  /* px, height of a bar for fingers */
#define BAR_FROM     200.0 /* px; lower windows have no buttons */

bool weft__viewer_inside(const struct weft_box *box, double x, double y)
{
	return x >= box->x && x < box->x + box->width && y >= box->y && y < box->y + box->height;
}

static void place_boxes(struct weft_viewer *viewer)
{
	struct weft_viewer_boxes boxes = {.canvas = {0, 0, viewer->width, viewer->height}};
	if (viewer->panel.kind != WEFT__PANEL_NONE && viewer->width >= NARROW) {
		boxes.canvas.width -= PANEL_WIDTH;
		boxes.panel = (struct weft_box){boxes.canvas.width, 0, PANEL_WIDTH, viewer->height};
	} else if (viewer->panel.kind != WEFT__PANEL_NONE) {
		boxes.canvas.height = fmax(floor(viewer->height * (1 - PANEL_SHARE)), 1);
		boxes.panel = (struct weft_box){
			0, boxes.canvas.height, viewer->width, viewer->height - boxes.canvas.height};
	}
	viewer->boxes = boxes;
}

/* Moves everything below the title line down, or up if `px` is negative; the picture gets lower or
 * higher. */
static void make_room(struct weft_frame *frame, double px)
{
	struct weft_box *boxes[] = {
		&frame->strip, &frame->ruler, &frame->picture, &frame->lanes, &frame->groups};
	for (unsigned i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++)
		boxes[i]->y += px;
	frame->picture.height = fmax(frame->picture.height - px, 1);
	frame->groups.height = frame->picture.height;
}

static void place_bar(struct weft_viewer *viewer)
{
	struct weft_frame *frame = &viewer->frame;
	double width = viewer->boxes.canvas.width, height = viewer->boxes.canvas.height;
	double high = viewer->is_touched ? TOUCH_HEIGHT : BAR_HEIGHT, before, behind;
	viewer->toolbar.bar = (struct weft_box){0, 0, 0, 0};
	if (height < BAR_FROM || width < 160)
		return;
	weft__viewer_fit_bar(viewer, width, &before, &behind);
	if (viewer->toolbar.is_own) {
		make_room(frame, high);
		viewer->toolbar.bar = (struct weft_box){0, frame->title.height, width, high};
		return;
	}
	make_room(frame, high - frame->title.height);
	frame->title = (struct weft_box){before, 0, width - before - behind, high};
	viewer->toolbar.bar = (struct weft_box){0, 0, width, high};
}

/* The shell's header bar replaces title and bar; the overview is lower, so that the picture begins
 * near the window's top edge. */
static void remove_title(struct weft_frame *frame)
{
	double strip = fmin(frame->strip.height, STRIP_HEIGHT);
	make_room(frame, strip - frame->strip.height - frame->title.height);
	frame->title.height = frame->strip.y = 0;
	frame->strip.height = strip;
}

void weft__viewer_arrange(struct weft_viewer *viewer)
{
	static const struct weft_model no_model = {.counter_count = 0};
	static const struct weft_layout no_layout = {.model = &no_model};
	const struct weft_layout *layout = viewer->layout ? viewer->layout : &no_layout;
	bool keeps_all = viewer->model && !viewer->is_clicking && weft__viewer_shows_all(viewer);
	bool keeps_last = viewer->model && viewer->is_following && weft__viewer_keeps_last(viewer);
	place_boxes(viewer);
	weft_frame_place(
		layout, viewer->boxes.canvas.width, viewer->boxes.canvas.height, &viewer->frame);
	if (viewer->has_header)
		remove_title(&viewer->frame);
	else
		place_bar(viewer);
	weft__viewer_pill_place(viewer);
	weft__viewer_place_counters(viewer);
	viewer->changes |= WEFT_VIEWER_BOXES | WEFT_VIEWER_CANVAS;
	const struct weft_box *picture = &viewer->frame.picture;
	if (!viewer->model)
		return;
	weft_view_resize(&viewer->view, picture->width, picture->height);
	if (viewer->motion.is_running)
		weft_view_resize(&viewer->motion.to, picture->width, picture->height);
	if (keeps_all || keeps_last)
		weft__viewer_halt(viewer);
	if (keeps_last)
		weft__viewer_show_last(viewer, &viewer->view);
	else if (keeps_all)
		weft_view_fit(&viewer->view);
}
