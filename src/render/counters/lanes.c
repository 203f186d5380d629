/* SPDX-License-Identifier: ISC
 *
 * Draws counters in lanes of their own above the tasks: filled, with the scale at the left, the
 * full name, and the value at the pointer, or at the right edge; and histograms below them. Those
 * without a lane are counted below the last one.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/counters/plot.h"

#define ABOVE      4.0 /* px above the highest value */
#define BELOW      2.0
#define FILL       0.18
#define LINE       1.5
#define NAME_SIZE  11.0
#define SCALE_SIZE 9.0
#define TWO_FROM   26.0 /* px; lower lanes have only the upper end of the scale */
#define EDGE       4.0
#define GAP        8.0
#define NAME_AT    46.0 /* px: names begin below each other, unless a scale needs the room */
#define DOT        3.0

static struct weft__plot plot_of(
	const struct painter *p, uint32_t counter, const struct weft_box *box)
{
	uint32_t color = weft__render_counter_color(p, counter);
	return (struct weft__plot){
		.counter = counter,
		.box = *box,
		.above = ABOVE,
		.below = BELOW,
		.scale = weft__render_counter_scale(p, counter),
		.pen = {color, LINE, WEFT_DASH_SOLID},
		.fill = weft__render_faded(color, FILL),
	};
}

static double put(
	struct painter *p, double x, double y, const char *text, const struct weft_text_style *style)
{
	double width = weft__render_measure(p, text, style);
	weft_canvas_text(p->canvas, x, y, text, strlen(text), width, style);
	return width;
}

/* Writes the ends of the scale at the left edge; returns where they end. */
static double write_scale(struct painter *p, const struct weft__plot *plot)
{
	const struct weft_box *box = &plot->box;
	struct weft_text_style style = {p->theme->dim, SCALE_SIZE, false, true, p->theme->background};
	char high[32], low[32];
	double width = 0, x = box->x + EDGE;
	weft__render_counter_text(p, plot->counter, plot->scale.high, high);
	weft__render_counter_text(p, plot->counter, plot->scale.low, low);
	width = put(p, x, box->y + SCALE_SIZE + 1, high, &style);
	if (box->height >= TWO_FROM)
		width = fmax(width, put(p, x, box->y + box->height - 3, low, &style));
	return x + width;
}

/* Writes the name in full, if that fits into the lane; returns where it ends. */
static double write_name(struct painter *p, const struct weft__plot *plot, double x)
{
	const struct weft_box *box = &plot->box;
	struct weft_text_style style = {plot->pen.color, NAME_SIZE, false, true, p->theme->background};
	char room[256];
	struct weft_slice name = weft_story_counter_name(p->model, plot->counter, room, sizeof(room));
	return x + weft__render_put_text(
				   p, x, box->y + NAME_SIZE + 1, name, box->width * 2 / 3 - x + box->x, &style);
}

/* Writes the value beside the curve: right of the pointer, or left of it where there is no room. */
static void write_value(struct painter *p, const struct weft__plot *plot, double used)
{
	const struct weft_box *box = &plot->box;
	struct weft_text_style style = {plot->pen.color, NAME_SIZE, true, true, p->theme->background};
	uint64_t at = p->options->counters_at ? p->options->counters_at : p->right;
	const uint64_t ended = weft__render_counter_end(p, plot->counter);
	at = at < ended ? at : ended;
	if (!weft__render_counter_has_value(p, plot->counter, at) || at < p->left)
		return;
	double right = box->x + box->width, value = weft__render_counter_shown(p, plot->counter, at);
	double x = fmin(weft__render_x(p, at), right), y = weft__render_plot_y(plot, value);
	char text[32];
	y = fmin(fmax(y, box->y + ABOVE), box->y + box->height - BELOW); /* a rate out of view */
	weft__render_counter_text(p, plot->counter, value, text);
	double width = weft__render_measure(p, text, &style), left = x + GAP;
	if (left + width > right - EDGE)
		left = fmin(x - GAP, right - EDGE) - width;
	if (p->options->counters_at)
		weft_canvas_disc(p->canvas, x, y, DOT, plot->pen.color);
	if (left >= used + GAP)
		put(p, left, box->y + box->height / 2 + 4, text, &style);
}

