/* SPDX-License-Identifier: ISC
 *
 * Arrows: which task read, waited for, resolved and woke which. (links.c has creation.)
 *
 * Each type has its own line style and head, not only its own colour. Arrows between the same rows
 * that are closer than three pixels are drawn as one. Where more than two arrows end in one pixel
 * column, the others are reduced to a tick at their target. So the number of arrows in a frame is
 * limited by its width.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "render/edges/edge_columns.h"
#include "render/painter.h"

#define HEAD_LENGTH   7.0
#define HEAD_WIDTH    5.0
#define ARROW_LINE    1.25
#define STRONG_LINE   2.0
#define ARROW_ALPHA   0.75
#define MANY_ALPHA    0.4    /* alpha of each, where there are many */
#define MANY          3000   /* arrows in the picture */
#define FADED_AT      6000.0 /* px: wider arrows are invisible */
#define LEAST_ALPHA   0.01
#define MERGED_WITHIN 3.0
#define PER_COLUMN    2
#define BUCKET        8    /* px: columns whose arrows share a budget */
#define BUDGET        2.0  /* total length of lines in a bucket, in heights of the picture */
#define LOCAL         60.0 /* px: arrows between rows this near cover nothing */
#define SHORT         4.0
#define HEAT          8.0  /* px below the row's middle */
#define FEW           5000 /* arrows that are drawn one by one, if there are many */
#define ARROWS                                                                   \
	(1u << WEFT_EDGE_READ | 1u << WEFT_EDGE_TRY_READ | 1u << WEFT_EDGE_RESOLVE | \
		1u << WEFT_EDGE_SIGNAL)

struct arrow {
	double x, y, x2, y2;
	uint32_t color;
	enum weft_canvas_dash dash;
	bool filled, ringed, crossed;
	uint32_t edge;
};

static bool crosses_picture(const struct painter *p, double x, double x2)
{
	const struct weft_box *box = &p->frame->picture;
	return fmax(x, x2) >= box->x && fmin(x, x2) <= box->x + box->width;
}

/* Clips the line to slightly more than the picture, in double precision, which backends lack. */
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
	*a = (struct arrow){x, y, x2, y2, a->color, a->dash, a->filled, a->ringed, a->crossed, a->edge};
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
	const struct weft__drawn_edge drawn = {a.edge, a.x, a.y, a.x2, a.y2};
	double alpha = 1 - fabs(a.x2 - a.x) / FADED_AT;
	if (alpha <= LEAST_ALPHA || !clip(p, &a))
		return;
	if (a.y == a.y2 && fabs(a.x2 - a.x) < SHORT)
		return;
	weft__add_drawn_edge(p, &drawn);
	uint32_t color = weft__faded(a.color, alpha * p->arrow_alpha * p->arrow_dim);
	struct weft_pen pen = {color, p->arrow_width, a.dash};
	if (a.x == a.x2)
		a.x = a.x2 = weft__crisp(a.x);
	weft_canvas_line(p->canvas, a.x, a.y, a.x2, a.y2, &pen);
	draw_head(p, &a, weft__faded(a.color, alpha * (p->arrow_alpha + 1) / 2 * p->arrow_dim));
	if (a.ringed) {
		pen.dash = WEFT_DASH_SOLID;
		weft_canvas_ring(p->canvas, a.x, a.y, 2, &pen);
	}
	if (a.crossed && hypot(a.x2 - a.x, a.y2 - a.y) > 16)
		draw_crossing(p, &a, weft__faded(a.color, alpha));
}

/* Makes an arrow between two tasks' lines stop at their edges, not at their middles. */
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

