/* SPDX-License-Identifier: ISC
 *
 * Places the parts of a frame. The picture has priority: a small frame loses the overview first,
 * then the status line, then the gutter.
 */
#include <math.h>

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
#define LANES_SHARE   0.4   /* of the picture: the most that lanes of counters take */
#define MORE_HEIGHT   12.0  /* px; a line that says how many counters have no lane */
#define GROUPS_WIDTH  164.0
#define GROUPS_FROM   600.0

static struct weft_box slice(double *y, double x, double width, double height)
{
	struct weft_box box = {x, *y, width, height};
	*y += height;
	return box;
}

WEFT__EXPORT const char *weft_counter_form_name(enum weft_counter_form form)
{
	static const char *const names[] = {"lanes", "overlay", "none"};
	return names[form];
}

static void place_gutter(struct weft_frame *frame, uint32_t count)
{
	struct weft_box *picture = &frame->picture;
	bool has_gutter = frame->counters == WEFT_COUNTERS_OVERLAY && count > 0;
	double width = has_gutter && frame->width >= GUTTER_FROM ? GUTTER_WIDTH : 0;
	frame->ruler.width = picture->width = frame->width - picture->x - width;
	frame->gutter =
		(struct weft_box){picture->x + picture->width, picture->y, width, picture->height};
}

/* Lanes become lower before some are left out. */
static void place_lanes(struct weft_frame *frame, uint32_t count, double height)
{
	double room = floor(frame->picture.height * LANES_SHARE), taken;
	double fitting = count > 0 ? floor(room / count) : 0;
	uint32_t shown = frame->counters == WEFT_COUNTERS_LANES ? count : 0;
	height = fmin(height, fmax(fitting, WEFT_LANE_HEIGHT_LEAST));
	if (shown * height > room) {
		shown = (uint32_t)fmax((room - MORE_HEIGHT) / height, 0);
		taken = shown ? shown * height + MORE_HEIGHT : 0;
	} else {
		taken = shown * height;
	}
	frame->lanes = frame->picture;
	frame->lanes.height = taken;
	frame->lane_height = height;
	frame->picture.y += taken;
	frame->picture.height -= taken;
	frame->groups.y = frame->picture.y;
	frame->groups.height = frame->picture.height;
}

WEFT__EXPORT void weft_frame_place_counters(
	struct weft_frame *frame, enum weft_counter_form form, uint32_t count, double lane_height)
{
	frame->picture.y -= frame->lanes.height;
	frame->picture.height += frame->lanes.height;
	frame->counters = form;
	place_lanes(
		frame, count, fmax(fmin(lane_height, WEFT_LANE_HEIGHT_MAX), WEFT_LANE_HEIGHT_LEAST));
	place_gutter(frame, count);
}

WEFT__EXPORT void weft_frame_place(
	const struct weft_layout *layout, double width, double height, struct weft_frame *ret_frame)
{
	struct weft_frame frame = {.width = width, .height = height};
	double y = 0, status = height >= STATUS_FROM ? STATUS_HEIGHT : 0;
	if (status > 0 && width < NARROW && height >= TALL)
		status = TWO_LINES;
	double left = layout->group_count > 0 && width >= GROUPS_FROM ? GROUPS_WIDTH : 0;
	double inner = width - left;
	frame.title = slice(&y, 0, width, height >= TITLE_FROM ? TITLE_HEIGHT : 0);
	frame.strip = slice(&y, 0, width, height >= STRIP_FROM ? STRIP_HEIGHT : 0);
	frame.ruler = slice(&y, left, inner, RULER_HEIGHT);
	double rest = height - y - status;
	frame.picture = slice(&y, left, inner, rest > 1 ? rest : 1);
	frame.groups = (struct weft_box){0, frame.picture.y, left, frame.picture.height};
	frame.status = slice(&y, 0, width, status);
	weft_frame_place_counters(&frame, WEFT_COUNTERS_LANES,
		layout->model->counter_count + weft_histogram_lanes(layout->model), WEFT_LANE_HEIGHT);
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
