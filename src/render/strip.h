/* SPDX-License-Identifier: ISC
 *
 * Where the overview is, for the code that draws it and the code that drags it.
 */
#ifndef WEFT_RENDER_STRIP_H
#define WEFT_RENDER_STRIP_H

#include <weft/render.h>

#include "render/rect.h"

#define WEFT__STRIP_MARGIN 20.0

/* The overview's box, from the trace's start at x to its end at x2; nothing is drawn if it is
 * narrower than 8 px. */
struct weft__rect weft__strip_area(const struct weft_box *strip);

#endif
