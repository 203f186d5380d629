/* SPDX-License-Identifier: ISC
 *
 * Draws counters over the picture: as steps on a scale that fills its height, with markers. The
 * name and value of each are beside the picture, at the height where its curve leaves it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/steps.h"
#include "render/counters/plot.h"

#define PADDING      10.0 /* px above the highest and below the lowest value */
#define LABEL_HEIGHT 16.0
#define LABEL_SIZE   11.0
#define MARKER_EVERY 160.0
#define HALO_CURVES  12 /* with more halos, tasks would be invisible */

static struct weft__plot plot_on(
	const struct painter *p, uint32_t counter, struct weft__scale scale)
{
	return (struct weft__plot){
		.counter = counter,
		.box = p->frame->picture,
		.above = PADDING,
		.below = PADDING,
		.scale = scale,
		.pen = {weft__render_counter_color(p, counter), 2, WEFT_DASH_SOLID},
	};
}

struct weft__plot weft__render_overlay_plot(const struct painter *p, uint32_t counter)
{
	return plot_on(p, counter, weft__render_counter_scale(p, counter));
}

static void draw_markers(struct painter *p, const struct weft__plot *plot)
{
	const struct weft_box *box = &plot->box;
	double first = box->x + MARKER_EVERY / 2 + 23.0 * (plot->counter % WEFT__COUNTER_SHAPES);
	uint32_t steps = weft__steps(first, box->x + box->width - 8, MARKER_EVERY);
	for (uint32_t i = 0; i < steps; i++) {
		double x = first + i * MARKER_EVERY;
		uint64_t time = weft_view_time(p->view, x - p->x0);
		double value = weft__render_counter_shown(p, plot->counter, time);
		if (!weft__render_counter_has_value(p, plot->counter, time))
			continue;
		weft__render_draw_marker(p, plot->counter, x, weft__render_plot_y(plot, value));
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

/* Draws a label beside the picture, with a line to the end of its curve. */
static void draw_label(struct painter *p, const struct weft__curve *curve)
{
	const struct weft_box *box = &p->frame->gutter;
	uint32_t color = weft__render_counter_color(p, curve->counter);
	struct weft_text_style style = {color, LABEL_SIZE, false, false, 0};
	char room[256];
	struct weft_slice name = weft_story_counter_name(p->model, curve->counter, room, sizeof(room));
	struct weft_pen pen = {color, 1, WEFT_DASH_SOLID};
	char value[32];
	weft__render_counter_text(p, curve->counter, curve->last_value, value);
	double value_width = weft__render_measure(p, value, &style), x = box->x + 20;
	double right = box->x + box->width - 8;
	weft_canvas_line(p->canvas, box->x, curve->last_y, box->x + 6, curve->label_y, &pen);
	weft__render_draw_marker(p, curve->counter, box->x + 11, curve->label_y);
	weft__render_put_text(p, x, curve->label_y + 4, name, right - value_width - 6 - x, &style);
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
		weft__render_fit_text(p, name, box->width / 3, &style, curve->label, sizeof(curve->label));
	struct weft__rect rect = {right - curve->label_width - 2, curve->label_y - LABEL_HEIGHT / 2,
		right + 4, curve->label_y + LABEL_HEIGHT / 2};
	if (!weft__render_occupied_take(p->occupied, rect))
		curve->label_width = 0;
}

static void draw_label_inside(struct painter *p, const struct weft__curve *curve)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {weft__render_counter_color(p, curve->counter), LABEL_SIZE,
		false, true, p->theme->background};
	if (curve->label_width > 0)
		weft_canvas_text(p->canvas, box->x + box->width - 4 - curve->label_width,
			curve->label_y + 4, curve->label, strlen(curve->label), curve->label_width, &style);
}

/* The y at which a counter leaves the picture: that of its value, or of its rate. */
static double end_y(const struct painter *p, uint32_t counter, bool is_rate)
{
	struct weft__plot plot = plot_on(
		p, counter, is_rate ? weft__render_counter_scale(p, counter) : p->scene->scales[counter]);
	uint64_t end = weft_view_time(p->view, p->frame->picture.width - 1);
	return weft__render_plot_y(&plot, is_rate ? weft__render_counter_rate(p, counter, end)
											  : weft__render_counter_before(p, counter, p->right));
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
		p->curve_count += !weft__render_hides_counter(p, i);
	if (p->curve_count > room)
		room = room > 0 ? room - 1 : 0;
	p->curves = malloc((room + (size_t)1) * sizeof(*p->curves));
	p->named = malloc((room + (size_t)1) * sizeof(*p->named));
	if (!p->curves || !p->named)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!weft__render_hides_counter(p, i))
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
		hidden += weft__render_hides_counter(p, i);
	return p->options->no_counters ? 0 : p->curve_count + hidden - p->label_count;
}

void weft__render_arrange_counters(struct painter *p)
{
	const struct weft_box *box = &p->frame->picture;
	uint64_t at = p->options->counters_at ? p->options->counters_at : p->right;
	double bottom = box->y + box->height;
	if (p->frame->counters != WEFT_COUNTERS_OVERLAY)
		return;
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
		p->curves[i].last_value = weft__render_counter_shown(p, p->curves[i].counter, at);
		if (p->frame->gutter.width == 0)
			place_label_inside(p, &p->curves[i]);
	}
}

/* All halos are drawn first, so that no halo cuts another curve. */
static void draw_halos(struct painter *p)
{
	for (uint32_t i = 0; i < p->label_count; i++) {
		struct weft__plot plot = weft__render_overlay_plot(p, p->named[i]);
		plot.pen = (struct weft_pen){p->theme->background, 4, WEFT_DASH_SOLID};
		plot.is_halo = true;
		weft__render_draw_plot(p, &plot);
	}
}

void weft__render_draw_counters(struct painter *p)
{
	if (p->label_count <= HALO_CURVES)
		draw_halos(p);
	for (uint32_t i = 0; i < p->label_count; i++) {
		struct weft__plot plot = weft__render_overlay_plot(p, p->named[i]);
		weft__render_draw_plot(p, &plot);
	}
	for (uint32_t i = 0; i < p->label_count;
		 i++) { /* labels distinguish curves that lie on each other */
		struct weft__plot plot = weft__render_overlay_plot(p, p->named[i]);
		draw_markers(p, &plot);
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
			weft__render_measure(p, text, &style), &style);
}

void weft__render_name_counters(struct painter *p)
{
	for (uint32_t i = 0; i < p->label_count; i++)
		if (p->frame->gutter.width > 0)
			draw_label(p, &p->curves[i]);
		else
			draw_label_inside(p, &p->curves[i]);
	count_the_rest(p);
}
