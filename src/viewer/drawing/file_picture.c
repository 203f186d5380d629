/* SPDX-License-Identifier: ISC
 *
 * The picture for a file. It has a title line even if the shell shows the title in a header bar,
 * because a file comes without that bar: the parts of the frame move down to make room.
 */
#include "base/export.h"
#include "viewer/state.h"

static void move_down(struct weft_frame *frame, double height)
{
	struct weft_box *const boxes[] = {&frame->strip, &frame->ruler, &frame->picture, &frame->groups,
		&frame->gutter, &frame->status, &frame->lanes};
	for (size_t i = 0; i < sizeof(boxes) / sizeof(*boxes); i++)
		boxes[i]->y += height;
	frame->title.height += height;
	frame->height += height;
}

/* The height of the title line that the canvas lacks. */
static double missing_title(const struct weft_viewer *viewer)
{
	const struct weft_box *canvas = &viewer->boxes.canvas;
	struct weft_frame frame;
	if (!viewer->has_header || !viewer->layout)
		return 0;
	weft_frame_place(viewer->layout, canvas->width, canvas->height, &frame);
	return frame.title.height;
}

WEFT__EXPORT int weft_viewer_draw_file(struct weft_viewer *viewer, struct weft_canvas *canvas)
{
	const struct weft_frame shown = viewer->frame;
	double height = missing_title(viewer);
	weft_canvas_clear(canvas, viewer->boxes.canvas.width, viewer->boxes.canvas.height + height);
	if (height == 0)
		return weft_viewer_draw(viewer, canvas);
	move_down(&viewer->frame, height);
	int error = weft_viewer_draw(viewer, canvas);
	viewer->frame = shown;
	viewer->changes |= WEFT_VIEWER_CANVAS; /* things can be pointed at where they were drawn last */
	return error;
}