static void draw_lane(struct painter *p, uint32_t counter, const struct weft_box *box)
{
	struct weft__plot plot = plot_of(p, counter, box);
	struct weft_pen pen = {p->theme->grid, 1, WEFT_DASH_SOLID};
	double bottom = weft__render_crisp(box->y + box->height - 1);
	weft__render_draw_plot(p, &plot);
	weft_canvas_line(p->canvas, box->x, bottom, box->x + box->width, bottom, &pen);
	weft__render_tear_box(p, box);
	double used = write_name(p, &plot, fmax(write_scale(p, &plot) + GAP, box->x + NAME_AT));
	write_value(p, &plot, used);
}

/* Writes the number of counters, and histograms, without a lane. */
static void count_the_rest(struct painter *p, uint32_t counters, uint32_t histograms, double y)
{
	static const char *const nouns[] = {"counter", "histogram", "counters and histogram"};
	const uint32_t count = counters + histograms;
	const char *noun = nouns[!histograms ? 0 : !counters ? 1 : 2];
	const struct weft_box *box = &p->frame->lanes;
	struct weft_text_style style = {p->theme->dim, SCALE_SIZE, false, true, p->theme->background};
	char text[48];
	snprintf(text, sizeof(text), "and %" PRIu32 " more %s%s", count, noun, count == 1 ? "" : "s");
	if (count && y + SCALE_SIZE <= box->y + box->height)
		put(p, box->x + EDGE, y + SCALE_SIZE + 1, text, &style);
}

/* The number of lanes that have room. */
static uint32_t lane_count(const struct painter *p)
{
	const struct weft_frame *frame = p->frame;
	if (!(frame->lane_height > 0) || p->options->no_counters)
		return 0;
	return (uint32_t)(frame->lanes.height / frame->lane_height + 0.01);
}

/* The counter of the next lane, from `counter` on. */
static uint32_t next_shown(const struct painter *p, uint32_t counter)
{
	while (counter < p->model->counter_count && weft__render_hides_counter(p, counter))
		counter++;
	return counter;
}

bool weft__render_has_lane(const struct painter *p, uint32_t name)
{
	uint32_t lanes = lane_count(p), counter = next_shown(p, 0);
	for (; lanes > 0 && counter < p->model->counter_count; lanes--) {
		if (p->model->counters[counter].name == name)
			return true;
		counter = next_shown(p, counter + 1);
	}
	return false;
}

void weft__render_draw_counter_lanes(struct painter *p)
{
	const struct weft_box *box = &p->frame->lanes;
	uint32_t lanes = lane_count(p), counter = next_shown(p, 0), drawn = 0;
	double height = p->frame->lane_height;
	if (lanes == 0)
		return;
	weft_canvas_clip(p->canvas, box->x, box->y, box->x + box->width, box->y + box->height);
	weft__render_draw_grid(p, box);
	for (; drawn < lanes && counter < p->model->counter_count; drawn++) {
		struct weft_box lane = {box->x, box->y + drawn * height, box->width, height};
		draw_lane(p, counter, &lane);
		counter = next_shown(p, counter + 1);
	}
	const uint32_t counters = drawn, histograms = weft_histogram_lanes(p->model);
	uint32_t histogram = weft__render_next_histogram(p, 0);
	for (; drawn < lanes && drawn - counters < histograms; drawn++) {
		struct weft_box lane = {box->x, box->y + drawn * height, box->width, height};
		weft__render_draw_histogram(p, histogram, &lane);
		histogram = weft__render_next_histogram(p, histogram + 1);
	}
	count_the_rest(p, p->model->counter_count - counters, histograms - (drawn - counters),
		box->y + drawn * height);
	weft_canvas_unclip(p->canvas);
}
