/* SPDX-License-Identifier: ISC
 *
 * Brings a row and a range of time into view, and moves the view no further than needed, so that
 * users keep their bearings.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

#include "base/ns.h"
#include "viewer/state.h"

#define COMFORT   0.12 /* share of the view; a target nearer to an edge moves to the middle */
#define LEAST_PX  24.0 /* minimum width of a target that `is_close` */
#define LEAST     0.08 /* the same as a share of the view */
#define SHARE     3.0  /* zoomed to, such a target takes 1/SHARE of the view */
#define AROUND    1.4  /* a target longer than the view is shown in AROUND times its length */
#define LEAST_NS  1000.0
#define ROOM_ROWS 1.5
#define SMALL     0.2 /* shares of the view that are about 1/SHARE */
#define LARGE     0.5

static void center(struct weft_view *view, double ns)
{
	weft_view_pan(view, view->width / 2 - weft__view_x_of(view, ns));
}

static void reveal_time(struct weft_view *view, uint64_t start, uint64_t end, bool is_close)
{
	double from = (double)(start - view->start), to = (double)(end - view->start);
	double length = to - from, px = weft__view_px(view, start, end);
	double left = weft__view_x_of(view, from), right = weft__view_x_of(view, to);
	double edge = view->width * COMFORT;
	bool is_small = px < fmax(LEAST_PX, LEAST * view->width);
	bool is_cut = px > view->width - 2 * edge && (left < 0 || right > view->width);
	if (is_close && (is_small || is_cut)) {
		double shown = fmax(length * (is_small ? SHARE : AROUND), LEAST_NS);
		double first = fmax(from - (shown - length) / 2, 0);
		weft_view_set_range(
			view, view->start + weft__ns_between(first, view->end - view->start), shown);
	} else if (px > view->width - 2 * edge) {
		if (right < edge || left > view->width - edge)
			center(view, from);
	} else if (left < edge || right > view->width - edge) {
		center(view, (from + to) / 2);
	}
}

/* Gives a part of the trace 1/SHARE of the view, unless it has about that already. */
static void frame_time(struct weft_view *view, uint64_t start, uint64_t end)
{
	double from = (double)(start - view->start), length = (double)(end - start);
	double left = weft__view_x_of(view, from), right = left + weft__view_px(view, start, end);
	double edge = view->width * COMFORT, shown = fmax(length * SHARE, LEAST_NS);
	double share = (right - left) / view->width;
	if (left >= edge && right <= view->width - edge && share >= SMALL && share <= LARGE)
		return;
	double first = fmax(from - (shown - length) / 2, 0);
	weft_view_set_range(
		view, view->start + weft__ns_between(first, view->end - view->start), shown);
}

/* To show the tasks again, as one of them is gone to. */
static void leave_flame(struct weft_viewer *viewer)
{
	if (viewer->flame.is_shown)
		weft__viewer_show_flame(viewer, false);
}

static void reveal_row(struct weft_view *view, uint32_t row)
{
	double y = weft_view_y(view, row), spacing = weft_view_row_spacing(view, row);
	bool is_small = spacing < view->rows.spacing * 0.99;
	if (is_small || y < ROOM_ROWS * spacing || y > view->height - ROOM_ROWS * spacing)
		weft_view_set_focus(view, row);
}

static uint64_t clamp(const struct weft_view *view, uint64_t time)
{
	return time < view->start ? view->start : time > view->end ? view->end : time;
}

void weft__viewer_reveal(
	struct weft_viewer *viewer, uint32_t row, uint64_t start, uint64_t end, bool is_close)
{
	leave_flame(viewer);
	struct weft_view view = *weft__viewer_wanted(viewer);
	weft__viewer_remember(viewer, true);
	start = clamp(&view, start);
	end = clamp(&view, end);
	reveal_time(&view, start, end > start ? end : start, is_close);
	weft__viewer_follow_view(viewer, &view);
	if (row != WEFT_NONE)
		reveal_row(&view, row);
	weft__viewer_glide(viewer, &view);
}

/* Moves two rows into view, the first of which is in it, if there is room for both. */
static void reveal_rows(struct weft_view *view, uint32_t row, uint32_t other)
{
	double y = weft_view_y(view, row), y2 = weft_view_y(view, other);
	bool is_seen = y2 >= 0 && y2 <= view->height;
	if (!is_seen && fabs(y2 - y) < view->height - 2 * view->rows.spacing)
		weft_view_set_focus(view, ((double)row + other) / 2);
}

void weft__viewer_frame(
	struct weft_viewer *viewer, uint32_t row, uint32_t other, uint64_t start, uint64_t end)
{
	leave_flame(viewer);
	struct weft_view view = *weft__viewer_wanted(viewer);
	weft__viewer_remember(viewer, true);
	start = clamp(&view, start);
	end = clamp(&view, end);
	frame_time(&view, start, end > start ? end : start);
	weft__viewer_follow_view(viewer, &view);
	if (row != WEFT_NONE)
		reveal_row(&view, row);
	if (row != WEFT_NONE && other != WEFT_NONE)
		reveal_rows(&view, row, other);
	weft__viewer_glide(viewer, &view);
}

void weft__viewer_reveal_task(struct weft_viewer *viewer, uint32_t task, uint64_t at)
{
	uint64_t start = viewer->layout->start[task], end = viewer->model->tasks.end[task];
	double px = weft__view_px(weft__viewer_wanted(viewer), start, end);
	uint32_t row = viewer->layout->row[task];
	if (px < LEAST_PX) /* too small to be seen */
		weft__viewer_reveal(viewer, row, start, end, true);
	else if (at >= start && at <= end)
		weft__viewer_reveal(viewer, row, at, at, false);
	else
		weft__viewer_reveal(viewer, row, start, end, false);
}

void weft__viewer_write_task(const struct weft_model *model, uint32_t task, char text[64])
{
	uint64_t id = model->tasks.id[task];
	uint32_t buffer = model->tasks.buffer[task];
	if (buffer)
		snprintf(text, 64, "task:%" PRIu32 "/%" PRIu64, buffer, id);
	else
		snprintf(text, 64, "task:%" PRIu64, id);
}

uint32_t weft__viewer_parse_task(const struct weft_model *model, const char *text)
{
	uint64_t id, buffer = 0;
	if (strncmp(text, "task:", 5) == 0)
		text += 5;
	const char *slash = strchr(text, '/');
	if (slash && weft_parse_number(text, (size_t)(slash - text), &buffer) != WEFT_PARSE_OK)
		return WEFT_NONE;
	text = slash ? slash + 1 : text;
	if (weft_parse_number(text, strlen(text), &id) != WEFT_PARSE_OK || buffer >= UINT32_MAX)
		return WEFT_NONE;
	return weft_model_find_task(model, (uint32_t)buffer, id);
}
