/* SPDX-License-Identifier: ISC
 *
 * Finds a counter's curve near a point. A frame only records which curves it drew over the tasks;
 * here they are computed again around the point.
 */
#include <math.h>

#include "render/counters/plot.h"

#define AROUND 2.0 /* px: where the value changes within these, the curve is vertical */

/* How far a point is above or below a curve, px. */
static double distance(const struct painter *p, const struct weft__plot *plot, double x, double y)
{
	double low = INFINITY, high = -INFINITY;
	for (int side = -1; side <= 1; side++) {
		double at = x + side * AROUND;
		uint64_t time = weft_view_time(p->view, at - p->frame->picture.x);
		double value_y =
			weft__render_plot_y(plot, weft__render_counter_shown(p, plot->counter, time));
		low = fmin(low, value_y);
		high = fmax(high, value_y);
	}
	return fmax(fmax(low - y, y - high), 0);
}

uint32_t weft__render_curve_at(const struct painter *p, const uint32_t *counters, uint32_t count,
	double x, double y, double reach)
{
	uint32_t nearest = WEFT_NONE;
	for (uint32_t i = 0; i < count; i++) {
		struct weft__plot plot = weft__render_overlay_plot(p, counters[i]);
		double away = distance(p, &plot, x, y);
		if (away > reach)
			continue;
		reach = away;
		nearest = counters[i];
	}
	return nearest;
}
