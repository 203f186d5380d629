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
 * Plain rows all have their full size, and the focus is the row in the middle of the view: it stops
 * where the first or last row is at the margin.
 */
#include "view/rows.h"

#include <math.h>

#include "base/export.h"

#define SMALL_MARGIN  0.22 /* of the height, the margin's upper limit */
#define ROWS_AT_LEAST 10
#define MIDDLE        0.6 /* share of the height with rows of full size */

static double last_row(const struct weft_view *view)
{
	return view->row_count > 1 ? view->row_count - 1.0 : 0;
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
	double rows = last_row(view);
	double spacing = rows > 0 ? inner_height(view) / rows : WEFT_VIEW_ROW_HEIGHT_MAX;
	view->rows = (struct weft_view_rows){
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
	double need_above = view->focus * size, need_below = (last_row(view) - view->focus) * size;
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
	r->top = view->focus - full_above / size;
	r->bottom = view->focus + full_below / size;
	r->top_y = margin(view) + room_above - full_above;
	r->above = solve_compression(r->top, room_above - full_above, size);
	r->below =
		solve_compression(last_row(view) - r->bottom, height - room_above - full_below, size);
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
	if (last_row(view) * full_size(view) <= inner_height(view))
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

WEFT__EXPORT void weft_view_rows_seen(
	const struct weft_view *view, double *ret_first, double *ret_last)
{
	*ret_first = weft_view_row(view, 0);
	*ret_last = weft_view_row(view, view->height);
}

WEFT__EXPORT void weft_view_set_focus(struct weft_view *view, double row)
{
	view->focus = row;
	weft__view_solve_rows(view);
}

/* y never rises with the focus, so bisection finds it. */
WEFT__EXPORT void weft_view_drag_row(struct weft_view *view, double row, double y)
{
	double low = 0, high = last_row(view);
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
	if (row < r->top)
		return r->top_y - compressed(r->top - row, r->above, r->spacing);
	if (row <= r->bottom)
		return r->top_y + (row - r->top) * r->spacing;
	return r->top_y + (r->bottom - r->top) * r->spacing +
		   compressed(row - r->bottom, r->below, r->spacing);
}

WEFT__EXPORT double weft_view_row(const struct weft_view *view, double y)
{
	const struct weft_view_rows *r = &view->rows;
	double bottom_y = r->top_y + (r->bottom - r->top) * r->spacing, row;
	if (y < r->top_y)
		row = r->top - expanded(r->top_y - y, r->above, r->spacing);
	else if (y <= bottom_y)
		row = r->top + (y - r->top_y) / r->spacing;
	else
		row = r->bottom + expanded(y - bottom_y, r->below, r->spacing);
	if (!(row > 0))
		return 0;
	return row > last_row(view) ? last_row(view) : row;
}

WEFT__EXPORT double weft_view_row_spacing(const struct weft_view *view, double row)
{
	const struct weft_view_rows *r = &view->rows;
	if (row < r->top && !isinf(r->above))
		return r->spacing / (1 + (r->top - row) / r->above);
	if (row > r->bottom && !isinf(r->below))
		return r->spacing / (1 + (row - r->bottom) / r->below);
	return r->spacing;
}
