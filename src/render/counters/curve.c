/* SPDX-License-Identifier: ISC
 *
 * A counter's curve within a box: steps; where there are more changes than pixels, a band from the
 * lowest to the highest value; or the rate of change.
 */
#include <math.h>

#include "base/search.h"
#include "base/steps.h"
#include "render/counters/plot.h"

#define CHUNK       256 /* points per polyline */
#define BAND_PX     8.0 /* width of a band's column, px */
#define BAND_HEIGHT 4.0 /* px; a lower band is drawn as a thick line */
#define BAND_FROM   3   /* samples in a band's column; fewer are drawn as steps */

/* The state of drawing a curve. */
struct trail {
	const struct weft__plot *plot;
	double points[2 * (CHUNK + 2)]; /* with the corners of the filled ground */
	uint32_t count;
	bool is_band; /* the last column was part of a band */
	double x, y;  /* the end of that column, and the value there */
};

/* The position at which a 2 px line has its edges on whole pixels. */
static double whole(double at)
{
	return floor(at + 0.5);
}

double weft__render_plot_y(const struct weft__plot *plot, double value)
{
	const struct weft_box *box = &plot->box;
	double share = (value - plot->scale.low) / (plot->scale.high - plot->scale.low);
	double height = box->height - plot->above - plot->below;
	return whole(box->y + box->height - plot->below - share * height);
}

/* The height of value 0, within the scale. */
static double ground_y(const struct weft__plot *plot)
{
	return weft__render_plot_y(plot, fmax(plot->scale.low, fmin(0, plot->scale.high)));
}

/* Fills the area between the points and the ground. */
static void fill(struct painter *p, struct trail *trail)
{
	double *corners = &trail->points[2 * trail->count], y = ground_y(trail->plot);
	corners[0] = corners[-2];
	corners[1] = corners[3] = y;
	corners[2] = trail->points[0];
	weft_canvas_polygon(p->canvas, trail->points, trail->count + 2, trail->plot->fill);
}

static void flush(struct painter *p, struct trail *trail)
{
	if (trail->count > 1 && trail->plot->fill)
		fill(p, trail);
	if (trail->count > 1)
		weft_canvas_polyline(p->canvas, trail->points, trail->count, &trail->plot->pen);
	if (trail->count) {
		trail->points[0] = trail->points[2 * trail->count - 2];
		trail->points[1] = trail->points[2 * trail->count - 1];
		trail->count = 1;
	}
}

/* True if the line continues straight up or down, or has length 0. */
static bool goes_on(const struct trail *trail, double x, double y)
{
	if (trail->count == 0)
		return false;
	const double *last = &trail->points[2 * trail->count - 2];
	if (last[0] == x && last[1] == y)
		return true;
	return trail->count > 1 && last[0] == x && last[-2] == x &&
		   (y > last[1]) == (last[1] > last[-1]);
}

static void go(struct painter *p, struct trail *trail, double x, double y)
{
	if (goes_on(trail, x, y)) {
		trail->points[2 * trail->count - 1] = y;
		return;
	}
	if (trail->count == CHUNK)
		flush(p, trail);
	trail->points[2 * trail->count] = x;
	trail->points[2 * trail->count++ + 1] = y;
}

/* A counter's lowest, highest and mean value in a column. */
struct curve_column {
	uint32_t end;
	double low, high, mean;
};

static void merge_column(const struct painter *p, const struct weft_counter *counter,
	uint32_t sample, double wide, struct curve_column *ret_column)
{
	const uint64_t *times = p->model->samples.time;
	uint32_t last = counter->first + counter->count;
	double x = floor(weft__render_x(p, times[sample]) / wide) * wide;
	uint64_t next = weft_view_time(p->view, x + wide - p->x0);
	uint32_t end = weft__render_gallop_u64(times, sample + 1, last, next);
	while (
		end < last && weft__render_x(p, times[end]) < x + wide) /* rounding at the column's end */
		end = weft__render_gallop_u64(times, end, last, times[end] + 1);
	struct weft__mean values = weft__render_scene_extremes(p->scene, counter, sample, end);
	*ret_column = (struct curve_column){end, values.low, values.high, values.mean};
}

static void draw_rate(struct painter *p, struct trail *trail)
{
	const struct weft_box *box = &trail->plot->box;
	uint32_t steps = weft__steps(0, box->width, WEFT__RATE_PX);
	for (uint32_t i = 0; i < steps; i++) {
		double x = i * WEFT__RATE_PX;
		uint64_t time = weft_view_time(p->view, x);
		double y = weft__render_plot_y(
			trail->plot, weft__render_counter_rate(p, trail->plot->counter, time));
		go(p, trail, box->x + x, y);
		go(p, trail, box->x + fmin(x + WEFT__RATE_PX, box->width), y);
	}
	flush(p, trail);
}

/* Draws the last value from the end of a band on. */
static void leave_band(struct painter *p, struct trail *trail)
{
	if (trail->is_band)
		go(p, trail, trail->x, trail->y);
	trail->is_band = false;
}

