/* SPDX-License-Identifier: ISC
 *
 * When a task ran: bars on its line, as exact as pixels are.
 *
 *     █   what it ran for a pixel or longer is a bar
 *     ▃   of what is shorter, a column of pixels shows the share of its time: as in a density, the
 *         darker part, below a part in the colour of waiting; both are as high as a bar
 */
#ifndef WEFT_RENDER_BARS_H
#define WEFT_RENDER_BARS_H

#include <stdint.h>

struct painter;
struct weft__bars;

/* NULL without memory. */
struct weft__bars *weft__bars_create(const struct painter *p);
void weft__bars_destroy(struct weft__bars *bars);

/* Between x and x2, on a line at y. */
struct weft__bar_place {
	double x, x2, y;
	double height; /* whole px */
};

void weft__bars_draw(
	struct weft__bars *bars, struct painter *p, uint32_t task, const struct weft__bar_place *place);

/* Of a share of a bar that is so high: at least a pixel. */
double weft__bar_height(double share, double height);

#endif
