/* SPDX-License-Identifier: ISC
 *
 * The overview: the whole trace in a strip, with the view as a frame.
 */
#include <math.h>
#include <stdlib.h>

#include "render/painter.h"
#include "render/strip.h"

#define EXACT     (1.0 / (1 << 20)) /* px: rounding errors must not move what is on a whole pixel */
#define TICK      8.0               /* px: the tick of a failed task */
#define LEAST_BAR 2.0
#define WHISKER   0.6 /* share of a colour */
#define OPEN_MARK 2.0 /* px: the radius of the mark of a whisker that goes on */
#define ROUGH     400 /* changes between adjacent pixels: with more, bars are smoothed */
#define GROUP     3   /* pixels joined by smoothing, since bars are drawn on each frame */

struct strip {
	struct weft__strip axis;
	double x, y, x2, y2;
	double threads; /* maximum of threads that ran at once */
	double alive;   /* maximum of tasks alive at once */
	unsigned width;
	struct weft__overview_column *columns; /* one for each pixel */
};

static double most_running(const struct weft__overview_column *columns, unsigned count)
{
	double most = 0;
	for (unsigned i = 0; i < count; i++)
		most = fmax(most, columns[i].running);
	return most > 0 ? most : 1;
}

/* Merges the overview's columns of one pixel. */
static struct weft__overview_column merge(
	const struct weft_scene *scene, unsigned first, unsigned last)
{
	struct weft__overview_column sum = {0};
	for (unsigned i = first; i < last; i++) {
		const struct weft__overview_column *column = &scene->overview[i];
		sum.running += column->running / (last - first);
		sum.idle += column->idle / (last - first);
		sum.failed += column->failed;
		sum.never_resolved += column->never_resolved;
		if (column->alive > sum.alive)
			sum.alive = column->alive;
	}
	return sum;
}

/* The height grows with the square root, so that a little work between long sleeps is visible. */
static double bar_height(const struct strip *s, double running)
{
	double height = (s->y2 - s->y - TICK) * sqrt(running / s->threads);
	return running > 0 && height < LEAST_BAR ? LEAST_BAR : floor(height + 0.5);
}

static void merge_all(const struct weft_scene *scene, struct strip *s)
{
	double scale = scene->overview_length / (s->x2 - s->x);
	unsigned count = (unsigned)ceil(scene->overview_length);
	for (unsigned px = 0; px < s->width; px++) {
		unsigned first = (unsigned)(px * scale), last = (unsigned)((px + 1) * scale);
		if (first > count - 1)
			first = count - 1;
		if (last <= first)
			last = first + 1;
		last = last > count ? count : last;
		s->columns[px] = merge(scene, first, last);
	}
}

static void fill(const struct weft_scene *scene, struct strip *s)
{
	if (!s->axis.view.squeeze) {
		s->threads = most_running(scene->overview, WEFT__OVERVIEW_COLUMNS);
		s->alive = scene->alive_max;
		merge_all(scene, s);
		return;
	}
	weft__render_count_columns(scene, &s->axis, s->width, s->columns);
	s->threads = most_running(s->columns, s->width);
	for (unsigned px = 0; px < s->width; px++)
		s->alive = fmax(s->alive, s->columns[px].alive);
}

static bool is_rough(const struct strip *s)
{
	unsigned changes = 0;
	for (unsigned px = 1; px < s->width; px++)
		changes +=
			bar_height(s, s->columns[px].running) != bar_height(s, s->columns[px - 1].running);
	return changes > ROUGH;
}

/* Smooths bars where each pixel differs from the next: groups get their mean height. Failures keep
 * their position. */
static void smooth(struct strip *s)
{
	for (unsigned first = 0; first < s->width; first += GROUP) {
		unsigned last = first + GROUP < s->width ? first + GROUP : s->width;
		struct weft__overview_column sum = {0};
		for (unsigned px = first; px < last; px++) {
			sum.running += s->columns[px].running / (last - first);
			sum.idle += s->columns[px].idle / (last - first);
			sum.alive = s->columns[px].alive > sum.alive ? s->columns[px].alive : sum.alive;
		}
		for (unsigned px = first; px < last; px++) {
			s->columns[px].running = sum.running;
			s->columns[px].idle = sum.idle;
			s->columns[px].alive = sum.alive;
		}
	}
}

