/* SPDX-License-Identifier: ISC
 *
 * Arrows: which task read, waited for, resolved and woke which. (links.c has creation.)
 *
 * A frame has one arrow per pixel column at most: where more of them end, all are heat. Arrows
 * between the same rows that are closer than three pixels are one, long ones are stubs, and folded
 * tasks have none. arrow.c has the shape.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "render/edges/arrow.h"
#include "render/edges/edge_columns.h"
#include "render/painter.h"

#define ARROW_LINE    1.25
#define STRONG_LINE   2.0
#define ARROW_ALPHA   0.75
#define MANY_ALPHA    0.4 /* alpha of each, where the picture has one per column */
#define MERGED_WITHIN 3.0
#define BESIDE        40.0 /* px beside the picture, into which stubs reach */

/* The arrows of a frame, in the order of their edges. */
struct batch {
	struct weft__arrow *arrows;
	uint32_t count;
	size_t capacity;
	uint32_t last[WEFT_EDGE_TYPES]; /* the last arrow of each type, or WEFT_NONE */
	uint32_t columns;
	uint32_t *ending; /* the number of arrows in each bucket of columns */
	bool *hot;
};

static bool batch_init(struct batch *batch, const struct painter *p)
{
	*batch = (struct batch){.columns = weft__render_edge_columns_needed(p)};
	for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
		batch->last[type] = WEFT_NONE;
	batch->ending = calloc(weft__render_edge_buckets(batch->columns), sizeof(*batch->ending));
	batch->hot = malloc(weft__render_edge_buckets(batch->columns));
	return batch->ending && batch->hot;
}

static void batch_finish(struct batch *batch)
{
	free(batch->arrows);
	free(batch->ending);
	free(batch->hot);
}

static bool is_within(double a, double b, double low, double high)
{
	return fmax(a, b) >= low && fmin(a, b) <= high;
}

/* True if what is drawn of an arrow may be in the picture: of a long one, the end that waits. */
static bool is_in_picture(const struct painter *p, const struct weft__arrow *a)
{
	const struct weft_box *box = &p->frame->picture;
	bool is_far = weft__render_arrow_is_far(a);
	double from = is_far && !a->is_wait ? a->x2 : a->x, to = is_far && a->is_wait ? a->x : a->x2;
	double beside = is_far ? BESIDE : 0;
	return is_within(from, to, box->x - beside, box->x + box->width + beside) &&
		   is_within(a->y, a->y2, box->y, box->y + box->height);
}

/* The column of an arrow's edge. */
static uint32_t column_of(
	const struct painter *p, const struct batch *b, const struct weft__arrow *a)
{
	double column = floor((a->is_wait ? a->x : a->x2) - p->x0);
	return (uint32_t)fmin(fmax(column, 0), b->columns - 1);
}

static bool has_same_ends(const struct weft__arrow *a, const struct weft__arrow *b)
{
	return a->y == b->y && a->y2 == b->y2 && fabs(a->x - b->x) < MERGED_WITHIN &&
		   fabs(a->x2 - b->x2) < MERGED_WITHIN;
}

static void keep_arrow(struct painter *p, struct batch *b, const struct weft__arrow *a)
{
	if (b->count == b->capacity) {
		size_t capacity = weft__array_next_capacity(b->capacity, b->count + (size_t)1);
		if (weft__array_resize(&b->arrows, capacity, sizeof(*b->arrows))) {
			p->error = WEFT_ERROR_MEMORY;
			return;
		}
		b->capacity = capacity;
	}
	b->last[p->model->edges.type[a->edge]] = b->count;
	b->ending[column_of(p, b, a) / WEFT__EDGE_BUCKET]++;
	b->arrows[b->count++] = *a;
}

/* Its own, or that of the task that waits for it. */
static bool has_line(const struct painter *p, uint32_t task)
{
	return p->layout->form[task] == WEFT_FORM_LINE || p->layout->form[task] == WEFT_FORM_WAIT;
}

/* True if both tasks have lines: folded ones have no arrow until they are pointed at.
 */
static bool have_lines(const struct painter *p, uint32_t edge)
{
	return has_line(p, p->model->edges.from[edge]) && has_line(p, p->model->edges.to[edge]);
}

