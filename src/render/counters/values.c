/* SPDX-License-Identifier: ISC
 *
 * The values or rates of change of counters, with their scales, colours and texts. Colours and
 * marker shapes repeat after coprime numbers, so that 42 counters can be distinguished.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ns.h"
#include "base/number.h"
#include "base/search.h"
#include "base/steps.h"
#include "render/counters/plot.h"

#define REAL_DIGITS 4

bool weft__render_hides_counter(const struct painter *p, uint32_t counter)
{
	return p->options->no_counters ||
		   (p->options->hidden_counters && p->options->hidden_counters[counter]);
}

uint32_t weft__render_counter_color(const struct painter *p, uint32_t counter)
{
	return p->theme->counters[counter % WEFT__COUNTER_COLORS];
}

double weft__render_counter_before(const struct painter *p, uint32_t index, uint64_t time)
{
	const struct weft_counter *counter = &p->model->counters[index];
	const uint64_t *times = p->model->samples.time + counter->first;
	size_t at = counter->count;
	if (at && times[at - 1] >= time)
		at = weft__lower_bound_u64(times, at, time);
	return at ? weft_counter_value(p->model, counter, counter->first + (uint32_t)at - 1)
			  : counter->start.real;
}

uint64_t weft__render_counter_end(const struct painter *p, uint32_t index)
{
	const struct weft_model *m = p->model;
	const struct weft_counter *counter = &m->counters[index];
	uint64_t end = weft_trace_buffer_at(m->buffers, m->buffer_count, counter->buffer)->end_ns;
	uint64_t last = counter->count ? m->samples.time[counter->first + counter->count - 1] : 0;
	return !end || m->summary.live ? UINT64_MAX : end > last ? end : last;
}

bool weft__render_counter_has_value(const struct painter *p, uint32_t index, uint64_t time)
{
	const struct weft_counter *counter = &p->model->counters[index];
	bool has_begun = !counter->begins_set || p->model->samples.time[counter->first] <= time;
	return has_begun && time <= weft__render_counter_end(p, index);
}

/* The rate of change per second, averaged over WEFT__RATE_PX from a time on. */
double weft__render_counter_rate(const struct painter *p, uint32_t index, uint64_t time)
{
	uint64_t ns = weft__ns_between(fmax(WEFT__RATE_PX / p->view->scale, 1), UINT64_MAX);
	uint64_t end = weft__ns_add(time, ns);
	double change =
		weft__render_counter_before(p, index, end) - weft__render_counter_before(p, index, time);
	return change / (double)ns * 1e9;
}

/* The scale of rates in view: far larger rates elsewhere would flatten it. */
static struct weft__scale rate_scale(const struct painter *p, uint32_t index)
{
	struct weft__scale scale = {0, 0};
	uint32_t steps = weft__steps(0, p->frame->picture.width, WEFT__RATE_PX);
	for (uint32_t i = 0; i < steps; i++) {
		double rate =
			weft__render_counter_rate(p, index, weft_view_time(p->view, i * WEFT__RATE_PX));
		scale.low = fmin(scale.low, rate);
		scale.high = fmax(scale.high, rate);
	}
	scale.high = scale.high > scale.low ? scale.high : scale.low + 1;
	return scale;
}

struct weft__scale weft__render_counter_scale(const struct painter *p, uint32_t index)
{
	return p->options->counter_rates ? rate_scale(p, index) : p->scene->scales[index];
}

/* The value that is drawn at a time: the counter's, or its rate. */
double weft__render_counter_shown(const struct painter *p, uint32_t index, uint64_t time)
{
	return p->options->counter_rates ? weft__render_counter_rate(p, index, time)
									 : weft__render_counter_before(p, index, time);
}

/* Writes up to six digits in full, larger numbers with three: "2.97 G" with powers of 1000. Real
 * numbers have four digits: "3.5". */
static void format_value(double value, bool is_real, char text[24])
{
	static const char units[] = " kMGTPE";
	char digits[WEFT__NUMBER_BYTES];
	double shown = value;
	unsigned unit = 0;
	if (fabs(shown) < 1e6) {
		if (is_real)
			snprintf(text, 24, "%.20s", weft__number_general(value, REAL_DIGITS, digits));
		else
			snprintf(text, 24, "%.0f", value);
		return;
	}
	for (; fabs(shown) >= 999.5 && unit < 6; unit++)
		shown /= 1000;
	snprintf(text, 24, "%.20s %c", weft__number_general(shown, 3, digits), units[unit]);
}

void weft__render_counter_text(
	const struct painter *p, uint32_t counter, double value, char text[32])
{
	bool is_rate = p->options->counter_rates;
	const bool has_sign = p->model->counters[counter].is_relative && !is_rate && value > 0;
	text[0] = '+';
	format_value(value, p->model->counters[counter].max.is_real && !is_rate, text + has_sign);
	if (is_rate)
		strcat(text, "/s");
}

void weft__render_draw_marker(struct painter *p, uint32_t counter, double x, double y)
{
	static const struct {
		uint32_t count;
		double points[24];
	} shapes[WEFT__COUNTER_SHAPES] = {
		{0, {0}},
		{4, {-3.5, -3.5, 3.5, -3.5, 3.5, 3.5, -3.5, 3.5}},
		{3, {0, -4.5, 4.5, 3.5, -4.5, 3.5}},
		{4, {0, -5, 5, 0, 0, 5, -5, 0}},
		{3, {0, 4.5, 4.5, -3.5, -4.5, -3.5}},
		{12, {-1.5, -4.5, 1.5, -4.5, 1.5, -1.5, 4.5, -1.5, 4.5, 1.5, 1.5, 1.5, 1.5, 4.5, -1.5, 4.5,
				 -1.5, 1.5, -4.5, 1.5, -4.5, -1.5, -1.5, -1.5}},
		{12, {-4.2, -2.1, -2.1, -4.2, 0, -2.1, 2.1, -4.2, 4.2, -2.1, 2.1, 0, 4.2, 2.1, 2.1, 4.2, 0,
				 2.1, -2.1, 4.2, -4.2, 2.1, -2.1, 0}},
	};
	uint32_t shape = counter % WEFT__COUNTER_SHAPES, color = weft__render_counter_color(p, counter);
	double points[24];
	if (shape == 0) {
		weft_canvas_disc(p->canvas, x, y, 4, color);
		return;
	}
	for (unsigned i = 0; i < 2 * shapes[shape].count; i += 2) {
		points[i] = x + shapes[shape].points[i];
		points[i + 1] = y + shapes[shape].points[i + 1];
	}
	weft_canvas_polygon(p->canvas, points, shapes[shape].count, color);
}
