/* SPDX-License-Identifier: ISC
 *
 * Draws counters over the picture: as steps on a scale that fills its height, with markers. The
 * name and value of each are beside the picture, at the height where its curve leaves it. Colours
 * and marker shapes repeat after coprime numbers, so that 42 counters can be distinguished.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ns.h"
#include "base/number.h"
#include "base/search.h"
#include "render/painter.h"

#define PADDING      10.0 /* px above the highest and below the lowest value */
#define LABEL_HEIGHT 16.0
#define LABEL_SIZE   11.0
#define MARKER_EVERY 160.0
#define CHUNK        256 /* points per polyline */
#define RATE_PX      6.0 /* px over which a rate is averaged */
#define BAND_PX      8.0 /* width of a band's column, px */
#define BAND_HEIGHT  4.0 /* px; a lower band is drawn as a thick line */
#define BAND_FROM    3   /* samples in a band's column; fewer are drawn as steps */
#define REAL_DIGITS  4
#define HALO_CURVES  12 /* with more halos, tasks would be invisible */

/* The state of drawing a curve. Each curve is drawn twice: all halos first, so that no halo cuts
 * another curve. */
struct trail {
	double points[2 * CHUNK];
	uint32_t count;
	bool is_halo, is_band; /* the last column was part of a band */
	double x, y;           /* the end of that column, and the value there */
	struct weft_pen pen;
};

static bool is_hidden(const struct painter *p, uint32_t counter)
{
	return p->options->no_counters ||
		   (p->options->hidden_counters && p->options->hidden_counters[counter]);
}

static double value_before(const struct painter *p, uint32_t index, uint64_t time)
{
	const struct weft_counter *counter = &p->model->counters[index];
	const uint64_t *times = p->model->samples.time + counter->first;
	size_t at = counter->count;
	if (at && times[at - 1] >= time)
		at = weft__lower_bound_u64(times, at, time);
	return at ? weft_counter_value(p->model, counter, counter->first + (uint32_t)at - 1) : 0;
}

/* The rate of change per second, averaged over RATE_PX from a time on. */
static double rate_at(const struct painter *p, uint32_t index, uint64_t time)
{
	uint64_t ns = weft__ns_between(fmax(RATE_PX / p->view->scale, 1), UINT64_MAX);
	uint64_t end = weft__ns_add(time, ns);
	double change = value_before(p, index, end) - value_before(p, index, time);
	return change / (double)ns * 1e9;
}

/* The scale of rates in view: far larger rates elsewhere would flatten it. */
static struct weft__scale rate_scale(const struct painter *p, uint32_t index)
{
	struct weft__scale scale = {0, 0};
	for (double x = 0; x < p->frame->picture.width; x += RATE_PX) {
		double rate = rate_at(p, index, weft_view_time(p->view, x));
		scale.low = fmin(scale.low, rate);
		scale.high = fmax(scale.high, rate);
	}
	scale.high = scale.high > scale.low ? scale.high : scale.low + 1;
	return scale;
}

static struct weft__scale scale_of(const struct painter *p, uint32_t index)
{
	return p->options->counter_rates ? rate_scale(p, index) : p->scene->scales[index];
}

/* The position at which a 2 px line has its edges on whole pixels. */
static double whole(double at)
{
	return floor(at + 0.5);
}

static double value_y(const struct painter *p, const struct weft__scale *scale, double value)
{
	const struct weft_box *box = &p->frame->picture;
	double share = (value - scale->low) / (scale->high - scale->low);
	return whole(box->y + box->height - PADDING - share * (box->height - 2 * PADDING));
}

static void flush(struct painter *p, struct trail *trail)
{
	if (trail->count > 1)
		weft_canvas_polyline(p->canvas, trail->points, trail->count, &trail->pen);
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

static void draw_marker(struct painter *p, unsigned shape, double x, double y, uint32_t color)
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
	double x = floor(weft__x(p, times[sample]) / wide) * wide;
	uint64_t next = weft_view_time(p->view, x + wide - p->x0);
	uint32_t end = weft__gallop_u64(times, sample + 1, last, next);
	while (end < last && weft__x(p, times[end]) < x + wide) /* rounding at the column's end */
		end = weft__gallop_u64(times, end, last, times[end] + 1);
	struct weft__mean values = weft__scene_extremes(p->scene, counter, sample, end);
	*ret_column = (struct curve_column){end, values.low, values.high, values.mean};
}