static void add_edge(struct painter *p, struct batch *b, uint32_t edge)
{
	unsigned type = p->model->edges.type[edge];
	struct weft__arrow a;
	if (weft__render_edge_target(p->model, edge) == WEFT_NONE || !have_lines(p, edge) ||
		!weft__render_arrow_make(p, edge, &a) || !is_in_picture(p, &a))
		return;
	p->tally.edges[type] = true;
	if (b->last[type] == WEFT_NONE || !has_same_ends(&a, &b->arrows[b->last[type]]))
		keep_arrow(p, b, &a);
}

/* Adds the arrows of columns with few of them; others are counted, and drawn as heat. */
static void add_columns(struct painter *p, struct batch *b, unsigned type)
{
	const struct weft__edge_columns *columns = p->edge_columns;
	for (uint32_t column = 0; column < columns->count; column++) {
		uint32_t count = weft__render_edges_in_column(columns, type, column);
		uint32_t edge = columns->edges[column], last = columns->edges[column + 1];
		if (weft__render_column_is_hot(columns, column)) {
			p->tally.edges[type] |= count > 0 && column < columns->width;
			continue;
		}
		for (; count > 0; count--) {
			edge = weft__render_edges_next(p->scene, type, edge, last);
			add_edge(p, b, edge++);
		}
	}
}

static void add_edges(struct painter *p, struct batch *b)
{
	if (!p->edge_columns)
		for (uint32_t edge = p->first_edge; edge < p->last_edge; edge++)
			add_edge(p, b, edge);
	else
		for (unsigned type = 0; type < WEFT_EDGE_TYPES; type++)
			if (WEFT__ARROW_TYPES >> type & 1)
				add_columns(p, b, type);
}

/* Draws arrows of hot columns as heat, and removes them from the batch. */
static void draw_heat(struct painter *p, struct batch *b)
{
	struct weft__heat_mark *marks = malloc((b->count + (size_t)1) * sizeof(*marks));
	uint32_t kept = 0, mark_count = 0;
	weft__render_find_hot_columns(b->ending, weft__render_edge_buckets(b->columns), b->hot);
	for (uint32_t i = 0; marks && i < b->count; i++) {
		uint32_t column = column_of(p, b, &b->arrows[i]);
		if (b->hot[column / WEFT__EDGE_BUCKET])
			marks[mark_count++] = (struct weft__heat_mark){b->arrows[i].edge, column};
		else
			b->arrows[kept++] = b->arrows[i];
	}
	b->count = kept;
	if (marks)
		weft__render_draw_heat(p, marks, mark_count);
	else
		p->error = WEFT_ERROR_MEMORY;
	free(marks);
}

/* Makes many arrows more transparent, so that tasks behind them stay visible. */
static double choose_alpha(const struct batch *b)
{
	return ARROW_ALPHA - (ARROW_ALPHA - MANY_ALPHA) * fmin(1, (double)b->count / b->columns);
}

static void draw_type(struct painter *p, const struct batch *b, unsigned type)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct weft__arrow *a = &b->arrows[i];
		if (p->model->edges.type[a->edge] != type)
			continue;
		if (weft__render_arrow_is_far(a))
			weft__render_draw_stub(p, a);
		else
			weft__render_arrow_draw(p, *a);
	}
}

void weft__render_draw_arrows(struct painter *p)
{
	static const uint8_t order[] = {
		WEFT_EDGE_TRY_READ, WEFT_EDGE_READ, WEFT_EDGE_RESOLVE, WEFT_EDGE_SIGNAL, WEFT_EDGE_RECEIVE};
	struct batch batch;
	if (batch_init(&batch, p)) {
		add_edges(p, &batch);
		draw_heat(p, &batch);
		p->arrow_width = ARROW_LINE;
		p->arrow_alpha = choose_alpha(&batch);
		p->arrow_dim = weft__render_arrow_dim(p);
		for (unsigned i = 0; i < sizeof(order); i++)
			draw_type(p, &batch, order[i]);
	} else {
		p->error = WEFT_ERROR_MEMORY;
	}
	batch_finish(&batch);
}

void weft__render_draw_arrow_of(struct painter *p, uint32_t edge)
{
	struct weft__arrow a;
	p->arrow_width = STRONG_LINE;
	p->arrow_alpha = p->arrow_dim = 1;
	if (weft__render_arrow_make(p, edge, &a))
		weft__render_arrow_draw(p, a);
}
