/* SPDX-License-Identifier: ISC
 *
 * The row axis. If all rows fit at full size they are evenly spaced; else there is a lens:
 *
 *     ·· ····· · · ·  ·   ·   ·   ·   ·   ·  · · · ····· ··
 *     └── above ─┘└─────── full size ────────┘└── below ──┘
 *       20 %         60 %, around the focus         20 %
 *
 * A row d rows past the edge of the middle is 28 c ln(1 + d/c) px away from it: at the edge rows
 * have their full size, and they grow denser as they go. c is found by bisection so that the last
 * row is at the margin. A side that has fewer rows than fill it at full size is not compressed, and
 * leaves the room to rows of full size beyond the focus. So rows only ever rise as the focus goes
 * down: what compresses the far side doesn't change.
 *
 * Rows can have unequal heights. Then the lens works on depths instead of row numbers: the depth of
 * a row is the sum of the heights above it, and 1 is the height of a full row.
 *
 * Plain rows all have their full size, and the focus is the row in the middle of the view: it stops
 * where the first or last row is at the margin.
 */
#include "view/rows.h"

#include <math.h>
#include <string.h>

#include "base/export.h"
#include "base/search.h"

#define SMALL_MARGIN  0.22 /* of the height, the margin's upper limit */
#define ROWS_AT_LEAST 10
#define MIDDLE        0.6 /* share of the height with rows of full size */

static double last_row(const struct weft_view *view)
{
	return view->row_count > 1 ? view->row_count - 1.0 : 0;
}

/* The depth of a row, which may be a fraction. */
static double depth_of(const struct weft_view *view, double row)
{
	if (!view->rows.are_uneven)
		return row;
	double at = fmin(fmax(row + 0.5, 0), view->row_count);
	uint32_t index = at < view->row_count ? (uint32_t)at : view->row_count - 1;
	const double *edge = view->edges + index;
	return edge[0] + (at - index) * (edge[1] - edge[0]);
}

static bool begins_by(const void *edges, uint32_t row, uint64_t depth_bits)
{
	double depth;
	memcpy(&depth, &depth_bits, sizeof(depth));
	return ((const double *)edges)[row + 1] <= depth;
}

static double row_at(const struct weft_view *view, double depth)
{
	if (!view->rows.are_uneven)
		return depth;
	uint64_t bits;
	memcpy(&bits, &depth, sizeof(bits));
	uint32_t row = weft__search(view->edges, 0, view->row_count - 1, begins_by, bits);
	const double *edge = view->edges + row;
	double height = edge[1] - edge[0];
	return row - 0.5 + (height > 0 ? (depth - edge[0]) / height : 0.5);
}

static double last_depth(const struct weft_view *view)
{
	return depth_of(view, last_row(view));
}

static double margin(const struct weft_view *view)
{
	return fmin(WEFT_VIEW_ROW_MARGIN, view->height * SMALL_MARGIN);
}

static double inner_height(const struct weft_view *view)
{
	return fmax(view->height - 2 * margin(view), 1);
}

/* Reduces the size of rows in a small view, down to a half, since the lens would show only two
 * rows. */
static double full_size(const struct weft_view *view)
{
	double size = inner_height(view) / ROWS_AT_LEAST;
	return fmin(WEFT_VIEW_ROW_HEIGHT, fmax(size, WEFT_VIEW_ROW_HEIGHT / 2));
}

/* The px of d rows past the edge, where rows have `size` px at the edge. */
static double compressed(double d, double c, double size)
{
	return isinf(c) ? size * d : size * c * log1p(d / c);
}

static double expanded(double px, double c, double size)
{
	return isinf(c) ? px / size : c * expm1(px / (size * c));
}