/* Draws a band where there are more changes than pixels: from the lowest to the highest value, with
 * the mean as a line. */
static void draw_band(
	struct painter *p, double x, const struct curve_column *column, struct trail *trail)
{
	const struct weft__plot *plot = trail->plot;
	double left = floor(x / BAND_PX) * BAND_PX;
	double high = weft__render_plot_y(plot, column->high),
		   low = weft__render_plot_y(plot, column->low);
	if (!trail->is_band || trail->x < left) {
		leave_band(p, trail);
		go(p, trail, left, trail->y);
	}
	if (!plot->is_halo)
		weft_canvas_rect(p->canvas, left, high - 1, left + BAND_PX, low + 1,
			weft__render_faded(plot->pen.color, 0.2));
	go(p, trail, left + BAND_PX / 2, weft__render_plot_y(plot, column->mean));
	trail->is_band = true;
	trail->x = left + BAND_PX;
}

/* True for changes up and down; values that only rise or fall are drawn as a line however dense
 * they are. */
static bool flutters(const struct painter *p, const struct weft__plot *plot, uint32_t at,
	const struct curve_column *c)
{
	const struct weft_counter *counter = &p->model->counters[plot->counter];
	double before = at > counter->first ? weft_counter_value(p->model, counter, at - 1) : 0;
	double change = weft_counter_value(p->model, counter, c->end - 1) - before;
	double height = weft__render_plot_y(plot, c->low) - weft__render_plot_y(plot, c->high);
	return c->end - at >= BAND_FROM && height >= BAND_HEIGHT && c->high - c->low > fabs(change);
}

/* True if a band is drawn. It is at least two columns wide, since a single one would look like a
 * stain between steps. */
static bool is_in_band(const struct painter *p, uint32_t at, const struct curve_column *column,
	const struct trail *trail)
{
	const struct weft_counter *counter = &p->model->counters[trail->plot->counter];
	uint32_t last = counter->first + counter->count;
	double left = floor(weft__render_x(p, p->model->samples.time[at]) / BAND_PX) * BAND_PX;
	struct curve_column next;
	if (!flutters(p, trail->plot, at, column))
		return false;
	if (trail->is_band && trail->x >= left)
		return true;
	if (column->end == last ||
		weft__render_x(p, p->model->samples.time[column->end]) >= left + 2 * BAND_PX)
		return false;
	merge_column(p, counter, column->end, BAND_PX, &next);
	return flutters(p, trail->plot, column->end, &next);
}

/* Draws a step, with all values within its pixel. */
static void draw_step(
	struct painter *p, double x, const struct curve_column *column, struct trail *trail)
{
	const struct weft__plot *plot = trail->plot;
	const struct weft_counter *counter = &p->model->counters[plot->counter];
	leave_band(p, trail);
	x = whole(x);
	go(p, trail, x, trail->y);
	if (column->high > column->low) {
		go(p, trail, x, weft__render_plot_y(plot, column->low));
		go(p, trail, x, weft__render_plot_y(plot, column->high));
	}
	go(p, trail, x,
		weft__render_plot_y(plot, weft_counter_value(p->model, counter, column->end - 1)));
}

static void draw_curve(struct painter *p, struct trail *trail)
{
	const struct weft__plot *plot = trail->plot;
	const struct weft_counter *counter = &p->model->counters[plot->counter];
	const struct weft_samples *samples = &p->model->samples;
	const struct weft_box *box = &plot->box;
	uint32_t last = counter->first + counter->count;
	uint32_t at = counter->first +
				  weft__lower_bound_u64(samples->time + counter->first, counter->count, p->left);
	const uint64_t ended = weft__render_counter_end(p, plot->counter);
	const double right = box->x + box->width;
	const double end = ended == UINT64_MAX ? right : fmin(right, weft__render_x(p, ended));
	const bool has_begun = at > counter->first || !counter->begins_set;
	if (end < box->x)
		return;
	trail->y = weft__render_plot_y(
		plot, at > counter->first   ? weft_counter_value(p->model, counter, at - 1)
			  : counter->begins_set ? weft_counter_value(p->model, counter, at)
									: counter->start.real);
	if (has_begun)
		go(p, trail, box->x, trail->y);
	while (at < last && samples->time[at] <= p->right) {
		double x = weft__render_x(p, samples->time[at]);
		struct curve_column column;
		merge_column(p, counter, at, BAND_PX, &column);
		if (is_in_band(p, at, &column, trail)) {
			draw_band(p, x, &column, trail);
		} else {
			merge_column(p, counter, at, 1, &column);
			draw_step(p, x, &column, trail);
		}
		at = column.end;
		trail->y = weft__render_plot_y(plot, weft_counter_value(p->model, counter, at - 1));
	}
	leave_band(p, trail);
	if (trail->count)
		go(p, trail, end, trail->y);
	flush(p, trail);
}

void weft__render_draw_plot(struct painter *p, const struct weft__plot *plot)
{
	struct trail trail = {.plot = plot};
	if (p->options->counter_rates)
		draw_rate(p, &trail);
	else
		draw_curve(p, &trail);
}
