/* SPDX-License-Identifier: ISC
 *
 * The time axis for code that holds points of it and for code that draws pixel columns. Times
 * outside the trace are ns from its start: the margins have such times.
 */
#ifndef WEFT_VIEW_TIME_H
#define WEFT_VIEW_TIME_H

#include <weft/view.h>

/* The ns from the trace's start to the time at x, not limited to the trace; and back. */
double weft__view_ns(const struct weft_view *view, double x);
double weft__view_x_of(const struct weft_view *view, double ns);

/* The px from a time to a later one. Inline: row heights ask for it for each row. */
static inline double weft__view_px(const struct weft_view *view, uint64_t start, uint64_t end)
{
	if (!view->squeeze)
		return (double)(end - start) * view->scale;
	return weft_view_x(view, end) - weft_view_x(view, start);
}

/* The first squeezed stripe that ends after a time; false if there is none. */
bool weft__view_next_stripe(
	const struct weft_view *view, uint64_t time, struct weft_stripe *ret_stripe);

/* Shows the whole trace without margins, from x = 0 to `width`. */
void weft__view_whole(struct weft_view *view, double width);

/* The ns between the margins. */
double weft__view_duration(const struct weft_view *view);

/* The first time of the view whose x is at least `x`; UINT64_MAX if the view ends before that. At
 * most 64 steps, however large the rounding errors of distant times are. */
uint64_t weft__view_first_time(const struct weft_view *view, double x);

#endif
