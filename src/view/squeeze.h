/* SPDX-License-Identifier: ISC
 *
 * Where a time is on a squeezed time axis: the ns outside of the stripes and the number of stripes
 * of each size after the trace's start. x is a difference of squeezed times, and as exact as their
 * doubles.
 */
#ifndef WEFT_VIEW_SQUEEZE_H
#define WEFT_VIEW_SQUEEZE_H

#include <weft/view.h>

/* The squeezed time of a time, in ns from the trace's start; the time may be outside the trace. */
struct weft_view_squeezed weft__view_squeeze_time(const struct weft_squeeze *squeeze, double ns);

/* The px from a squeezed time to a time, in ns from the trace's start. A tail call of the linear
 * case, which so needs no room for a squeezed time. */
double weft__view_squeeze_x(const struct weft_squeeze *squeeze,
	const struct weft_view_squeezed *from, double ns, double scale);

/* The time that is `px` to the right of a squeezed time, in ns from the trace's start. */
double weft__view_squeeze_ns(const struct weft_squeeze *squeeze,
	const struct weft_view_squeezed *from, double px, double scale);

/* The scale with which what lies between two squeezed times is `px` wide; INFINITY if both are in
 * one stripe. */
double weft__view_squeeze_scale(const struct weft_squeeze *squeeze,
	const struct weft_view_squeezed *from, const struct weft_view_squeezed *to, double px);

/* The first stripe that ends after a time, in ns from the trace's start; false if there is none. */
bool weft__view_squeeze_find(
	const struct weft_squeeze *squeeze, double ns, double *ret_begin, double *ret_end);

#endif
