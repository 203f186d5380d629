/* SPDX-License-Identifier: ISC
 *
 * Draws the stripes of a squeezed view: there the picture is torn, and the length of the time that
 * is squeezed stands in the gap. What waits goes on faintly through the gap.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/steps.h"
#include "render/painter.h"

#define TOOTH      4.0  /* px from one corner of a torn edge down to the next */
#define DEPTH      3.0  /* px of the teeth; inwards, so that they hide nothing of what ran */
#define POINTS_MAX 512  /* of an edge: in a higher picture the teeth are higher */
#define EDGES_FROM 12.0 /* px; a narrower stripe has one tear instead of two edges … */
#define TEAR_FROM  4.0  /* … and an even narrower one has only its ground */
#define OPAQUE     0.8
#define LINE_ALPHA 0.7
#define TEXT_FROM  20.0 /* px */
#define TEXT_SIZE  9.5
#define LINE       10.0
#define LINES      3
#define LOW        64.0 /* px; a lower picture has no room for the text */

/* Writes the corners of an edge from `y` to `y2`, down or up: they are at x and x + depth, in turn.
 * Returns their number. */
static uint32_t list_corners(double x, double depth, double y, double y2, double *points)
{
	double height = fabs(y2 - y), step = fmax(TOOTH, ceil(height / (POINTS_MAX - 2)));
	uint32_t count = weft__steps(0, height + step, step);
	if (count > POINTS_MAX)
		count = POINTS_MAX;
	for (uint32_t i = 0; i < count; i++) {
		points[2 * i] = x + (i % 2 ? depth : 0);
		points[2 * i + 1] = y + copysign(fmin(i * step, height), y2 - y);
	}
	return count;
}

static void draw_edge(struct painter *p, double x, double depth, const struct weft__rect *rect)
{
	const struct weft_pen pen = {weft__render_faded(p->theme->dim, LINE_ALPHA), 1, WEFT_DASH_SOLID};
	double points[2 * POINTS_MAX];
	uint32_t count = list_corners(x, depth, rect->y, rect->y2, points);
	weft_canvas_polyline(p->canvas, points, count, &pen);
}

static void draw_gap(struct painter *p, const struct weft__rect *rect)
{
	double points[4 * POINTS_MAX];
	uint32_t count = list_corners(rect->x, DEPTH, rect->y, rect->y2, points);
	count += list_corners(rect->x2, -DEPTH, rect->y2, rect->y, points + 2 * (size_t)count);
	weft_canvas_polygon(p->canvas, points, count, weft__render_faded(p->theme->idle, OPAQUE));
	draw_edge(p, rect->x, DEPTH, rect);
	draw_edge(p, rect->x2, -DEPTH, rect);
}

void weft__render_draw_torn(struct painter *p, const struct weft__rect *rect)
{
	double width = rect->x2 - rect->x;
	if (width >= EDGES_FROM)
		draw_gap(p, rect);
	else if (width >= TEAR_FROM)
		draw_edge(p, rect->x + width / 2 - DEPTH / 2, DEPTH, rect);
}

/* Writes "1.23", "ms" and "idle" below each other in the gap. */
static void write_length(struct painter *p, const struct weft_stripe *stripe, double x, double y)
{
	struct weft_text_style style = {p->theme->dim, TEXT_SIZE, false, true, p->theme->idle};
	char length[32], *lines[LINES] = {length, strchr(length, ' '), (char[]){"idle"}};
	weft_format_duration(stripe->end - stripe->start, 3, length);
	if (!(lines[1] = strchr(length, ' ')))
		return;
	*lines[1]++ = '\0';
	double half = weft__render_measure(p, length, &style) / 2;
	if (!weft__render_occupied_take(
			p->occupied, (struct weft__rect){x - half, y, x + half, y + LINES * LINE}))
		return;
	for (unsigned i = 0; i < LINES; i++) {
		double width = weft__render_measure(p, lines[i], &style);
		weft_canvas_text(p->canvas, x - width / 2, y + (i + 1) * LINE - 1, lines[i],
			strlen(lines[i]), width, &style);
	}
}

/* The stripes that are in view, one after the other, with their x and x2. */
static bool find_next(const struct painter *p, uint64_t time, struct weft_stripe *ret_stripe,
	struct weft__rect *ret_rect)
{
	if (!weft__view_next_stripe(p->view, time, ret_stripe) || ret_stripe->start >= p->right)
		return false;
	ret_rect->x = weft__render_x(p, ret_stripe->start);
	ret_rect->x2 = weft__render_x(p, ret_stripe->end);
	return true;
}

void weft__render_tear_box(struct painter *p, const struct weft_box *box)
{
	struct weft_stripe stripe = {.end = p->left};
	struct weft__rect rect = {.y = box->y, .y2 = box->y + box->height};
	while (find_next(p, stripe.end, &stripe, &rect))
		weft__render_draw_torn(p, &rect);
}

void weft__render_draw_stripes(struct painter *p)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_stripe stripe = {.end = p->left};
	struct weft__rect rect;
	weft__render_tear_box(p, box);
	while (box->height >= LOW && find_next(p, stripe.end, &stripe, &rect))
		if (rect.x2 - rect.x >= TEXT_FROM)
			write_length(p, &stripe, (rect.x + rect.x2) / 2, box->y + 1);
}
