/* SPDX-License-Identifier: ISC
 *
 * The time axis for code that draws pixel columns.
 */
#ifndef WEFT_VIEW_TIME_H
#define WEFT_VIEW_TIME_H

#include <weft/view.h>

/* The first time of the view whose x is at least `x`; UINT64_MAX if the view ends before that. At
 * most 64 steps, however large the rounding errors of distant times are. */
uint64_t weft__view_first_time(const struct weft_view *view, double x);

#endif
