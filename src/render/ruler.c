/* SPDX-License-Identifier: ISC
 *
 * Times along the top: ticks at 1, 2 or 5 times a power of ten, with labels at least 80 px from
 * each other. Times count from the trace's start. Where ticks would need too many digits, the left
 * end shows a round base time, and the ticks are offsets from it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ns.h"
#include "render/clock.h"
#include "render/painter.h"

#define LEAST_DISTANCE 80.0
#define DIGITS         5
#define CARET          4.0 /* px */

struct ruler {
	uint64_t step; /* ns */
	uint64_t base; /* ns from the trace's start: ticks are offsets from it */
	bool has_base;
};

static uint64_t step_for(double scale)
{
	uint64_t power = 1;
	static const unsigned factors[] = {1, 2, 5};
	for (;; power *= 10)
		for (unsigned i = 0; i < 3; i++)
			if ((double)(power * factors[i]) * scale >= LEAST_DISTANCE || power > UINT64_MAX / 100)
				return power * factors[i];
}

static struct ruler make_ruler(const struct painter *p)
{
	struct ruler ruler = {step_for(p->view->scale), 0, p->options->clock_times};
	uint64_t limit = 1, from = p->left - p->scene->start;
	for (unsigned i = 0; i < DIGITS; i++)
		limit *= 10;
	ruler.has_base = ruler.has_base || (p->right - p->scene->start) / ruler.step >= limit;
	if (ruler.has_base)
		ruler.base = from - from % ruler.step;
	return ruler;
}

/* Writes "12.30 ms", with the digits that the step needs, so that neighbours have equal precision.
 */
static void format_tick(uint64_t ns, uint64_t step, char text[32])
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	uint64_t unit = 1;
	unsigned index = 0, decimals = 0;
	while (index < 3 && (ns >= unit * 1000 || (ns == 0 && step >= unit * 1000))) {
		unit *= 1000;
		index++;
	}
	uint64_t fraction = ns % unit, digit = unit / 10;
	char digits[16];
	for (; digit && (fraction || digit * 10 > step); digit /= 10, decimals++) {
		digits[decimals] = (char)('0' + fraction / digit);
		fraction %= digit;
	}
	digits[decimals] = '\0';
	snprintf(text, 32, "%llu%s%s %s", (unsigned long long)(ns / unit), decimals ? "." : "", digits,
		units[index]);
}

/* Writes UTC if the trace knows it, else the clock's own time. */
void weft__render_format_clock(const struct weft_model *model, uint64_t time, char text[48])
{
	const struct weft_clock *clock = &model->clock;
	bool is_known = clock->epoch == WEFT_EPOCH_UNIX || clock->offset_ns != 0;
	uint64_t ns = time + (uint64_t)clock->offset_ns, second = ns / 1000000000;
	unsigned day_second = (unsigned)(second % 86400);
	int used;
	if (is_known)
		used = snprintf(text, 48, "%02u:%02u:%02u.%09u", day_second / 3600, day_second / 60 % 60,
			day_second % 60, (unsigned)(ns % 1000000000));
	else
		used = snprintf(text, 48, "%llu.%09u", (unsigned long long)(time / 1000000000),
			(unsigned)(time % 1000000000));
	while (used > 0 && text[used - 1] == '0')
		used--;
	used -= used > 0 && text[used - 1] == '.';
	snprintf(text + used, 48 - (size_t)used, is_known ? " UTC" : " s");
}