/* Finds the c for which `rows` rows take `room` px. */
static double solve_compression(double rows, double room, double size)
{
	double low = 1e-9, high = 1e18;
	if (rows * size <= room + 1e-9)
		return INFINITY;
	if (!(room > 0.01))
		room = 0.01;
	for (int i = 0; i < 120; i++) {
		double middle = sqrt(low * high);
		if (compressed(rows, middle, size) < room)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void solve_linear(struct weft_view *view)
{
	double rows = last_depth(view);
	double spacing = rows > 0 ? inner_height(view) / rows : WEFT_VIEW_ROW_HEIGHT_MAX;
	view->rows = (struct weft_view_rows){
		.are_uneven = view->rows.are_uneven,
		.spacing = spacing < WEFT_VIEW_ROW_HEIGHT_MAX ? spacing : WEFT_VIEW_ROW_HEIGHT_MAX,
		.top = 0,
		.bottom = rows,
		.top_y = margin(view),
		.above = INFINITY,
		.below = INFINITY,
	};
}

static void solve_lens(struct weft_view *view)
{
	double height = inner_height(view), half = height / 2, size = full_size(view);
	double side = (1 - MIDDLE) / 2 * height, full = half - side;
	double focus = depth_of(view, view->focus);
	double need_above = focus * size, need_below = (last_depth(view) - focus) * size;
	/* Both sides together need more than the height, so at most one of them needs less than half.
	 */
	double full_above = full, full_below = full, room_above = half;
	if (need_above < half) {
		full_above = room_above = need_above;
		full_below = height - need_above - side;
	} else if (need_below < half) {
		full_below = need_below;
		room_above = height - need_below;
		full_above = room_above - side;
	}
	full_above = fmin(full_above, need_above);
	full_below = fmin(full_below, need_below);
	struct weft_view_rows *r = &view->rows;
	r->spacing = size;
	r->top = focus - full_above / size;
	r->bottom = focus + full_below / size;
	r->top_y = margin(view) + room_above - full_above;
	r->above = solve_compression(r->top, room_above - full_above, size);
	r->below =
		solve_compression(last_depth(view) - r->bottom, height - room_above - full_below, size);
}

static void solve_plain(struct weft_view *view)
{
	double size = full_size(view), half = inner_height(view) / 2 / size;
	view->focus = fmin(fmax(view->focus, half), last_row(view) - half);
	view->rows = (struct weft_view_rows){
		.spacing = size,
		.top = 0,
		.bottom = last_row(view),
		.top_y = margin(view) + (half - view->focus) * size,
		.above = INFINITY,
		.below = INFINITY,
	};
}

void weft__view_solve_rows(struct weft_view *view)
{
	if (!(view->focus > 0))
		view->focus = 0;
	if (view->focus > last_row(view))
		view->focus = last_row(view);
	view->rows.are_uneven = false;
	if (last_row(view) * full_size(view) <= inner_height(view)) {
		solve_linear(view);
		return;
	}
	view->rows.are_uneven = !view->is_plain && view->edges && view->edge_rows == view->row_count;
	if (view->rows.are_uneven && last_depth(view) * full_size(view) <= inner_height(view))
		solve_linear(view);
	else if (view->is_plain)
		solve_plain(view);
	else
		solve_lens(view);
}

WEFT__EXPORT void weft_view_set_plain(struct weft_view *view, bool is_plain)
{
	view->is_plain = is_plain;
	weft__view_solve_rows(view);
}

WEFT__EXPORT void weft_view_set_edges(struct weft_view *view, const double *edges)
{
	view->edges = edges;
	view->edge_rows = view->row_count;
	weft__view_solve_rows(view);
}

WEFT__EXPORT void weft_view_rows_seen(
	const struct weft_view *view, double *ret_first, double *ret_last)
{
	*ret_first = weft_view_row(view, 0);
	*ret_last = weft_view_row(view, view->height);
}

/* The depth past an edge of the middle at which full rows still take `px`: see the formula
 * above. */
static double depth_to(const struct weft_view *view, double c, double px)
{
	return isinf(c) ? INFINITY : c * fmax(view->rows.spacing / px - 1, 0);
}

WEFT__EXPORT void weft_view_rows_spaced(
	const struct weft_view *view, double px, double *ret_first, double *ret_last)
{
	const struct weft_view_rows *r = &view->rows;
	double first, last;
	double top = r->top - depth_to(view, r->above, px);
	double bottom = r->bottom + depth_to(view, r->below, px);
	weft_view_rows_seen(view, &first, &last);
	*ret_first = isinf(r->above) ? first : fmax(first, row_at(view, top));
	*ret_last = isinf(r->below) ? last : fmin(last, row_at(view, bottom));
}

WEFT__EXPORT void weft_view_set_focus(struct weft_view *view, double row)
{
	view->focus = row;
	weft__view_solve_rows(view);
}

WEFT__EXPORT void weft_view_pan_rows(struct weft_view *view, double rows)
{
	weft_view_set_focus(view, row_at(view, depth_of(view, view->focus) + rows));
}

/* y never rises with the focus, so bisection finds it. Uneven rows that all fit do not depend on
 * the focus, which counts again once they no longer fit. */
WEFT__EXPORT void weft_view_drag_row(struct weft_view *view, double row, double y)
{
	double low = 0, high = last_row(view);
	if (view->rows.are_uneven && isinf(view->rows.above) && isinf(view->rows.below))
		return;
	for (int i = 0; i < 60; i++) {
		weft_view_set_focus(view, (low + high) / 2);
		if (weft_view_y(view, row) > y)
			low = view->focus;
		else
			high = view->focus;
	}
}

WEFT__EXPORT double weft_view_y(const struct weft_view *view, double row)
{
	const struct weft_view_rows *r = &view->rows;
	double depth = depth_of(view, row);
	if (depth < r->top)
		return r->top_y - compressed(r->top - depth, r->above, r->spacing);
	if (depth <= r->bottom)
		return r->top_y + (depth - r->top) * r->spacing;
	return r->top_y + (r->bottom - r->top) * r->spacing +
		   compressed(depth - r->bottom, r->below, r->spacing);
}

WEFT__EXPORT double weft_view_row(const struct weft_view *view, double y)
{
	const struct weft_view_rows *r = &view->rows;
	double bottom_y = r->top_y + (r->bottom - r->top) * r->spacing, depth;
	if (y < r->top_y)
		depth = r->top - expanded(r->top_y - y, r->above, r->spacing);
	else if (y <= bottom_y)
		depth = r->top + (y - r->top_y) / r->spacing;
	else
		depth = r->bottom + expanded(y - bottom_y, r->below, r->spacing);
	double row = row_at(view, depth);
	if (!(row > 0))
		return 0;
	return row > last_row(view) ? last_row(view) : row;
}

/* The height of a row in full rows. */
static double height_of(const struct weft_view *view, double row)
{
	return view->rows.are_uneven
			   ? depth_of(view, floor(row + 0.5) + 0.5) - depth_of(view, floor(row + 0.5) - 0.5)
			   : 1;
}

WEFT__EXPORT double weft_view_row_spacing(const struct weft_view *view, double row)
{
	const struct weft_view_rows *r = &view->rows;
	double depth = depth_of(view, row), spacing = r->spacing * height_of(view, row);
	if (depth < r->top && !isinf(r->above))
		return spacing / (1 + (r->top - depth) / r->above);
	if (depth > r->bottom && !isinf(r->below))
		return spacing / (1 + (depth - r->bottom) / r->below);
	return spacing;
}
