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
 * leaves the room to the other side.
 */
#include "view/rows.h"

#include <math.h>

#include "base/export.h"

#define MIDDLE 0.6 /* of the height has rows of full size */

static double last_row(const struct weft_view *view)
{
	return view->row_count > 1 ? view->row_count - 1.0 : 0;
}

static double inner_height(const struct weft_view *view)
{
	double height = view->height - 2 * WEFT_VIEW_ROW_MARGIN;
	return height < 1 ? 1 : height;
}

/* px of d rows past the edge. */
static double compressed(double d, double c)
{
	if (isinf(c))
		return WEFT_VIEW_ROW_HEIGHT * d;
	return WEFT_VIEW_ROW_HEIGHT * c * log1p(d / c);
}

static double expanded(double px, double c)
{
	if (isinf(c))
		return px / WEFT_VIEW_ROW_HEIGHT;
	return c * expm1(px / (WEFT_VIEW_ROW_HEIGHT * c));
}

/* The c for which `rows` rows take `room` px. */
static double solve_compression(double rows, double room)
{
	double low = 1e-6, high = 1e12;
	if (rows * WEFT_VIEW_ROW_HEIGHT <= room + 1e-9)
		return INFINITY;
	if (!(room > 0.01))
		room = 0.01;
	for (int i = 0; i < 100; i++) {
		double middle = sqrt(low * high);
		if (compressed(rows, middle) < room)
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
		.top_y = WEFT_VIEW_ROW_MARGIN,
		.above = INFINITY,
		.below = INFINITY,
	};
}

static void solve_lens(struct weft_view *view)
{
	double height = inner_height(view), half = height / 2, middle = MIDDLE * height;
	double need_above = view->focus * WEFT_VIEW_ROW_HEIGHT;
	double need_below = (last_row(view) - view->focus) * WEFT_VIEW_ROW_HEIGHT;
	/* Both together need more than the height, so at most one needs less than half. */
	bool short_above = need_above < half, short_below = need_below < half;
	double room_above = short_above ? need_above : short_below ? height - need_below : half;
	/* What one side leaves of its half of the middle is the other side's. */
	double full_above =
		short_above ? need_above : fmin(need_above, middle - fmin(need_below, middle / 2));
	double full_below =
		short_below ? need_below : fmin(need_below, middle - fmin(need_above, middle / 2));
	struct weft_view_rows *r = &view->rows;
	r->spacing = WEFT_VIEW_ROW_HEIGHT;
	r->top = view->focus - full_above / r->spacing;
	r->bottom = view->focus + full_below / r->spacing;
	r->top_y = WEFT_VIEW_ROW_MARGIN + room_above - full_above;
	r->above = solve_compression(r->top, room_above - full_above);
	r->below = solve_compression(last_row(view) - r->bottom, height - room_above - full_below);
}

void weft__view_solve_rows(struct weft_view *view)
{
	if (!(view->focus > 0))
		view->focus = 0;
	if (view->focus > last_row(view))
		view->focus = last_row(view);
	if (last_row(view) * WEFT_VIEW_ROW_HEIGHT <= inner_height(view))
		solve_linear(view);
	else
		solve_lens(view);
}

WEFT__EXPORT void weft_view_set_focus(struct weft_view *view, double row)
{
	view->focus = row;
	weft__view_solve_rows(view);
}

/* y falls monotonically in the focus, so bisection finds it. */
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
		return r->top_y - compressed(r->top - row, r->above);
	if (row <= r->bottom)
		return r->top_y + (row - r->top) * r->spacing;
	return r->top_y + (r->bottom - r->top) * r->spacing + compressed(row - r->bottom, r->below);
}

WEFT__EXPORT double weft_view_row(const struct weft_view *view, double y)
{
	const struct weft_view_rows *r = &view->rows;
	double bottom_y = r->top_y + (r->bottom - r->top) * r->spacing, row;
	if (y < r->top_y)
		row = r->top - expanded(r->top_y - y, r->above);
	else if (y <= bottom_y)
		row = r->top + (y - r->top_y) / r->spacing;
	else
		row = r->bottom + expanded(y - bottom_y, r->below);
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
