/* SPDX-License-Identifier: ISC
 *
 * Where the overview is and which time is at which x of it, for the code that draws it and the code
 * that drags it.
 */
#ifndef WEFT_RENDER_STRIP_H
#define WEFT_RENDER_STRIP_H

#include <weft/render.h>

#include "render/rect.h"

#define WEFT__STRIP_MARGIN 20.0

struct weft__strip {
	struct weft__rect area; /* from the trace's start at x to its end at x2 */
	struct weft_view view;  /* of the whole trace, without margins: its x is 0 at `area.x` */
};

/* The overview's area in its box; nothing is drawn if it is narrower than 8 px. */
struct weft__rect weft__render_strip_area(const struct weft_box *box);

/* The overview of the trace of a view. */
struct weft__strip weft__render_strip_of(const struct weft_box *box, const struct weft_view *view);

/* The x of a time on the canvas, and the time at x, limited to the trace. */
double weft__render_strip_x(const struct weft__strip *strip, uint64_t time);
uint64_t weft__render_strip_time(const struct weft__strip *strip, double x);

/* The task whose whisker ends in an open mark within `reach` px of x, or WEFT_NONE. */
uint32_t weft__render_strip_longest(
	const struct weft__strip *strip, const struct weft_scene *scene, double x, double reach);

#endif
