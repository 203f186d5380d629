/* SPDX-License-Identifier: ISC
 *
 * Places the parts of a frame. The picture has priority: a small frame loses the overview first,
 * then the status line, then the gutter.
 */
#include <weft/render.h>

#include "base/export.h"

#define TITLE_HEIGHT  28.0
#define STRIP_HEIGHT  44.0
#define RULER_HEIGHT  22.0
#define STATUS_HEIGHT 24.0
#define TWO_LINES     40.0 /* height of a status with two lines, in a frame narrower than NARROW … */
#define NARROW        600.0 /* … and higher than TALL */
#define TALL          400.0
#define GUTTER_WIDTH  124.0
#define STRIP_FROM    300.0 /* minimum height of a frame with an overview */
#define STATUS_FROM   220.0
#define TITLE_FROM    120.0
#define GUTTER_FROM   480.0 /* minimum width of a frame with a gutter */
#define GROUPS_WIDTH  164.0
#define GROUPS_FROM   600.0

static struct weft_box slice(double *y, double x, double width, double height)
{
	struct weft_box box = {x, *y, width, height};
	*y += height;
	return box;
}

WEFT__EXPORT void weft_frame_place(
	const struct weft_layout *layout, double width, double height, struct weft_frame *ret_frame)
{
	struct weft_frame frame = {.width = width, .height = height};
	double y = 0, status = height >= STATUS_FROM ? STATUS_HEIGHT : 0;
	if (status > 0 && width < NARROW && height >= TALL)
		status = TWO_LINES;
	bool has_gutter = layout->model->counter_count > 0 && width >= GUTTER_FROM;
	double left = layout->group_count > 0 && width >= GROUPS_FROM ? GROUPS_WIDTH : 0;
	double inner = width - left - (has_gutter ? GUTTER_WIDTH : 0), right = left + inner;
	frame.title = slice(&y, 0, width, height >= TITLE_FROM ? TITLE_HEIGHT : 0);
	frame.strip = slice(&y, 0, width, height >= STRIP_FROM ? STRIP_HEIGHT : 0);
	frame.ruler = slice(&y, left, inner, RULER_HEIGHT);
	double rest = height - y - status;
	frame.picture = slice(&y, left, inner, rest > 1 ? rest : 1);
	frame.groups = (struct weft_box){0, frame.picture.y, left, frame.picture.height};
	frame.gutter = (struct weft_box){right, frame.picture.y, width - right, frame.picture.height};
	frame.status = slice(&y, 0, width, status);
	*ret_frame = frame;
}

WEFT__EXPORT void weft_frame_view(
	const struct weft_layout *layout, const struct weft_frame *frame, struct weft_view *ret_view)
{
	const struct weft_model *model = layout->model;
	uint64_t end = model->summary.end;
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (model->tasks.end[task] > end)
			end = model->tasks.end[task]; /* unfinished tasks end 1 us later */
	weft_view_init(ret_view, model->summary.start, end, layout->row_count, frame->picture.width,
		frame->picture.height);
}