/* Makes the arrow of an edge; false if it has none. */
static bool make_arrow(struct painter *p, uint32_t edge, struct arrow *ret_arrow)
{
	const struct weft_edges *edges = &p->model->edges;
	const struct weft_tasks *tasks = &p->model->tasks;
	const struct weft__theme *t = p->theme;
	uint32_t from = edges->from[edge], to = edges->to[edge];
	uint64_t time = edges->time[edge];
	struct arrow a = {.dash = WEFT_DASH_SOLID, .edge = edge};
	if (from == WEFT_NONE || to == WEFT_NONE || from == to || !weft__draws_edge(p, from, to))
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

/* Draws a tick instead of an arrow: marks the target in the arrow's colour. */
static void draw_tick(struct painter *p, const struct arrow *a)
{
	const struct weft_box *box = &p->frame->picture;
	p->tally.arrows_merged++;
	if (a->x2 >= box->x && a->x2 <= box->x + box->width)
		weft_canvas_rect(p->canvas, floor(a->x2), a->y2 - 3, floor(a->x2) + 1, a->y2 + 3, a->color);
}

/* At a density, instead of a tick: draws a line below it. */
static void draw_heat(struct painter *p, const struct arrow *a, uint32_t target)
{
	const struct weft_box *box = &p->frame->picture;
	double y = floor(weft__y(p, p->layout->row[target])) + HEAT, x = floor(a->x2);
	if (x >= box->x && x <= box->x + box->width)
		weft_canvas_rect(p->canvas, x, y, x + 1, y + 1, a->color);
}

/* The number of arrows of a type that end in each pixel column, and which ticks were drawn. */
struct batch {
	uint32_t columns;
	struct arrow *arrows[WEFT_EDGE_TYPES];
	size_t count[WEFT_EDGE_TYPES], capacity[WEFT_EDGE_TYPES];
	uint8_t *used[WEFT_EDGE_TYPES];
	uint8_t *ticked; /* by lane and column: a bit for each type */
	double *ink;     /* total length of lines by bucket, px */
};

static bool batch_init(struct batch *batch, const struct painter *p)
{
	*batch = (struct batch){.columns = (uint32_t)p->frame->picture.width + 1};
	bool complete = true;
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++) {
		batch->used[type] = calloc(batch->columns, 1);
		complete = complete && batch->used[type];
	}
	batch->ticked = calloc((p->lane_count + (size_t)1) * batch->columns, 1);
	batch->ink = calloc(batch->columns / BUCKET + (size_t)1, sizeof(*batch->ink));
	return complete && batch->ticked && batch->ink;
}

static void batch_finish(struct batch *batch)
{
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++) {
		free(batch->used[type]);
		free(batch->arrows[type]);
	}
	free(batch->ticked);
	free(batch->ink);
}

static bool keep_arrow(struct batch *batch, unsigned type, const struct arrow *a)
{
	size_t *capacity = &batch->capacity[type];
	if (batch->count[type] == *capacity) {
		size_t next = weft__array_next_capacity(*capacity, *capacity + 1);
		if (weft__array_resize(&batch->arrows[type], next, sizeof(*a)))
			return false;
		*capacity = next;
	}
	batch->arrows[type][batch->count[type]++] = *a;
	return true;
}

static uint32_t column_of(const struct painter *p, const struct batch *batch, const struct arrow *a)
{
	double column = floor(a->x2 - p->frame->picture.x);
	return (uint32_t)fmin(fmax(column, 0), batch->columns - 1);
}

static bool has_same_ends(const struct arrow *a, const struct arrow *b)
{
	return a->y == b->y && a->y2 == b->y2 && fabs(a->x - b->x) < MERGED_WITHIN &&
		   fabs(a->x2 - b->x2) < MERGED_WITHIN;
}

/* Draws an arrow, or only its tick if there are enough arrows. */
static void add_arrow(
	struct painter *p, struct batch *batch, unsigned type, uint32_t edge, const struct arrow *a)
{
	uint32_t from = p->model->edges.from[edge], to = p->model->edges.to[edge];
	uint32_t target = weft__edge_target(p->model, edge);
	bool merged = weft__is_merged(p, from) || weft__is_merged(p, to);
	uint32_t column = column_of(p, batch, a);
	uint8_t *used = &batch->used[type][column];
	size_t count = batch->count[type];
	batch->ink[column / BUCKET] += merged ? 0 : fabs(a->y2 - a->y);
	if (!merged && count && has_same_ends(a, &batch->arrows[type][count - 1])) {
		p->tally.arrows_merged++;
	} else if (!merged && *used < PER_COLUMN) {
		++*used;
		if (!keep_arrow(batch, type, a))
			p->error = WEFT_ERROR_MEMORY;
	} else {
		size_t lane = weft__lane_of_row(p, p->layout->row[target]);
		uint8_t *ticked = &batch->ticked[lane * batch->columns + column];
		p->tally.arrows_merged++;
		if (!(*ticked & 1u << type) && weft__is_merged(p, target))
			draw_heat(p, a, target);
		else if (!(*ticked & 1u << type))
			draw_tick(p, a);
		*ticked |= (uint8_t)(1u << type);
	}
}

