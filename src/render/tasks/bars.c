/* SPDX-License-Identifier: ISC
 *
 * See bars.h. Activations are in order of time, so each column is complete when the next one
 * begins. Where there are thousands of activations, all of a column are summed at once.
 */
#include "render/tasks/bars.h"

#include <math.h>
#include <stdlib.h>

#include "render/painter.h"
#include "render/tasks/tracks.h"

#define ONE_BY_ONE 2000 /* activations of a task in view; more are summed by column */
#define TOUCH      0.25 /* px: closer bars are joined */
#define ROUGH      200  /* rectangles in a row: more are smoothed */
#define GROUP      4    /* columns joined by smoothing */
#define MANY_EACH  16   /* mean activations per column from which on groups of columns are summed */

/* A pixel column in which activations ran for less than a pixel, and the share that they ran. */
struct column {
	uint32_t index;
	double share;
};

struct bar {
	double x, x2;
};

struct weft__bars {
	uint32_t room, column_count, bar_count;
	struct bar *bars; /* in order, like columns */
	struct column columns[];
};

/* The state of a walk over a task's activations, or over the spells of a vCPU or pCPU. */
struct bar_walk {
	struct weft__bars *bars;
	struct painter *p;
	const struct weft__bar_box *box;
	const uint64_t *start, *end;
	bool are_spells;
	bool are_waits; /* of a vCPU for a processor, beside its activations */
	bool in_groups; /* sum by groups of columns */
	uint32_t each;  /* expected activations per column */
};

struct weft__bars *weft__render_bars_create(const struct painter *p)
{
	uint32_t room = (uint32_t)ceil(p->frame->picture.width) + 2;
	size_t columns_bytes = room * sizeof(struct column);
	struct weft__bars *bars = malloc(sizeof(*bars) + columns_bytes + room * sizeof(struct bar));
	if (!bars)
		return NULL;
	*bars = (struct weft__bars){.room = room};
	bars->bars = (struct bar *)(bars->columns + room);
	return bars;
}

void weft__render_bars_destroy(struct weft__bars *bars)
{
	free(bars);
}

/* ---- Collecting ---- */

static struct column *last_column(struct weft__bars *bars, uint32_t index)
{
	struct column *last = &bars->columns[bars->column_count - 1];
	return bars->column_count && last->index == index ? last : NULL;
}

/* The share of a column that the previous bar covers, since the task ran there, too. */
static double share_of_bar(const struct bar_walk *w, double column)
{
	const struct weft__bars *bars = w->bars;
	const struct bar *last = &bars->bars[bars->bar_count - 1];
	double from = w->p->x0 + column;
	return bars->bar_count && last->x2 > from ? last->x2 - fmax(last->x, from) : 0;
}

static void add_share(struct bar_walk *w, double column, double share)
{
	struct weft__bars *bars = w->bars;
	struct column *last = last_column(bars, (uint32_t)column);
	if (last)
		last->share += share;
	else if (bars->column_count < bars->room)
		bars->columns[bars->column_count++] =
			(struct column){(uint32_t)column, share + share_of_bar(w, column)};
}

/* Adds an activation from x to x2, less than a pixel wide, to one column or two. */
static void add_narrow(struct bar_walk *w, double x, double x2)
{
	double from = x - w->p->x0, to = x2 - w->p->x0, column = floor(from);
	add_share(w, column, fmin(to, column + 1) - from);
	if (to > column + 1)
		add_share(w, column + 1, to - (column + 1));
}

static void add_wide(struct bar_walk *w, double x, double x2)
{
	struct weft__bars *bars = w->bars;
	double from = x - w->p->x0, column = floor(from);
	if (last_column(bars, (uint32_t)column))
		add_share(w, column, column + 1 - from);
	if (bars->bar_count && x <= bars->bars[bars->bar_count - 1].x2 + TOUCH)
		bars->bars[bars->bar_count - 1].x2 = x2;
	else if (bars->bar_count < bars->room)
		bars->bars[bars->bar_count++] = (struct bar){x, x2};
}

/* ---- Drawing ---- */

/* Even the smallest share is visible, and only a full column is as high as a bar. */
double weft__render_bar_height(double share, double height)
{
	return fmax(ceil(fmin(share, 1) * height - 0.05), 1);
}