static void draw_label(
	struct painter *p, const struct ruler *ruler, double x, uint64_t tick, double *used)
{
	const struct weft_box *box = &p->frame->ruler;
	struct weft_text_style style = {p->theme->dim, 10.5, false, false, 0};
	char text[56] = "+";
	bool is_base = ruler->has_base && tick == ruler->base;
	if (is_base && p->options->clock_times)
		weft__render_format_clock(p->model, p->scene->start + tick, text + 1);
	else
		format_tick(is_base ? tick : tick - ruler->base, ruler->step, text + 1);
	const char *shown = ruler->has_base && !is_base ? text : text + 1;
	if (is_base)
		style.color = p->theme->text;
	double width = weft__render_measure(p, shown, &style);
	double left = x + 4;
	if (left < *used || left + width > box->x + box->width - 4)
		return;
	if (left < p->options->taken_x2 && left + width > p->options->taken_x)
		return;
	weft_canvas_text(p->canvas, left, box->y + 15, shown, strlen(shown), width, &style);
	*used = left + width + 8;
}

/* The tick after another one; there are none within squeezed stripes. */
static uint64_t tick_after(const struct painter *p, const struct ruler *ruler, uint64_t tick)
{
	uint64_t next = weft__ns_add(tick, ruler->step);
	struct weft_stripe stripe;
	if (next < UINT64_MAX - p->scene->start &&
		weft__view_next_stripe(p->view, p->scene->start + next, &stripe) &&
		stripe.start <= p->scene->start + next)
		next = (stripe.end - p->scene->start + ruler->step - 1) / ruler->step * ruler->step;
	return next;
}

static uint64_t first_tick(const struct painter *p, const struct ruler *ruler)
{
	uint64_t from = p->left - p->scene->start;
	return from / ruler->step * ruler->step;
}

static double tick_x(const struct painter *p, uint64_t tick)
{
	return weft__render_crisp(weft__render_x(p, p->scene->start + tick));
}

void weft__render_draw_grid(struct painter *p, const struct weft_box *box)
{
	struct ruler ruler = make_ruler(p);
	struct weft_pen pen = {p->theme->grid, 1, WEFT_DASH_SOLID};
	uint64_t last = p->right - p->scene->start;
	for (uint64_t tick = first_tick(p, &ruler); tick <= last && tick < UINT64_MAX;
		 tick = tick_after(p, &ruler, tick)) {
		double x = tick_x(p, tick);
		if (x >= box->x && x < box->x + box->width)
			weft_canvas_line(p->canvas, x, box->y, x, box->y + box->height, &pen);
	}
}

/* Draws carets for failures in the picture below; those nearer than a caret's width are one. */
static void draw_carets(struct painter *p)
{
	const struct weft_scene *scene = p->scene;
	const struct weft_box *box = &p->frame->ruler;
	double bottom = box->y + box->height, last = -INFINITY;
	for (uint32_t i = weft__render_scene_problem_from(scene, 0, p->left);
		 i < scene->problem_count;) {
		uint64_t time = scene->problem_ends[i];
		double x = weft__render_x(p, time);
		if (time > p->right || x > box->x + box->width)
			break;
		const double points[] = {
			x - CARET, bottom - CARET - 1, x + CARET, bottom - CARET - 1, x, bottom};
		if (x >= last + CARET)
			weft_canvas_polygon(p->canvas, points, 3, p->theme->failed);
		last = x >= last + CARET ? x : last;
		uint64_t next = weft_view_time(p->view, x - p->x0 + CARET);
		i = weft__render_scene_problem_from(scene, i, next > time ? next : time + 1);
	}
}

void weft__render_draw_ruler(struct painter *p)
{
	struct ruler ruler = make_ruler(p);
	struct weft_pen pen = {p->theme->grid, 1, WEFT_DASH_SOLID};
	const struct weft_box *box = &p->frame->ruler;
	uint64_t last = p->right - p->scene->start;
	double used = 0;
	for (uint64_t tick = first_tick(p, &ruler); tick <= last && tick < UINT64_MAX;
		 tick = tick_after(p, &ruler, tick)) {
		double x = tick_x(p, tick);
		bool before = x < box->x;
		if (before && !(ruler.has_base && tick == ruler.base))
			continue;
		if (!before)
			weft_canvas_line(p->canvas, x, box->y + 4, x, box->y + box->height, &pen);
		draw_label(p, &ruler, before ? box->x : x, tick, &used);
	}
	draw_carets(p);
}