static void add_edge(struct painter *p, struct batch *batch, uint32_t edge)
{
	unsigned type = p->model->edges.type[edge];
	uint32_t target = weft__edge_target(p->model, edge);
	struct arrow a;
	if (target == WEFT_NONE || !make_arrow(p, edge, &a) || !crosses_picture(p, a.x, a.x2))
		return;
	p->tally.edges[type] = true;
	add_arrow(p, batch, type, edge, &a);
}

/* Draws the arrows of columns with few of them; others are shown as heat. */
static void add_columns(struct painter *p, struct batch *batch, unsigned type)
{
	const struct weft__edge_columns *columns = p->edge_columns;
	for (uint32_t column = 0; column < columns->count; column++) {
		uint32_t count = weft__edges_in_column(columns, type, column);
		uint32_t edge = columns->edges[column], last = columns->edges[column + 1];
		if (weft__column_is_dense(columns, type, column)) {
			p->tally.edges[type] |= column < columns->count / 2;
			p->tally.arrows_merged += count;
			continue;
		}
		for (; count > 0; count--) {
			edge = weft__edges_next(p->scene, type, edge, last);
			add_edge(p, batch, edge++);
		}
	}
}

static void add_few_of_many(struct painter *p, struct batch *batch)
{
	weft__edge_columns_limit(p->edge_columns, ARROWS, FEW);
	weft__draw_heat(p);
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		if (ARROWS >> type & 1)
			add_columns(p, batch, type);
}

/* Draws an arrow, or only its tick where long arrows would cover everything else. */
static void draw_kept(struct painter *p, const struct batch *batch, const struct arrow *a)
{
	double budget = BUDGET * p->frame->picture.height;
	bool carpet = batch->ink[column_of(p, batch, a) / BUCKET] > budget;
	if (carpet && fabs(a->y2 - a->y) > LOCAL)
		draw_tick(p, a);
	else
		draw_arrow(p, *a);
}

/* Makes many arrows more transparent, so that tasks behind them stay visible. */
static double choose_alpha(const struct painter *p)
{
	const struct weft_edges *edges = &p->model->edges;
	size_t first = weft__lower_bound_u64(edges->time, edges->count, p->left);
	size_t last = weft__lower_bound_u64(edges->time, edges->count, p->right);
	double batch = fmin(1, (double)(last - first) / MANY);
	return ARROW_ALPHA - (ARROW_ALPHA - MANY_ALPHA) * batch;
}

void weft__draw_arrows(struct painter *p)
{
	static const uint8_t order[] = {
		WEFT_EDGE_TRY_READ, WEFT_EDGE_READ, WEFT_EDGE_RESOLVE, WEFT_EDGE_SIGNAL};
	struct batch batch;
	p->arrow_width = ARROW_LINE;
	p->arrow_alpha = choose_alpha(p);
	p->arrow_dim = weft__arrow_dim(p);
	if (!batch_init(&batch, p))
		p->error = WEFT_ERROR_MEMORY;
	else if (p->edge_columns)
		add_few_of_many(p, &batch);
	else
		for (uint32_t edge = p->first_edge; edge < p->last_edge; edge++)
			add_edge(p, &batch, edge);
	for (unsigned i = 0; i < sizeof(order); i++)
		for (size_t arrow = 0; arrow < batch.count[order[i]]; arrow++)
			draw_kept(p, &batch, &batch.arrows[order[i]][arrow]);
	batch_finish(&batch);
}

void weft__draw_arrow_of(struct painter *p, uint32_t edge)
{
	struct arrow a;
	p->arrow_width = STRONG_LINE;
	p->arrow_alpha = p->arrow_dim = 1;
	if (make_arrow(p, edge, &a))
		draw_arrow(p, a);
}