static void draw_rect(const struct bar_walk *w, double x, double x2, double height, uint32_t color)
{
	double top = w->box->y - floor(w->box->height / 2), bottom = top + w->box->height;
	if (w->are_waits)
		weft_canvas_rect(w->p->canvas, x, top, x2, top + height, color);
	else
		weft_canvas_rect(w->p->canvas, x, bottom - height, x2, bottom, color);
}

/* Waits hang from the top, and are rounded down, so that they hide nothing of the time that the
 * vCPU ran: of both together there is no more than a bar. */
static double height_of(const struct bar_walk *w, double share)
{
	if (w->are_waits)
		return fmax(floor(fmin(share, 1) * w->box->height + 0.05), 1);
	return weft__render_bar_height(share, w->box->height);
}

static uint32_t ink_of(const struct bar_walk *w)
{
	return w->are_waits ? w->p->theme->runnable : w->p->theme->running;
}

/* The end of the columns from `first` on without a gap. */
static uint32_t next_gap(const struct weft__bars *bars, uint32_t first)
{
	const struct column *c = bars->columns;
	uint32_t next = first + 1;
	while (next < bars->column_count && c[next].index == c[first].index + (next - first))
		next++;
	return next;
}

/* Draws columns; neighbours of equal height are one rectangle. */
static void draw_shares(const struct bar_walk *w, uint32_t first, uint32_t last, double width)
{
	const struct column *c = w->bars->columns;
	for (uint32_t i = first, next; i < last; i = next) {
		double height = height_of(w, c[i].share);
		double x = w->p->x0 + c[i].index * width;
		for (next = i + 1; next < last; next++)
			if (height_of(w, c[next].share) != height)
				break;
		draw_rect(w, x, fmin(x + (next - i) * width, w->box->x2), height, ink_of(w));
	}
}

/* True if columns differ so much that they would be thousands of rectangles. */
static bool is_rough(const struct bar_walk *w)
{
	const struct column *c = w->bars->columns;
	uint32_t changes = 0;
	double before = 0;
	for (uint32_t i = 0; i < w->bars->column_count; i++) {
		double height = height_of(w, c[i].share);
		bool gap = i > 0 && c[i].index > c[i - 1].index + 1;
		changes += gap ? 2 : height != before;
		before = height;
	}
	return changes > ROUGH;
}

/* Joins columns into columns of `width` px with the mean of their shares. */
static void smooth(struct weft__bars *bars, uint32_t width)
{
	struct column *c = bars->columns;
	uint32_t count = 0;
	for (uint32_t i = 0; i < bars->column_count; i++) {
		uint32_t index = c[i].index / width;
		double share = c[i].share / width;
		if (count && c[count - 1].index == index)
			c[count - 1].share += share;
		else
			c[count++] = (struct column){index, share};
	}
	bars->column_count = count;
}

/* Chooses the width of drawn columns: where most are filled, exact positions matter less. */
static uint32_t choose_width(const struct bar_walk *w)
{
	const struct weft__bars *bars = w->bars;
	uint32_t count = bars->column_count;
	if (count <= ROUGH / 2 || !is_rough(w))
		return 1;
	return bars->columns[count - 1].index - bars->columns[0].index < 2 * count ? GROUP : GROUP / 2;
}

/* Draws one colour after the other, since changing colours is expensive in replay. */
static void draw(const struct bar_walk *w)
{
	struct weft__bars *bars = w->bars;
	uint32_t width = choose_width(w);
	if (width > 1)
		smooth(bars, width);
	for (uint32_t i = 0, next; i < bars->column_count && !w->are_waits; i = next) {
		double x = w->p->x0 + bars->columns[i].index * width;
		next = next_gap(bars, i);
		draw_rect(
			w, x, fmin(x + (next - i) * width, w->box->x2), w->box->height, w->p->theme->waiting);
	}
	for (uint32_t i = 0, next; i < bars->column_count; i = next) {
		next = next_gap(bars, i);
		draw_shares(w, i, next, width);
	}
	for (uint32_t i = 0; i < bars->bar_count; i++)
		draw_rect(w, bars->bars[i].x, bars->bars[i].x2, w->box->height, ink_of(w));
}

/* ---- Activations and spells ---- */

