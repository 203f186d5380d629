/* SPDX-License-Identifier: ISC
 *
 * Bars show when a task ran, as exactly as pixels can.
 *
 *     █   an activation of a pixel or longer is a bar
 *     ▃   shorter ones: a pixel column shows the share of its time, like a density: the darker
 *         part is the share, the rest has the colour of waiting; together they are as high as a
 *         bar
 *     ▀   the share for which a vCPU of Xen waited for a processor, in a colour of its own, hangs
 *         from the top: a full column is one that starves, a grey one sleeps
 */
#ifndef WEFT_RENDER_BARS_H
#define WEFT_RENDER_BARS_H

#include <stdint.h>

struct painter;
struct weft__bars;

/* NULL without memory. */
struct weft__bars *weft__render_bars_create(const struct painter *p);
void weft__render_bars_destroy(struct weft__bars *bars);

/* Where bars go: between x and x2, on a line at y. */
struct weft__bar_box {
	double x, x2, y;
	double height; /* whole px */
};

void weft__render_bars_draw(
	struct weft__bars *bars, struct painter *p, uint32_t task, const struct weft__bar_box *box);

/* The height for a share of a bar with that height: at least a pixel. */
double weft__render_bar_height(double share, double height);

#endif
