/* SPDX-License-Identifier: ISC
 *
 * A counter drawn as a curve: in a lane of its own (lanes.c), or over the tasks (overlay.c).
 */
#ifndef WEFT_RENDER_COUNTERS_PLOT_H
#define WEFT_RENDER_COUNTERS_PLOT_H

#include "render/painter.h"

#define WEFT__RATE_PX 6.0 /* px over which a rate is averaged */

struct weft__plot {
	uint32_t counter;
	struct weft_box box;
	double above, below; /* px of the box above the highest and below the lowest value */
	struct weft__scale scale;
	struct weft_pen pen;
	uint32_t fill; /* the colour down to 0; 0: none */
	bool is_halo;  /* the curve's ground, without bands */
};

/* values.c */
bool weft__render_hides_counter(const struct painter *p, uint32_t counter);
uint32_t weft__render_counter_color(const struct painter *p, uint32_t counter);
struct weft__scale weft__render_counter_scale(const struct painter *p, uint32_t counter);
/* The value before a time; the rate of change per second, averaged over WEFT__RATE_PX from the time
 * on; the one of them that is drawn. */
double weft__render_counter_before(const struct painter *p, uint32_t counter, uint64_t time);
double weft__render_counter_rate(const struct painter *p, uint32_t counter, uint64_t time);
double weft__render_counter_shown(const struct painter *p, uint32_t counter, uint64_t time);
/* True if the counter has a value at that time: it has begun, and its program has not ended. */
bool weft__render_counter_has_value(const struct painter *p, uint32_t counter, uint64_t time);
/* When the counter's program ended, but not before its last change; or UINT64_MAX. */
uint64_t weft__render_counter_end(const struct painter *p, uint32_t counter);
void weft__render_counter_text(
	const struct painter *p, uint32_t counter, double value, char text[32]);
/* Draws the counter's marker shape around a point. */
void weft__render_draw_marker(struct painter *p, uint32_t counter, double x, double y);

/* overlay.c: a counter over the tasks. */
struct weft__plot weft__render_overlay_plot(const struct painter *p, uint32_t counter);

/* histograms.c: the next histogram that has a lane, from one on; draws it. */
uint32_t weft__render_next_histogram(const struct painter *p, uint32_t histogram);
void weft__render_draw_histogram(struct painter *p, uint32_t histogram, const struct weft_box *box);

/* curve.c */
double weft__render_plot_y(const struct weft__plot *plot, double value);
void weft__render_draw_plot(struct painter *p, const struct weft__plot *plot);

#endif