static void add_activation(struct bar_walk *w, uint32_t at)
{
	double x = weft__render_x(w->p, w->start[at]), x2 = weft__render_x(w->p, w->end[at]);
	bool is_wide = x2 - x >= 1;
	x = fmax(x, w->box->x);
	x2 = fmin(x2, w->box->x2);
	if (x2 <= x)
		return;
	if (is_wide)
		add_wide(w, x, x2);
	else
		add_narrow(w, x, x2);
}

/* The last activation that starts before `next`. Searches from the expected index on. */
static uint32_t last_before(
	const struct bar_walk *w, uint32_t at, uint32_t last, uint64_t next, uint32_t expected)
{
	uint32_t most = expected - expected / 4, first = at + 1;
	if (most < last - at && w->start[at + most] < next)
		first = at + most + 1;
	first = weft__render_gallop_u64(w->start, first, last, next);
	if ((last - first) / 2 > expected) { /* the search is bound by memory latency */
		__builtin_prefetch(&w->start[first + most]);
		__builtin_prefetch(&w->end[first + most]);
	}
	return first - 1;
}

static uint64_t sum_of(const struct bar_walk *w, uint32_t first, uint32_t last)
{
	const struct weft__spells *s = &w->p->scene->spells;
	return w->are_spells ? s->before[last] - s->before[first]
						 : weft__render_scene_ran(w->p->scene, first, last);
}

/* Adds all activations that start in the column of `at`, or in a group of columns, unless the group
 * would not be filled completely: only the last one can reach beyond it. */
static uint32_t add_columns(struct bar_walk *w, uint32_t at, uint32_t last)
{
	const struct painter *p = w->p;
	double column = floor(weft__render_x(p, w->start[at]) - p->x0);
	uint32_t width = w->in_groups ? GROUP : 1, end;
	end = last_before(w, at, last, weft_view_time(p->view, column + width), w->each * width);
	if (width > 1 && weft__render_x(p, w->end[end]) <= p->x0 + column + width - 1) {
		width = 1;
		end = last_before(w, at, last, weft_view_time(p->view, column + 1), w->each);
	}
	double share = (double)sum_of(w, at, end) * p->view->scale / width;
	for (uint32_t i = 0; i < width && end > at; i++)
		add_share(w, column + i, share);
	w->each = (end + 1 - at) / width;
	add_activation(w, end);
	return end + 1;
}

/* Draws rows [at, last). */
static void draw_rows(struct bar_walk *w, uint32_t at, uint32_t last)
{
	struct weft__bars *bars = w->bars;
	const struct painter *p = w->p;
	/* A long-lived task has many activations: search for the first in view. */
	at = weft__render_gallop_u64(w->end, at, last, p->left + 1);
	if (last - at > ONE_BY_ONE)
		last = weft__render_gallop_u64(w->start, at, last, p->right);
	bool many = last - at > ONE_BY_ONE;
	w->in_groups = bars->room > ROUGH && last - at > MANY_EACH * bars->room;
	bars->column_count = bars->bar_count = 0;
	while (at < last && w->start[at] < p->right) {
		if (many && weft__render_x(p, w->start[at]) >= w->box->x)
			at = add_columns(w, at, last);
		else
			add_activation(w, at++);
	}
	draw(w);
}

static void draw_spells(struct weft__bars *bars, struct painter *p, uint32_t task,
	const struct weft__bar_box *box, bool are_waits)
{
	const struct weft__spells *s = &p->scene->spells;
	struct bar_walk w = {.bars = bars,
		.p = p,
		.box = box,
		.start = s->start,
		.end = s->end,
		.are_spells = true,
		.are_waits = are_waits};
	if (!s->first || s->first[task] == s->first[task + 1])
		return;
	draw_rows(&w, s->first[task], s->first[task + 1]);
	p->tally.runnable |= are_waits && bars->column_count + bars->bar_count;
}

void weft__render_bars_draw(
	struct weft__bars *bars, struct painter *p, uint32_t task, const struct weft__bar_box *box)
{
	const struct weft_model *model = p->model;
	struct bar_walk w = {.bars = bars,
		.p = p,
		.box = box,
		.start = model->activations.start,
		.end = model->activations.end};
	if (weft__render_is_pcpu(model, task)) {
		draw_spells(bars, p, task, box, false);
	} else if (weft__render_is_track(model, task)) {
		weft__render_draw_track(p, task, box);
	} else {
		draw_rows(&w, model->tasks.first_activation[task], model->tasks.end_activation[task]);
		draw_spells(bars, p, task, box, true);
	}
}
