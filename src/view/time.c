/* SPDX-License-Identifier: ISC
 *
 * The time axis: x = (t - left) * scale, clamped so that the view never leaves the trace and its
 * margins. With a squeeze (squeeze.c), differences of squeezed times replace t - left.
 */
#include <weft/view.h>

#include <math.h>

#include "base/export.h"
#include "base/ns.h"
#include "view/rows.h"
#include "view/squeeze.h"
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

static struct weft_view_squeezed squeezed_at(const struct weft_view *view, double ns)
{
	return weft__view_squeeze_time(view->squeeze, ns);
}

/* The time that is `px` to the right of another. */
static double step(const struct weft_view *view, double ns, double px)
{
	if (!view->squeeze)
		return ns + px / view->scale;
	const struct weft_view_squeezed squeezed = squeezed_at(view, ns);
	return weft__view_squeeze_ns(view->squeeze, &squeezed, px, view->scale);
}

/* The scale with which `duration` ns from a time on take `px`. */
static double scale_of(const struct weft_view *view, double from, double duration, double px)
{
	if (!view->squeeze)
		return px / duration;
	const struct weft_view_squeezed first = squeezed_at(view, from),
									last = squeezed_at(view, from + duration);
	double scale = weft__view_squeeze_scale(view->squeeze, &first, &last, px);
	return isfinite(scale) ? scale : px / duration; /* of a part of a stripe */
}

static double fit_scale(const struct weft_view *view)
{
	return scale_of(view, 0, length(view), inner_width(view));
}

static void set_left(struct weft_view *view, double left)
{
	view->left = left;
	if (view->squeeze)
		view->left_squeezed = squeezed_at(view, left);
}

/* The time at the left edge with which the right margin is at the right edge. */
static double last_left(const struct weft_view *view, double margin)
{
	if (!view->squeeze)
		return length(view) + margin - view->width / view->scale;
	double last = step(view, length(view), WEFT_VIEW_MARGIN - view->width);
	return last + margin < 1e-6 * margin ? -margin : last; /* a view of everything */
}

static void clamp_time(struct weft_view *view)
{
	double fit = fit_scale(view);
	view->scale = clamp(view->scale, fit, fmax(fit, most_scale(view)));
	double margin = WEFT_VIEW_MARGIN / view->scale;
	double last = last_left(view, margin);
	set_left(view, clamp(view->left, -margin, last > -margin ? last : -margin));
}

double weft__view_ns(const struct weft_view *view, double x)
{
	if (!view->squeeze)
		return view->left + x / view->scale;
	return weft__view_squeeze_ns(view->squeeze, &view->left_squeezed, x, view->scale);
}

double weft__view_x_of(const struct weft_view *view, double ns)
{
	if (!view->squeeze)
		return (ns - view->left) * view->scale;
	return weft__view_squeeze_x(view->squeeze, &view->left_squeezed, ns, view->scale);
}

bool weft__view_next_stripe(
	const struct weft_view *view, uint64_t time, struct weft_stripe *ret_stripe)
{
	double begin, end, ns = time > view->start ? (double)(time - view->start) : 0;
	if (!view->squeeze || !weft__view_squeeze_find(view->squeeze, ns, &begin, &end))
		return false;
	uint64_t most = UINT64_MAX - view->start;
	ret_stripe->start = view->start + weft__ns_between(begin, most);
	ret_stripe->end = view->start + weft__ns_between(end, most);
	return true;
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
	view->scale = scale_of(view, from, clamp(duration, 1e-3, 1e300), inner_width(view));
	clamp_time(view); /* the margin depends on the scale */
	view->left = step(view, from, -WEFT_VIEW_MARGIN);
	clamp_time(view);
}

WEFT__EXPORT void weft_view_zoom(struct weft_view *view, double x, double factor)
{
	double held = weft__view_ns(view, x);
	view->scale *= clamp(factor, 1e-9, 1e9);
	clamp_time(view);
	view->left = step(view, held, -x);
	clamp_time(view);
}

WEFT__EXPORT void weft_view_pan(struct weft_view *view, double dx)
{
	view->left = weft__view_ns(view, -dx);
	clamp_time(view);
}

WEFT__EXPORT void weft_view_set_squeeze(struct weft_view *view, const struct weft_squeeze *squeeze)
{
	bool was_all = view->scale <= fit_scale(view) * (1 + 1e-9);
	view->squeeze = squeeze;
	if (was_all)
		weft_view_fit(view);
	else
		clamp_time(view);
}

WEFT__EXPORT double weft_view_x(const struct weft_view *view, uint64_t time)
{
	double ns = time >= view->start ? (double)(time - view->start) : -(double)(view->start - time);
	return weft__view_x_of(view, ns);
}

/* Out of line, so that the linear case saves no registers. */
__attribute__((noinline)) static uint64_t squeezed_time(const struct weft_view *view, double x)
{
	return view->start + weft__ns_between(weft__view_ns(view, x), view->end - view->start);
}

WEFT__EXPORT uint64_t weft_view_time(const struct weft_view *view, double x)
{
	if (view->squeeze)
		return squeezed_time(view, x);
	return view->start + weft__ns_between(view->left + x / view->scale, view->end - view->start);
}

void weft__view_whole(struct weft_view *view, double width)
{
	view->width = fmax(width, 1);
	view->scale = scale_of(view, 0, length(view), view->width);
	set_left(view, 0);
}

double weft__view_duration(const struct weft_view *view)
{
	if (!view->squeeze)
		return inner_width(view) / view->scale;
	return weft__view_ns(view, WEFT_VIEW_MARGIN + inner_width(view)) -
		   weft__view_ns(view, WEFT_VIEW_MARGIN);
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
