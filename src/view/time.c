/* SPDX-License-Identifier: ISC
 *
 * The time axis: x = (t - left) * scale, clamped so that the view never leaves the trace and its
 * margins.
 */
#include <weft/view.h>

#include <math.h>

#include "base/export.h"
#include "base/ns.h"
#include "view/rows.h"
#include "view/time.h"

/* px per ns at most: there is nothing to see inside a nanosecond. */
#define SCALE_MAX 40.0

/* Doubles hold whole numbers exactly up to this. */
#define EXACT_NS 9007199254740992.0

static double length(const struct weft_view *view)
{
	double ns = (double)(view->end - view->start);
	return ns < 1 ? 1 : ns;
}

/* The largest scale. In a very long trace, times some ns apart are the same double; such a step is
 * never wider than a pixel. */
static double most_scale(const struct weft_view *view)
{
	return fmin(SCALE_MAX, EXACT_NS / length(view));
}

static double inner_width(const struct weft_view *view)
{
	double width = view->width - 2 * WEFT_VIEW_MARGIN;
	return width < 1 ? 1 : width;
}

static double clamp(double value, double low, double high)
{
	if (!(value > low)) /* also for NaN */
		return low;
	return value > high ? high : value;
}

static void clamp_time(struct weft_view *view)
{
	double fit = inner_width(view) / length(view);
	view->scale = clamp(view->scale, fit, fmax(fit, most_scale(view)));
	double margin = WEFT_VIEW_MARGIN / view->scale;
	double last = length(view) + margin - view->width / view->scale;
	view->left = clamp(view->left, -margin, last > -margin ? last : -margin);
}

double weft__view_ns(const struct weft_view *view, double x)
{
	return view->left + x / view->scale;
}

double weft__view_x_of(const struct weft_view *view, double ns)
{
	return (ns - view->left) * view->scale;
}

double weft__view_px(const struct weft_view *view, uint64_t start, uint64_t end)
{
	return (double)(end - start) * view->scale;
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
	double held = weft__view_ns(view, x);
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
	return weft__view_x_of(view, ns);
}

WEFT__EXPORT uint64_t weft_view_time(const struct weft_view *view, double x)
{
	return view->start + weft__ns_between(weft__view_ns(view, x), view->end - view->start);
}

void weft__view_whole(struct weft_view *view, double width)
{
	view->width = fmax(width, 1);
	view->scale = view->width / length(view);
	view->left = 0;
}

double weft__view_duration(const struct weft_view *view)
{
	return inner_width(view) / view->scale;
}

uint64_t weft__view_first_time(const struct weft_view *view, double x)
{
	uint64_t low = weft_view_time(view, x), high = view->end, step = 1;
	if (weft_view_x(view, low) >= x)
		return low;
	if (weft_view_x(view, high) < x)
		return UINT64_MAX;
	/* Invariant: the x of `low` is less than x, that of `high` is not. Usually `high` is the next
	 * ns. */
	while (high - low > step && weft_view_x(view, low + step) < x) {
		low += step;
		step *= 2;
	}
	if (high - low > step)
		high = low + step;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		if (weft_view_x(view, middle) < x)
			low = middle;
		else
			high = middle;
	}
	return high;
}