/* Draws bars; neighbours of equal height are one rectangle. */
static void draw_bars(struct painter *p, const struct strip *s, bool idle)
{
	double begin = 0, height = 0;
	for (unsigned px = 0; px <= s->width; px++) {
		const struct weft__overview_column *column = &s->columns[px];
		double next = 0;
		if (px < s->width)
			next = idle ? (column->idle > 0.5) * (s->y2 - s->y) : bar_height(s, column->running);
		if (next == height)
			continue;
		if (height > 0)
			weft_canvas_rect(p->canvas, s->x + begin, s->y2 - height, s->x + px, s->y2,
				idle ? p->theme->idle : p->theme->waiting);
		begin = px;
		height = next;
	}
}

/* The highest whisker of the pixel of a whisker; returns the first whisker of another pixel. */
static uint32_t join_whiskers(
	const struct painter *p, const struct strip *s, uint32_t i, struct weft__whisker *ret_whisker)
{
	const struct weft__whisker *list = p->scene->whiskers;
	double end = floor(weft__render_strip_x(&s->axis, list[i].time)) + 1;
	*ret_whisker = list[i];
	for (i++; i < p->scene->whisker_count && weft__render_strip_x(&s->axis, list[i].time) < end;
		 i++)
		if (list[i].height > ret_whisker->height || list[i].is_beyond)
			*ret_whisker = list[i];
	return i;
}

/* Draws the longest tasks as lighter lines from the lower edge; one that is too long for the scale
 * ends in a ring, unless that of another one is there. */
static void draw_whiskers(struct painter *p, const struct strip *s)
{
	const struct weft_pen pen = {weft__render_faded(p->theme->text, 0.7), 1, WEFT_DASH_SOLID};
	const uint32_t above = weft__render_faded(p->theme->waiting, WHISKER),
				   inside = weft__render_faded(p->theme->background, WHISKER);
	struct weft__whisker whisker;
	double free_from = 0;
	for (uint32_t i = 0; i < p->scene->whisker_count;) {
		i = join_whiskers(p, s, i, &whisker);
		double x = floor(weft__render_strip_x(&s->axis, whisker.time));
		unsigned px = (unsigned)fmin(x - s->x, s->width - 1);
		double height = fmax(floor((s->y2 - s->y - TICK) * whisker.height), 1);
		double bar = fmin(bar_height(s, s->columns[px].running), height);
		if (bar > 0)
			weft_canvas_rect(p->canvas, x, s->y2 - bar, x + 1, s->y2, inside);
		if (height > bar)
			weft_canvas_rect(p->canvas, x, s->y2 - height, x + 1, s->y2 - bar, above);
		if (!whisker.is_beyond || x < free_from)
			continue;
		weft_canvas_ring(p->canvas, x + 0.5, s->y + TICK - OPEN_MARK - 1, OPEN_MARK, &pen);
		free_from = x + 2 * OPEN_MARK + 2;
	}
}

uint32_t weft__render_strip_longest(
	const struct weft__strip *strip, const struct weft_scene *scene, double x, double reach)
{
	uint32_t found = WEFT_NONE;
	for (uint32_t i = 0; i < scene->whisker_count; i++) {
		double away = fabs(weft__render_strip_x(strip, scene->whiskers[i].time) + 0.5 - x);
		if (!scene->whiskers[i].is_beyond || away > reach)
			continue;
		reach = away;
		found = scene->whiskers[i].task;
	}
	return found;
}

/* Draws the number of living tasks as a stepped line. */
static void draw_alive(struct painter *p, const struct strip *s)
{
	struct weft_pen pen = {weft__render_faded(p->theme->text, 0.55), 1, WEFT_DASH_SOLID};
	double points[2 * 128], most = fmax(s->alive, 1), last = -1;
	uint32_t count = 0;
	for (unsigned px = 0; px < s->width; px++) {
		uint32_t alive = s->columns[px].alive;
		double y = weft__render_crisp(s->y2 - 1 - (s->y2 - s->y - TICK - 2) * (alive / most));
		if (y == last && px + 1 < s->width)
			continue;
		if (count && count + 3 > sizeof(points) / sizeof(points[0]) / 2) {
			weft_canvas_polyline(p->canvas, points, count, &pen);
			points[0] = points[2 * count - 2];
			points[1] = points[2 * count - 1];
			count = 1;
		}
		if (count) {
			points[2 * count] = s->x + px + 0.5;
			points[2 * count++ + 1] = last;
		}
		points[2 * count] = s->x + px + 0.5;
		points[2 * count++ + 1] = y;
		last = y;
	}
	if (count > 1)
		weft_canvas_polyline(p->canvas, points, count, &pen);
}

/* Draws failures in red; neighbours are one box. */
static void draw_failed(struct painter *p, const struct strip *s)
{
	unsigned begin = s->width;
	for (unsigned px = 0; px <= s->width; px++) {
		bool failed = px < s->width && s->columns[px].failed;
		if (failed && begin == s->width)
			begin = px;
		if (failed || begin == s->width)
			continue;
		weft_canvas_rect(p->canvas, s->x + begin, s->y, s->x + fmax(px, begin + 2), s->y + TICK,
			p->theme->failed);
		begin = s->width;
	}
}

