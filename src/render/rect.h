/* SPDX-License-Identifier: ISC
 *
 * A rectangle by its edges, in px.
 */
#ifndef WEFT_RENDER_RECT_H
#define WEFT_RENDER_RECT_H

struct weft__rect {
	double x, y, x2, y2;
};

#endif
