/* SPDX-License-Identifier: ISC
 *
 * Arrows: who read, waited for, fulfilled and woke whom. (Who made whom is in links.c.)
 *
 * Each kind differs from the rest in line and head, not only in colour. Arrows between the same
 * rows that are closer than three pixels are one, and of more than two that end in one pixel column
 * the rest leave a tick at what they point at: a frame draws as many as its width has room for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "render/painter.h"

#define HEAD_LENGTH   7.0
#define HEAD_WIDTH    5.0
#define ARROW_LINE    1.25
#define ARROW_ALPHA   0.75
#define CROWD_ALPHA   0.4    /* of each, where there are many */
#define CROWD         3000   /* arrows in the picture */
#define FADED_AT      6000.0 /* px of width */
#define LEAST_ALPHA   0.01
#define MERGED_WITHIN 3.0
#define PER_COLUMN    2
#define SHORT         4.0

struct arrow {
	double x, y, x2, y2;
	uint32_t color;
	enum weft_canvas_dash dash;
	bool filled, ringed, crossed;
};

static bool crosses_picture(const struct painter *p, double x, double x2)
{
	const struct weft_box *box = &p->frame->picture;
	return fmax(x, x2) >= box->x && fmin(x, x2) <= box->x + box->width;
}

/* Cuts the line down to a little around the picture, in double precision: backends do worse. */
static bool clip(const struct painter *p, struct arrow *a)
{
	const struct weft_box *box = &p->frame->picture;
	double low = box->x - 40, high = box->x + box->width + 40, slope;
	if (!crosses_picture(p, a->x, a->x2))
		return false;
	if (a->x == a->x2)
		return true;
	slope = (a->y2 - a->y) / (a->x2 - a->x);
	double x = fmin(fmax(a->x, low), high), x2 = fmin(fmax(a->x2, low), high);
	double y = a->y + (x - a->x) * slope, y2 = a->y + (x2 - a->x) * slope;
	a->filled = a->filled && x2 == a->x2;
	*a = (struct arrow){x, y, x2, y2, a->color, a->dash, a->filled, a->ringed, a->crossed};
	return true;
}

static void draw_head(struct painter *p, const struct arrow *a, uint32_t color)
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
	struct weft_pen pen = {color, ARROW_LINE, WEFT_DASH_SOLID};
	if (a->filled)
		weft_canvas_polygon(p->canvas, points, 3, color);
	else
		weft_canvas_polyline(p->canvas, points, 3, &pen);
}

static void draw_crossing(struct painter *p, const struct arrow *a, uint32_t color)
{
	struct weft_pen pen = {color, 1.5, WEFT_DASH_SOLID};
	double x = (a->x + a->x2) / 2, y = (a->y + a->y2) / 2;
	weft_canvas_line(p->canvas, x - 3, y - 3, x + 3, y + 3, &pen);
	weft_canvas_line(p->canvas, x - 3, y + 3, x + 3, y - 3, &pen);
}

static void draw_arrow(struct painter *p, struct arrow a)
{
	double alpha = 1 - fabs(a.x2 - a.x) / FADED_AT;
	if (alpha <= LEAST_ALPHA || !clip(p, &a))
		return;
	if (a.y == a.y2 && fabs(a.x2 - a.x) < SHORT)
		return;
	uint32_t color = weft__faded(a.color, alpha * p->arrow_alpha);
	struct weft_pen pen = {color, ARROW_LINE, a.dash};
	if (a.x == a.x2)
		a.x = a.x2 = weft__crisp(a.x);
	weft_canvas_line(p->canvas, a.x, a.y, a.x2, a.y2, &pen);
	draw_head(p, &a, weft__faded(a.color, alpha * (p->arrow_alpha + 1) / 2));
	if (a.ringed) {
		pen.dash = WEFT_DASH_SOLID;
		weft_canvas_ring(p->canvas, a.x, a.y, 2, &pen);
	}
	if (a.crossed && hypot(a.x2 - a.x, a.y2 - a.y) > 16)
		draw_crossing(p, &a, weft__faded(a.color, alpha));
}

/* An arrow between two tasks' lines stops at their edge, not at their middle. */
static void touch_lines(struct arrow *a)
{
	double gap = fabs(a->y2 - a->y);
	if (gap < 10)
		return;
	a->y2 += a->y2 > a->y ? -3 : 3;
}

