/* SPDX-License-Identifier: ISC
 *
 * The time axis for those who draw columns of pixels.
 */
#ifndef WEFT_VIEW_TIME_H
#define WEFT_VIEW_TIME_H

#include <weft/view.h>

/* The first time of the view whose x is `x` or more; UINT64_MAX if the view ends before that. At
 * most 64 steps, however wrong the arithmetic of doubles is about times that are far apart. */
uint64_t weft__view_first_time(const struct weft_view *view, double x);

#endif
