/* SPDX-License-Identifier: ISC
 *
 * The shape of an arrow. Each type has its own line style and head, not only its own colour.
 */
#include "render/edges/arrow.h"

#include <math.h>

#include "render/painter.h"

#define HEAD_LENGTH 7.0
#define HEAD_WIDTH  5.0
#define HEAD_LINE   1.25
#define FADED_AT    6000.0 /* px: wider arrows are invisible */
#define LEAST_ALPHA 0.01
#define SHORT       4.0
#define BESIDE      40.0 /* px beside the picture, to which lines are clipped */

/* Clips the line to slightly more than the picture, in double precision, which backends lack. */
static bool clip(const struct painter *p, struct weft__arrow *a)
{
	const struct weft_box *box = &p->frame->picture;
	double low = box->x - BESIDE, high = box->x + box->width + BESIDE;
	if (fmax(a->x, a->x2) < box->x || fmin(a->x, a->x2) > box->x + box->width)
		return false;
	if (a->x == a->x2)
		return true;
	double slope = (a->y2 - a->y) / (a->x2 - a->x);
	double x = fmin(fmax(a->x, low), high), x2 = fmin(fmax(a->x2, low), high);
	double y = a->y + (x - a->x) * slope, y2 = a->y + (x2 - a->x) * slope;
	a->filled = a->filled && x2 == a->x2;
	a->x = x;
	a->y = y;
	a->x2 = x2;
	a->y2 = y2;
	return true;
}

static void draw_head(struct painter *p, const struct weft__arrow *a, uint32_t color)
{
	double dx = a->x2 - a->x, dy = a->y2 - a->y, length = hypot(dx, dy);
	if (length < 1e-6)
		return;
	double ux = dx / length, uy = dy / length;
	double size = fmin(HEAD_LENGTH, fmax(length * 0.6, 3)),
		   half = size * HEAD_WIDTH / HEAD_LENGTH / 2;
	double bx = a->x2 - ux * size, by = a->y2 - uy * size;
	const double points[] = {
		bx - uy * half, by + ux * half, a->x2, a->y2, bx + uy * half, by - ux * half};
	struct weft_pen pen = {color, HEAD_LINE, WEFT_DASH_SOLID};
	if (a->filled)
		weft_canvas_polygon(p->canvas, points, 3, color);
	else
		weft_canvas_polyline(p->canvas, points, 3, &pen);
}

static void draw_crossing(struct painter *p, const struct weft__arrow *a, uint32_t color)
{
	struct weft_pen pen = {color, 1.5, WEFT_DASH_SOLID};
	double x = (a->x + a->x2) / 2, y = (a->y + a->y2) / 2;
	weft_canvas_line(p->canvas, x - 3, y - 3, x + 3, y + 3, &pen);
	weft_canvas_line(p->canvas, x - 3, y + 3, x + 3, y - 3, &pen);
}

void weft__render_arrow_draw(struct painter *p, struct weft__arrow a)
{
	const struct weft__drawn_edge drawn = {a.edge, a.end, a.x, a.y, a.x2, a.y2};
	double alpha = 1 - fabs(a.x2 - a.x) / FADED_AT;
	if (alpha <= LEAST_ALPHA || !clip(p, &a))
		return;
	if (a.y == a.y2 && fabs(a.x2 - a.x) < SHORT)
		return;
	weft__render_add_drawn_edge(p, &drawn);
	uint32_t color = weft__render_faded(a.color, alpha * p->arrow_alpha * p->arrow_dim);
	struct weft_pen pen = {color, p->arrow_width, a.dash};
	if (a.x == a.x2)
		a.x = a.x2 = weft__render_crisp(a.x);
	weft_canvas_line(p->canvas, a.x, a.y, a.x2, a.y2, &pen);
	if (!a.is_headless)
		draw_head(
			p, &a, weft__render_faded(a.color, alpha * (p->arrow_alpha + 1) / 2 * p->arrow_dim));
	if (a.ringed) {
		pen.dash = WEFT_DASH_SOLID;
		weft_canvas_ring(p->canvas, a.x, a.y, 2, &pen);
	}
	if (a.crossed && hypot(a.x2 - a.x, a.y2 - a.y) > 16)
		draw_crossing(p, &a, weft__render_faded(a.color, alpha));
}

/* Makes an arrow between two tasks' lines stop at their edges, not at their middles. */
static void touch_lines(struct weft__arrow *a)
{
	double gap = fabs(a->y2 - a->y);
	if (gap < 10)
		return;
	a->y2 += a->y2 > a->y ? -3 : 3;
}

static void set_ends(const struct painter *p, struct weft__arrow *a, uint32_t from,
	uint64_t from_time, uint32_t to, uint64_t to_time)
{
	a->x = weft__render_x(p, from_time);
	a->x2 = weft__render_x(p, to_time);
	a->y = weft__render_crisp(weft__render_y(p, p->layout->row[from]));
	a->y2 = weft__render_crisp(weft__render_y(p, p->layout->row[to]));
	touch_lines(a);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool weft__render_arrow_make(const struct painter *p, uint32_t edge, struct weft__arrow *ret_arrow)
{
	const struct weft_edges *edges = &p->model->edges;
	const struct weft_tasks *tasks = &p->model->tasks;
	const struct weft__theme *t = p->theme;
	uint32_t from = edges->from[edge], to = edges->to[edge];
	uint64_t time = edges->time[edge];
	struct weft__arrow a = {.edge = edge, .dash = WEFT_DASH_SOLID};
	if (from == WEFT_NONE || to == WEFT_NONE || from == to || !weft__render_draws_edge(p, from, to))
		return false;
	switch (edges->type[edge]) {
	case WEFT_EDGE_READ:
		a.crossed = tasks->flags[to] & WEFT_TASK_FAILED;
		a.color = a.crossed ? t->failed : t->read;
		set_ends(p, &a, to, earlier(tasks->end[to], time), from, time);
		break;
	case WEFT_EDGE_TRY_READ:
	case WEFT_EDGE_WAIT_ANY: /* only if it is selected */
		a.color = t->try_read;
		a.dash = WEFT_DASH_SHORT;
		a.is_wait = true;
		set_ends(p, &a, from, time, to, earlier(tasks->end[to], time));
		break;
	case WEFT_EDGE_RESOLVE:
		a.color = t->resolve;
		a.filled = a.ringed = true;
		set_ends(p, &a, from, earlier(tasks->end[from], time), to, time);
		break;
	case WEFT_EDGE_SIGNAL:
		a.color = t->signal;
		a.dash = WEFT_DASH_DOTTED;
		a.filled = true;
		set_ends(p, &a, from, time, to, time);
		break;
	case WEFT_EDGE_RECEIVE:
		a.color = t->signal;
		a.filled = a.ringed = true;
		set_ends(p, &a, from, earlier(tasks->end[from], time), to, time);
		break;
	default:
		return false;
	}
	*ret_arrow = a;
	return true;
}