static void set_ends(struct painter *p, struct arrow *a, uint32_t from, uint64_t from_time,
	uint32_t to, uint64_t to_time)
{
	a->x = weft__x(p, from_time);
	a->x2 = weft__x(p, to_time);
	a->y = weft__crisp(weft__y(p, p->layout->row[from]));
	a->y2 = weft__crisp(weft__y(p, p->layout->row[to]));
	touch_lines(a);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The arrow of an edge; false if it has none. */
static bool make_arrow(struct painter *p, uint32_t edge, struct arrow *ret_arrow)
{
	const struct weft_edges *edges = &p->model->edges;
	const struct weft_tasks *tasks = &p->model->tasks;
	const struct weft__theme *t = p->theme;
	uint32_t from = edges->from[edge], to = edges->to[edge];
	uint64_t time = edges->time[edge];
	struct arrow a = {.dash = WEFT_DASH_SOLID};
	if (from == WEFT_NONE || to == WEFT_NONE || from == to)
		return false;
	switch (edges->type[edge]) {
	case WEFT_EDGE_READ:
		a.crossed = tasks->flags[to] & WEFT_TASK_FAILED;
		a.color = a.crossed ? t->failed : t->read;
		set_ends(p, &a, to, earlier(tasks->end[to], time), from, time);
		break;
	case WEFT_EDGE_TRY_READ:
		a.color = t->try_read;
		a.dash = WEFT_DASH_SHORT;
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
	default:
		return false;
	}
	*ret_arrow = a;
	return true;
}

/* Less than a full arrow: what it points at is marked in its colour. */
static void draw_tick(struct painter *p, const struct arrow *a)
{
	const struct weft_box *box = &p->frame->picture;
	p->tally.arrows_merged++;
	if (a->x2 >= box->x && a->x2 <= box->x + box->width)
		weft_canvas_rect(p->canvas, floor(a->x2), a->y2 - 3, floor(a->x2) + 1, a->y2 + 3, a->color);
}

static void draw_edges(struct painter *p, uint32_t first, uint32_t last, unsigned type)
{
	const struct weft_edges *edges = &p->model->edges;
	const struct weft_box *box = &p->frame->picture;
	uint32_t count = (uint32_t)box->width + 1;
	uint8_t *used = calloc(count + (size_t)1, 1);
	struct arrow a, before = {.x = -1e9, .x2 = -1e9};
	if (!used) {
		p->error = WEFT_ERROR_MEMORY;
		return;
	}
	for (uint32_t edge = first; edge < last; edge++) {
		if (edges->type[edge] != type || !make_arrow(p, edge, &a) || !crosses_picture(p, a.x, a.x2))
			continue;
		p->tally.edges[type] = true;
		bool again = a.y == before.y && a.y2 == before.y2 && fabs(a.x - before.x) < MERGED_WITHIN &&
					 fabs(a.x2 - before.x2) < MERGED_WITHIN;
		double column = fmin(fmax(floor(a.x2 - box->x), 0), count);
		if (again) {
			p->tally.arrows_merged++;
		} else if (used[(uint32_t)column] >= PER_COLUMN) {
			draw_tick(p, &a);
		} else {
			used[(uint32_t)column]++;
			draw_arrow(p, a);
			before = a;
		}
	}
	free(used);
}

/* Many arrows are a texture, behind which the tasks must still be seen. */
static double crowd_alpha(const struct painter *p)
{
	const struct weft_edges *edges = &p->model->edges;
	size_t first = weft__lower_bound_u64(edges->time, edges->count, p->left);
	size_t last = weft__lower_bound_u64(edges->time, edges->count, p->right);
	double crowd = fmin(1, (double)(last - first) / CROWD);
	return ARROW_ALPHA - (ARROW_ALPHA - CROWD_ALPHA) * crowd;
}

void weft__draw_arrows(struct painter *p)
{
	static const uint8_t order[] = {
		WEFT_EDGE_TRY_READ, WEFT_EDGE_READ, WEFT_EDGE_RESOLVE, WEFT_EDGE_SIGNAL};
	uint64_t around = p->right - p->left; /* arrows may come from a view's width away */
	uint64_t from = p->left > around ? p->left - around : 0;
	uint64_t to = p->right < UINT64_MAX - around ? p->right + around : UINT64_MAX;
	const struct weft_edges *edges = &p->model->edges;
	uint32_t first = (uint32_t)weft__lower_bound_u64(edges->time, edges->count, from);
	uint32_t last = (uint32_t)weft__lower_bound_u64(edges->time, edges->count, to);
	p->arrow_alpha = crowd_alpha(p);
	for (unsigned i = 0; i < sizeof(order); i++)
		draw_edges(p, first, last, order[i]);
}