static void draw_rate(
	struct painter *p, uint32_t index, const struct weft__scale *scale, struct trail *trail)
{
	const struct weft_box *box = &p->frame->picture;
	for (double x = 0; x < box->width; x += RATE_PX) {
		double y = value_y(p, scale, rate_at(p, index, weft_view_time(p->view, x)));
		go(p, trail, box->x + x, y);
		go(p, trail, box->x + fmin(x + RATE_PX, box->width), y);
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
static void draw_band(struct painter *p, const struct weft__scale *scale, double x,
	const struct curve_column *column, struct trail *trail)
{
	double left = floor(x / BAND_PX) * BAND_PX;
	double high = value_y(p, scale, column->high), low = value_y(p, scale, column->low);
	if (!trail->is_band || trail->x < left) {
		leave_band(p, trail);
		go(p, trail, left, trail->y);
	}
	if (!trail->is_halo)
		weft_canvas_rect(
			p->canvas, left, high - 1, left + BAND_PX, low + 1, weft__faded(trail->pen.color, 0.2));
	go(p, trail, left + BAND_PX / 2, value_y(p, scale, column->mean));
	trail->is_band = true;
	trail->x = left + BAND_PX;
}

/* True for changes up and down; values that only rise or fall are drawn as a line however dense
 * they are. */
static bool flutters(const struct painter *p, const struct weft_counter *counter,
	const struct weft__scale *scale, uint32_t at, const struct curve_column *c)
{
	double before = at > counter->first ? weft_counter_value(p->model, counter, at - 1) : 0;
	double change = weft_counter_value(p->model, counter, c->end - 1) - before;
	double height = value_y(p, scale, c->low) - value_y(p, scale, c->high);
	return c->end - at >= BAND_FROM && height >= BAND_HEIGHT && c->high - c->low > fabs(change);
}

/* True if a band is drawn. It is at least two columns wide, since a single one would look like a
 * stain between steps. */
static bool is_in_band(const struct painter *p, const struct weft_counter *counter,
	const struct weft__scale *scale, uint32_t at, const struct curve_column *column,
	const struct trail *trail)
{
	uint32_t last = counter->first + counter->count;
	double left = floor(weft__x(p, p->model->samples.time[at]) / BAND_PX) * BAND_PX;
	struct curve_column next;
	if (!flutters(p, counter, scale, at, column))
		return false;
	if (trail->is_band && trail->x >= left)
		return true;
	if (column->end == last ||
		weft__x(p, p->model->samples.time[column->end]) >= left + 2 * BAND_PX)
		return false;
	merge_column(p, counter, column->end, BAND_PX, &next);
	return flutters(p, counter, scale, column->end, &next);
}

/* Draws a step, with all values within its pixel. */
static void draw_step(struct painter *p, const struct weft_counter *counter,
	const struct weft__scale *scale, double x, const struct curve_column *column,
	struct trail *trail)
{
	leave_band(p, trail);
	x = whole(x);
	go(p, trail, x, trail->y);
	if (column->high > column->low) {
		go(p, trail, x, value_y(p, scale, column->low));
		go(p, trail, x, value_y(p, scale, column->high));
	}
	go(p, trail, x, value_y(p, scale, weft_counter_value(p->model, counter, column->end - 1)));
}

static void draw_curve(
	struct painter *p, uint32_t index, const struct weft__scale *scale, struct trail *trail)
{
	const struct weft_counter *counter = &p->model->counters[index];
	const struct weft_samples *samples = &p->model->samples;
	const struct weft_box *box = &p->frame->picture;
	uint32_t last = counter->first + counter->count;
	uint32_t at = counter->first +
				  weft__lower_bound_u64(samples->time + counter->first, counter->count, p->left);
	trail->y =
		value_y(p, scale, at > counter->first ? weft_counter_value(p->model, counter, at - 1) : 0);
	go(p, trail, box->x, trail->y);
	while (at < last && samples->time[at] <= p->right) {
		double x = weft__x(p, samples->time[at]);
		struct curve_column column;
		merge_column(p, counter, at, BAND_PX, &column);
		if (is_in_band(p, counter, scale, at, &column, trail)) {
			draw_band(p, scale, x, &column, trail);
		} else {
			merge_column(p, counter, at, 1, &column);
			draw_step(p, counter, scale, x, &column, trail);
		}
		at = column.end;
		trail->y = value_y(p, scale, weft_counter_value(p->model, counter, at - 1));
	}
	leave_band(p, trail);
	go(p, trail, box->x + box->width, trail->y);
	flush(p, trail);
}

/* The value that is drawn at a time: the counter's, or its rate. */
static double shown_at(const struct painter *p, uint32_t index, uint64_t time)
{
	return p->options->counter_rates ? rate_at(p, index, time) : value_before(p, index, time);
}

static void draw_markers(
	struct painter *p, uint32_t index, const struct weft__scale *scale, uint32_t color)
{
	const struct weft_box *box = &p->frame->picture;
	double first = box->x + MARKER_EVERY / 2 + 23.0 * (index % WEFT__COUNTER_SHAPES);
	for (double x = first; x < box->x + box->width - 8; x += MARKER_EVERY) {
		uint64_t time = weft_view_time(p->view, x - p->x0);
		draw_marker(
			p, index % WEFT__COUNTER_SHAPES, x, value_y(p, scale, shown_at(p, index, time)), color);
	}
}

/* Moves labels down until none overlaps the one above, then up from the lower edge. */
static void spread_labels(struct weft__curve *curves, uint32_t count, double top, double bottom)
{
	double next = top + LABEL_HEIGHT / 2;
	for (uint32_t i = 0; i < count; i++) {
		curves[i].label_y = fmax(curves[i].last_y, next);
		next = curves[i].label_y + LABEL_HEIGHT;
	}
	next = bottom - LABEL_HEIGHT / 2;
	for (uint32_t i = count; i-- > 0;) {
		curves[i].label_y = fmin(curves[i].label_y, next);
		next = curves[i].label_y - LABEL_HEIGHT;
	}
}

static uint32_t color_of(const struct painter *p, uint32_t counter)
{
	return p->theme->counters[counter % WEFT__COUNTER_COLORS];
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

/* Draws a label beside the picture, with a line to the end of its curve. */
static void draw_label(struct painter *p, const struct weft__curve *curve)
{
	const struct weft_box *box = &p->frame->gutter;
	uint32_t color = color_of(p, curve->counter);
	struct weft_text_style style = {color, LABEL_SIZE, false, false, 0};
	char room[256];
	struct weft_slice name = weft_story_counter_name(p->model, curve->counter, room, sizeof(room));
	struct weft_pen pen = {color, 1, WEFT_DASH_SOLID};
	char value[32];
	bool is_real = p->model->counters[curve->counter].max.is_real;
	format_value(curve->last_value, is_real && !p->options->counter_rates, value);
	if (p->options->counter_rates)
		strcat(value, "/s");
	double value_width = weft__measure(p, value, &style), x = box->x + 20;
	double right = box->x + box->width - 8;
	weft_canvas_line(p->canvas, box->x, curve->last_y, box->x + 6, curve->label_y, &pen);
	draw_marker(p, curve->counter % WEFT__COUNTER_SHAPES, box->x + 11, curve->label_y, color);
	weft__put_text(p, x, curve->label_y + 4, name, right - value_width - 6 - x, &style);
	weft_canvas_text(p->canvas, right - value_width, curve->label_y + 4, value, strlen(value),
		value_width, &style);
}

/* Places a label inside a narrow picture: at its right edge, where no name will be. */
static void place_label_inside(struct painter *p, struct weft__curve *curve)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {0, LABEL_SIZE, false, true, 0};
	char room[256];
	struct weft_slice name = weft_story_counter_name(p->model, curve->counter, room, sizeof(room));
	double right = box->x + box->width - 4;
	curve->label_width =
		weft__fit_text(p, name, box->width / 3, &style, curve->label, sizeof(curve->label));
	struct weft__rect rect = {right - curve->label_width - 2, curve->label_y - LABEL_HEIGHT / 2,
		right + 4, curve->label_y + LABEL_HEIGHT / 2};
	if (!weft__occupied_take(p->occupied, rect))
		curve->label_width = 0;
}

static void draw_label_inside(struct painter *p, const struct weft__curve *curve)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {
		color_of(p, curve->counter), LABEL_SIZE, false, true, p->theme->background};
	if (curve->label_width > 0)
		weft_canvas_text(p->canvas, box->x + box->width - 4 - curve->label_width,
			curve->label_y + 4, curve->label, strlen(curve->label), curve->label_width, &style);
}

/* The y at which a counter leaves the picture. */
static double end_y(const struct painter *p, uint32_t index, bool is_rate)
{
	struct weft__scale scale = is_rate ? rate_scale(p, index) : p->scene->scales[index];
	uint64_t end = weft_view_time(p->view, p->frame->picture.width - 1);
	return value_y(p, &scale, is_rate ? rate_at(p, index, end) : value_before(p, index, p->right));
}

/* Inserts a counter among the highest ones, in order: of many counters, most are below the last by
 * then. */
static void keep_highest(struct painter *p, uint32_t room, uint32_t counter, double y)
{
	uint32_t at = p->label_count;
	if (at == room && (room == 0 || p->curves[room - 1].last_y <= y))
		return;
	at -= at == room;
	for (; at > 0 && p->curves[at - 1].last_y > y; at--)
		p->curves[at] = p->curves[at - 1];
	p->curves[at] = (struct weft__curve){.counter = counter, .last_y = y};
	p->label_count += p->label_count < room;
}

static int compare_heights(const void *a, const void *b)
{
	const struct weft__curve *x = a, *y = b;
	if (x->last_y != y->last_y)
		return x->last_y < y->last_y ? -1 : 1;
	return x->counter < y->counter ? -1 : 1;
}

static int compare_counters(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Chooses the counters that are drawn: those that have room for a name. Others would only cover the
 * picture, and are counted instead. The choice depends on values even where rates are drawn, so
 * that it is stable and does not need thousands of rates. */
static bool choose_curves(struct painter *p)
{
	uint32_t count = p->model->counter_count;
	uint32_t room = (uint32_t)(p->frame->picture.height / LABEL_HEIGHT);
	for (uint32_t i = 0; i < count; i++)
		p->curve_count += !is_hidden(p, i);
	if (p->curve_count > room)
		room = room > 0 ? room - 1 : 0;
	p->curves = malloc((room + (size_t)1) * sizeof(*p->curves));
	p->named = malloc((room + (size_t)1) * sizeof(*p->named));
	if (!p->curves || !p->named)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!is_hidden(p, i))
			keep_highest(p, room, i, end_y(p, i, false));
	for (uint32_t i = 0; i < p->label_count; i++)
		p->named[i] = p->curves[i].counter;
	qsort(p->named, p->label_count, sizeof(*p->named), compare_counters);
	return true;
}

/* The counters without room, and those that the user has hidden. */
static uint32_t count_unnamed(const struct painter *p)
{
	uint32_t hidden = 0;
	for (uint32_t i = 0; i < p->model->counter_count; i++)
		hidden += is_hidden(p, i);
	return p->options->no_counters ? 0 : p->curve_count + hidden - p->label_count;
}

void weft__place_counters(struct painter *p)
{
	const struct weft_box *box = &p->frame->picture;
	uint64_t at = p->options->counters_at ? p->options->counters_at : p->right;
	double bottom = box->y + box->height;
	if (!choose_curves(p)) {
		p->error = WEFT_ERROR_MEMORY;
		return;
	}
	for (uint32_t i = 0; i < p->label_count && p->options->counter_rates; i++)
		p->curves[i].last_y = end_y(p, p->curves[i].counter, true);
	qsort(p->curves, p->label_count, sizeof(*p->curves), compare_heights);
	bottom -= count_unnamed(p) ? LABEL_HEIGHT : 0; /* room for the number of further counters */
	spread_labels(p->curves, p->label_count, box->y, bottom);
	for (uint32_t i = 0; i < p->label_count; i++) {
		p->curves[i].last_value = shown_at(p, p->curves[i].counter, at);
		if (p->frame->gutter.width == 0)
			place_label_inside(p, &p->curves[i]);
	}
}

static void draw_curves(struct painter *p, bool is_halo)
{
	for (uint32_t i = 0; i < p->label_count; i++) {
		uint32_t counter = p->named[i];
		struct trail trail = {
			.is_halo = is_halo,
			.pen = {color_of(p, counter), 2, WEFT_DASH_SOLID},
		};
		if (is_halo)
			trail.pen = (struct weft_pen){p->theme->background, 4, WEFT_DASH_SOLID};
		struct weft__scale scale = scale_of(p, counter);
		if (p->options->counter_rates)
			draw_rate(p, counter, &scale, &trail);
		else
			draw_curve(p, counter, &scale, &trail);
	}
}

void weft__draw_counters(struct painter *p)
{
	if (p->label_count <= HALO_CURVES)
		draw_curves(p, true);
	draw_curves(p, false);
	for (uint32_t i = 0; i < p->label_count;
		 i++) { /* labels distinguish curves that lie on each other */
		struct weft__scale scale = scale_of(p, p->named[i]);
		draw_markers(p, p->named[i], &scale, color_of(p, p->named[i]));
	}
}

/* Writes the number of further counters at the bottom of the gutter. */
static void count_the_rest(struct painter *p)
{
	const struct weft_box *box = &p->frame->gutter;
	struct weft_text_style style = {p->theme->dim, LABEL_SIZE, false, false, 0};
	char text[48];
	uint32_t unnamed = count_unnamed(p);
	int size = snprintf(text, sizeof(text), "and %" PRIu32 " more", unnamed);
	if (unnamed && box->width > 0)
		weft_canvas_text(p->canvas, box->x + 20, box->y + box->height - 4, text, (size_t)size,
			weft__measure(p, text, &style), &style);
}

void weft__name_counters(struct painter *p)
{
	for (uint32_t i = 0; i < p->label_count; i++)
		if (p->frame->gutter.width > 0)
			draw_label(p, &p->curves[i]);
		else
			draw_label_inside(p, &p->curves[i]);
	count_the_rest(p);
}
