/* SPDX-License-Identifier: ISC
 *
 * The time axis: x = (t - left) * scale, clamped so that never more than the trace and its margins
 * are seen.
 */
#include <weft/view.h>

#include <math.h>

#include "base/export.h"
#include "view/rows.h"

/* A nanosecond is never wider than this: there is nothing in it. */
#define SCALE_MAX 40.0

static double length(const struct weft_view *view)
{
	double ns = (double)(view->end - view->start);
	return ns < 1 ? 1 : ns;
}

static double inner_width(const struct weft_view *view)
{
	double width = view->width - 2 * WEFT_VIEW_MARGIN;
	return width < 1 ? 1 : width;
}

static double clamp(double value, double low, double high)
{
	if (!(value > low)) /* not a number, too */
		return low;
	return value > high ? high : value;
}

static void clamp_time(struct weft_view *view)
{
	double fit = inner_width(view) / length(view);
	view->scale = clamp(view->scale, fit, fit > SCALE_MAX ? fit : SCALE_MAX);
	double margin = WEFT_VIEW_MARGIN / view->scale;
	double last = length(view) + margin - view->width / view->scale;
	view->left = clamp(view->left, -margin, last > -margin ? last : -margin);
}

WEFT__EXPORT void weft_view_init(struct weft_view *view, uint64_t start, uint64_t end,
	uint32_t row_count, double width, double height)
{
	*view = (struct weft_view){
		.start = start,
		.end = end < start ? start : end,
		.row_count = row_count,
	};
	weft_view_resize(view, width, height);
	weft_view_fit(view);
}

WEFT__EXPORT void weft_view_resize(struct weft_view *view, double width, double height)
{
	view->width = clamp(width, 1, 1e6);
	view->height = clamp(height, 1, 1e6);
	clamp_time(view);
	weft__view_solve_rows(view);
}

WEFT__EXPORT void weft_view_fit(struct weft_view *view)
{
	view->scale = 0;
	view->left = 0;
	clamp_time(view);
}

WEFT__EXPORT void weft_view_set_range(struct weft_view *view, uint64_t start, double duration)
{
	double from = start > view->start ? (double)(start - view->start) : 0;
	view->scale = inner_width(view) / clamp(duration, 1e-3, 1e300);
	clamp_time(view); /* the margin depends on the scale */
	view->left = from - WEFT_VIEW_MARGIN / view->scale;
	clamp_time(view);
}

WEFT__EXPORT void weft_view_zoom(struct weft_view *view, double x, double factor)
{
	double held = view->left + x / view->scale;
	view->scale *= clamp(factor, 1e-9, 1e9);
	clamp_time(view);
	view->left = held - x / view->scale;
	clamp_time(view);
}

WEFT__EXPORT void weft_view_pan(struct weft_view *view, double dx)
{
	view->left -= dx / view->scale;
	clamp_time(view);
}

WEFT__EXPORT double weft_view_x(const struct weft_view *view, uint64_t time)
{
	double ns = time >= view->start ? (double)(time - view->start) : -(double)(view->start - time);
	return (ns - view->left) * view->scale;
}

WEFT__EXPORT uint64_t weft_view_time(const struct weft_view *view, double x)
{
	double ns = clamp(view->left + x / view->scale, 0, (double)(view->end - view->start));
	uint64_t time = view->start + (uint64_t)ns;
	return time > view->end ? view->end : time;
}
