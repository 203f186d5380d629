/* SPDX-License-Identifier: ISC
 *
 * Where a time is on a squeezed time axis: so many ns outside of the stripes and so many stripes of
 * each size after the trace's start. x is a difference of places, and as exact as their doubles.
 */
#ifndef WEFT_VIEW_SQUEEZE_H
#define WEFT_VIEW_SQUEEZE_H

#include <weft/view.h>

/* The place of a time, in ns from the trace's start; the time may be outside the trace. */
struct weft_view_place weft__squeeze_place(const struct weft_squeeze *squeeze, double ns);

/* The px from a place to a time, in ns from the trace's start. A tail call of the linear case,
 * which so needs no room for a place. */
double weft__squeeze_x(const struct weft_squeeze *squeeze, const struct weft_view_place *from,
	double ns, double scale);

/* The px from a place to a later one. */
double weft__squeeze_px(const struct weft_squeeze *squeeze, const struct weft_view_place *from,
	const struct weft_view_place *to, double scale);

/* The time that is `px` to the right of a place, in ns from the trace's start. */
double weft__squeeze_ns(const struct weft_squeeze *squeeze, const struct weft_view_place *from,
	double px, double scale);

/* The scale with which what lies between two places is `px` wide; INFINITY if both are in one
 * stripe. */
double weft__squeeze_scale(const struct weft_squeeze *squeeze, const struct weft_view_place *from,
	const struct weft_view_place *to, double px);

/* The first stripe that ends after a time, in ns from the trace's start; false if there is none. */
bool weft__squeeze_find(
	const struct weft_squeeze *squeeze, double ns, double *ret_begin, double *ret_end);

#endif
