/* SPDX-License-Identifier: ISC
 *
 * See cells.h. Wide tasks of merged rows are added as a step up where they begin and a step down
 * where they end.
 */
#include "render/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/painter.h"

#define LEAST_HEIGHT 2
#define MOST_HEIGHT  8
#define CAP          2

struct column {
	double tasks, running_ns;
	double tasks_step, running_step; /* from this column on */
	uint32_t failed;
};

struct weft__cells {
	uint32_t count;
	uint32_t first, last; /* what is not empty: first ≤ i < last */
	struct column columns[];
};

struct cell {
	int height, ran; /* px */
	bool failed;
};

static void empty(struct weft__cells *cells)
{
	if (cells->first < cells->last)
		memset(&cells->columns[cells->first], 0,
			(cells->last - cells->first + 1) * sizeof(struct column));
	cells->first = UINT32_MAX;
	cells->last = 0;
}

struct weft__cells *weft__cells_create(const struct painter *p)
{
	uint32_t count = (uint32_t)p->frame->picture.width + 1;
	struct weft__cells *cells = calloc(1, sizeof(*cells) + (count + 2) * sizeof(struct column));
	if (!cells)
		return NULL;
	cells->count = count;
	cells->first = UINT32_MAX;
	return cells;
}

void weft__cells_destroy(struct weft__cells *cells)
{
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

void weft__cells_add(
	struct weft__cells *cells, const struct painter *p, uint32_t place, uint32_t count, double x)
{
	const struct weft_scene *scene = p->scene;
	uint32_t index = column_index(cells, p, x);
	struct column *column = &cells->columns[index];
	column->tasks += count;
	column->running_ns +=
		(double)(scene->running_before[place + count] - scene->running_before[place]);
	column->failed += scene->failed_before[place + count] - scene->failed_before[place];
	widen(cells, index, index + 1);
}

void weft__cells_add_line(
	struct weft__cells *cells, const struct painter *p, uint32_t place, double x, double x2)
{
	uint32_t task = p->scene->by_row[place];
	uint32_t first = column_index(cells, p, x), last = column_index(cells, p, x2) + 1;
	double life = (double)(p->model->tasks.end[task] - p->layout->start[task]);
	double share = life > 0 ? (double)weft_model_running_ns(p->model, task) / life : 0;
	double ran = share / p->view->scale; /* ns a column */
	cells->columns[first].tasks_step += 1;
	cells->columns[last].tasks_step -= 1;
	cells->columns[first].running_step += ran;
	cells->columns[last].running_step -= ran;
	cells->columns[last - 1].failed += (p->model->tasks.flags[task] & WEFT_TASK_FAILED) != 0;
	widen(cells, first, last);
}

static struct cell make_cell(
	const struct painter *p, const struct column *column, double tasks, double running_ns, int room)
{
	struct cell cell = {0, 0, column->failed > 0};
	tasks += column->tasks;
	running_ns += column->running_ns;
	if (tasks < 0.5)
		return cell;
	cell.height = LEAST_HEIGHT + (int)log2(tasks);
	if (cell.height > room)
		cell.height = room;
	double share = running_ns * p->view->scale; /* of a column's time */
	cell.ran = (int)ceil(fmin(share, 1) * cell.height - 0.05);
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
		weft__add_mark(p, (struct weft__mark){x - 0.5, top - CAP, fmax(x2, x + 2), top + 1, false});
	else if (cell->failed) /* has a cross */
		weft_canvas_rect(p->canvas, x - 0.5, top - CAP, fmax(x2, x + 2), top + 1, p->theme->failed);
}

static bool same(const struct cell *a, const struct cell *b)
{
	return a->height == b->height && a->ran == b->ran && a->failed == b->failed;
}

void weft__cells_draw(struct weft__cells *cells, struct painter *p, const struct weft__lane *lane)
{
	struct cell run = {0};
	double tasks = 0, running = 0;
	uint32_t begin = 0, i = cells->first;
	int room = lane->spacing < MOST_HEIGHT ? (int)fmax(lane->spacing, LEAST_HEIGHT) : MOST_HEIGHT;
	for (; cells->first < cells->last && i <= cells->last; i++) {
		const struct column *column = &cells->columns[i];
		tasks += column->tasks_step;
		running += column->running_step;
		struct cell cell = make_cell(p, column, tasks, running, room);
		if (same(&cell, &run) && i < cells->last)
			continue;
		draw_run(p, lane, &run, p->x0 + begin, p->x0 + i);
		run = cell;
		begin = i;
	}
	empty(cells);
}
