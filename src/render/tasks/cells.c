/* SPDX-License-Identifier: ISC
 *
 * See cells.h. Neighbours that look alike are drawn as one rectangle.
 */
#include "render/tasks/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/painter.h"

#define LEAST_HEIGHT 2
#define MOST_HEIGHT  8
#define CAP          2
#define ROUGH        200 /* changes in a row: more are smoothed */
#define SMOOTH       6   /* px */

struct cell_column {
	double tasks, running_ns;
	bool failed;
};

struct cell {
	int height, ran; /* px */
	bool failed;
};

struct weft__cells {
	uint32_t count;
	uint32_t first, last; /* columns that may be non-empty: first ≤ i < last */
	struct cell *made;    /* of these columns, while they are drawn */
	struct cell_column columns[];
};

static void empty(struct weft__cells *cells)
{
	if (cells->first < cells->last)
		memset(&cells->columns[cells->first], 0,
			(cells->last - cells->first + 1) * sizeof(struct cell_column));
	cells->first = UINT32_MAX;
	cells->last = 0;
}

struct weft__cells *weft__render_cells_create(const struct painter *p)
{
	uint32_t count = (uint32_t)ceil(p->frame->picture.width) + 1; /* as many as density.c has */
	struct weft__cells *cells =
		calloc(1, sizeof(*cells) + (count + 2) * sizeof(struct cell_column));
	if (!cells)
		return NULL;
	cells->count = count;
	cells->first = UINT32_MAX;
	cells->made = malloc((count + (size_t)1) * sizeof(*cells->made));
	if (cells->made)
		return cells;
	free(cells);
	return NULL;
}

void weft__render_cells_destroy(struct weft__cells *cells)
{
	if (cells)
		free(cells->made);
	free(cells);
}

static uint32_t column_index(const struct weft__cells *cells, const struct painter *p, double x)
{
	double index = floor(x - p->x0);
	if (!(index > 0))
		return 0;
	return index < cells->count ? (uint32_t)index : cells->count - 1;
}

static void widen(struct weft__cells *cells, uint32_t first, uint32_t last)
{
	if (first < cells->first)
		cells->first = first;
	if (last > cells->last)
		cells->last = last;
}

void weft__render_cells_add(struct weft__cells *cells, const struct painter *p, uint32_t first,
	uint32_t count, double x, bool failed)
{
	const uint32_t *running = p->scene->running_before;
	uint32_t index = column_index(cells, p, x), units = running[first + count] - running[first];
	struct cell_column *column = &cells->columns[index];
	column->tasks += count;
	column->running_ns += ldexp(units, (int)p->scene->running_shift);
	column->failed = column->failed || failed;
	widen(cells, index, index + 1);
}

void weft__render_cells_add_share(
	struct weft__cells *cells, const struct painter *p, const struct weft__share *share, double x)
{
	uint32_t index = column_index(cells, p, x);
	struct cell_column *column = &cells->columns[index];
	column->tasks += share->tasks;
	column->running_ns += (double)share->running_ns;
	column->failed = column->failed || share->failed;
	widen(cells, index, index + 1);
}

void weft__render_cells_fill(
	struct weft__cells *cells, const struct weft__density *density, uint32_t lane)
{
	const struct weft__density_cell *from = density->cells + (size_t)lane * density->columns;
	uint32_t alive = density->alive[lane];
	for (uint32_t i = 0; i < cells->count && i < density->columns; i++) {
		alive += from[i].starts;
		cells->columns[i] = (struct cell_column){alive, from[i].running_ns, from[i].failed > 0};
		alive -= from[i].lasts;
	}
	cells->first = 0;
	cells->last = cells->count;
}

/* Like ceil() for small numbers from -1 on, which is a function call on many processors. */
static int round_up(double number)
{
	int whole = (int)number;
	return whole + (number > whole);
}

/* The exponent of 2 in a number of tasks from one half on. */
static int exponent(double tasks)
{
	return tasks < 1 ? -1 : 31 - __builtin_clz((uint32_t)tasks);
}

static struct cell make_cell(const struct painter *p, const struct cell_column *column, int room)
{
	struct cell cell = {0, 0, column->failed};
	if (column->tasks < 0.5)
		return cell;
	cell.height = LEAST_HEIGHT + exponent(column->tasks);
	if (cell.height > room)
		cell.height = room;
	double share = column->running_ns * p->view->scale; /* share of a column's time */
	cell.ran = round_up((share < 1 ? share : 1) * cell.height - 0.05);
	return cell;
}

static void draw_run(
	struct painter *p, const struct weft__lane *lane, const struct cell *cell, double x, double x2)
{
	double bottom = floor(lane->y) + (cell->height + 1) / 2, top = bottom - cell->height;
	if (cell->height == 0)
		return;
	if (cell->ran < cell->height)
		weft_canvas_rect(p->canvas, x, top, x2, bottom - cell->ran, p->theme->waiting);
	if (cell->ran > 0)
		weft_canvas_rect(p->canvas, x, bottom - cell->ran, x2, bottom, p->theme->running);
	if (cell->failed && lane->spacing < WEFT__NAME_SPACING)
		weft__render_add_mark(
			p, (struct weft__failure_mark){x - 0.5, top - CAP, fmax(x2, x + 2), top + 1, false});
	else if (cell->failed) /* single tasks have a cross instead */
		weft_canvas_rect(p->canvas, x - 0.5, top - CAP, fmax(x2, x + 2), top + 1, p->theme->failed);
}

static bool same(const struct cell *a, const struct cell *b)
{
	return a->height == b->height && a->ran == b->ran && a->failed == b->failed;
}

/* True if two cells may be one rectangle when a row is smoothed. */
static bool alike(const struct cell *a, const struct cell *b)
{
	return a->height > 0 && b->height > 0 && a->failed == b->failed &&
		   abs(a->height - b->height) <= 1 && abs(a->ran - b->ran) <= 1;
}

/* Makes the cells. True for a row in which each column differs a little from the next, which would
 * be thousands of rectangles: similar columns are then joined over SMOOTH pixels. */
static bool make_cells(struct weft__cells *cells, const struct painter *p, int room)
{
	uint32_t changes = 0;
	struct cell before = {0};
	for (uint32_t i = cells->first; i < cells->last; i++) {
		cells->made[i] = make_cell(p, &cells->columns[i], room);
		changes += !same(&cells->made[i], &before);
		before = cells->made[i];
	}
	return changes > ROUGH;
}

void weft__render_cells_draw(
	struct weft__cells *cells, struct painter *p, const struct weft__lane *lane)
{
	struct cell run = {0};
	uint32_t begin = 0, i = cells->first;
	int room = lane->spacing < MOST_HEIGHT ? (int)fmax(lane->spacing, LEAST_HEIGHT) : MOST_HEIGHT;
	bool rough = make_cells(cells, p, room);
	cells->made[cells->last] = (struct cell){0}; /* ends the last run */
	for (; cells->first < cells->last && i <= cells->last; i++) {
		struct cell cell = cells->made[i];
		bool goes_on = same(&cell, &run) || (rough && i - begin < SMOOTH && alike(&cell, &run));
		if (goes_on && i < cells->last)
			continue;
		draw_run(p, lane, &run, p->x0 + begin, p->x0 + i);
		run = cell;
		begin = i;
	}
	empty(cells);
}