static void draw_never_resolved(struct painter *p, const struct strip *s)
{
	struct weft_pen pen = {p->theme->failed, 1, WEFT_DASH_SOLID};
	for (unsigned px = 0; px < s->width; px++) {
		double x = s->x + px;
		if (s->columns[px].never_resolved && !s->columns[px].failed)
			weft_canvas_polyline(p->canvas,
				(double[]){x - 2.5, s->y + 0.5, x + 2.5, s->y + 0.5, x + 2.5, s->y + TICK - 1.5,
					x - 2.5, s->y + TICK - 1.5, x - 2.5, s->y + 0.5},
				5, &pen);
	}
}

static void draw_stripes(struct painter *p, const struct strip *s)
{
	struct weft_stripe stripe = {.end = p->scene->start};
	struct weft__rect rect = {.y = s->y, .y2 = s->y2};
	while (weft__view_next_stripe(&s->axis.view, stripe.end, &stripe)) {
		rect.x = weft__render_strip_x(&s->axis, stripe.start);
		rect.x2 = weft__render_strip_x(&s->axis, stripe.end);
		weft__render_draw_torn(p, &rect);
	}
}

/* Veils what is outside the view, and frames the view. */
static void draw_window(struct painter *p, const struct strip *s)
{
	if (p->scene->end == p->scene->start)
		return;
	double from = weft__render_strip_x(&s->axis, p->left),
		   to = weft__render_strip_x(&s->axis, p->right);
	struct weft_pen pen = {p->theme->text, 1, WEFT_DASH_SOLID};
	uint32_t veil = weft__render_faded(p->theme->background, 0.55);
	from = weft__render_crisp(fmax(from, s->x));
	to = fmax(weft__render_crisp(fmin(to, s->x2)), from + 3);
	if (from > s->x + 1)
		weft_canvas_rect(p->canvas, s->x, s->y, from - 0.5, s->y2, veil);
	if (to < s->x2 - 1)
		weft_canvas_rect(p->canvas, to + 0.5, s->y, s->x2, s->y2, veil);
	weft_canvas_polyline(p->canvas,
		(double[]){
			from, s->y + 0.5, to, s->y + 0.5, to, s->y2 - 0.5, from, s->y2 - 0.5, from, s->y + 0.5},
		5, &pen);
}

struct weft__rect weft__render_strip_area(const struct weft_box *box)
{
	return (struct weft__rect){WEFT__STRIP_MARGIN, box->y + 1,
		floor(box->width - WEFT__STRIP_MARGIN), box->y + box->height - 3};
}

struct weft__strip weft__render_strip_of(const struct weft_box *box, const struct weft_view *view)
{
	struct weft__strip strip = {.area = weft__render_strip_area(box), .view = *view};
	weft__view_whole(&strip.view, strip.area.x2 - strip.area.x);
	return strip;
}

double weft__render_strip_x(const struct weft__strip *strip, uint64_t time)
{
	double x = weft_view_x(&strip->view, time);
	return strip->area.x + floor(x / EXACT + 0.5) * EXACT;
}

uint64_t weft__render_strip_time(const struct weft__strip *strip, double x)
{
	return weft_view_time(&strip->view, x - strip->area.x);
}

void weft__render_draw_strip(struct painter *p)
{
	const struct weft_box *box = &p->frame->strip;
	struct weft__strip axis = weft__render_strip_of(box, p->view);
	struct weft__rect area = axis.area;
	struct strip s = {axis, .x = area.x, .y = area.y, .x2 = area.x2, .y2 = area.y2};
	if (box->height == 0 || s.x2 - s.x < 8)
		return;
	s.width = (unsigned)(s.x2 - s.x);
	s.columns = malloc((s.width + (size_t)1) * sizeof(*s.columns));
	if (!s.columns) {
		p->error = WEFT_ERROR_MEMORY;
		return;
	}
	fill(p->scene, &s);
	if (is_rough(&s))
		smooth(&s);
	draw_bars(p, &s, true);
	draw_bars(p, &s, false);
	draw_whiskers(p, &s);
	draw_stripes(p, &s);
	draw_alive(p, &s);
	weft__render_draw_strip_losses(p, &s.axis);
	weft__render_draw_strip_alerts(p, &s.axis);
	draw_window(p, &s);
	draw_failed(p, &s);
	draw_never_resolved(p, &s);
	free(s.columns);
}
