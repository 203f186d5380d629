/* SPDX-License-Identifier: ISC
 *
 * Creation and becoming: the lines that hold the tree of tasks together. They are vertical, so only
 * those of the time in view matter; one a pixel and pair of rows is enough.
 */
#include <math.h>

#include "base/sort.h"
#include "render/painter.h"

#define NARROW 2.0 /* px: tasks below are part of a density, and have no line of their own */
#define CORNER 3.0
#define DOT    2.0

struct link {
	double x, y, y2;
};

static double task_width(const struct painter *p, uint32_t task)
{
	return (double)(p->model->tasks.end[task] - p->layout->start[task]) * p->view->scale;
}

static bool in_picture(const struct painter *p, double x)
{
	const struct weft_box *box = &p->frame->picture;
	return x >= box->x && x <= box->x + box->width;
}

/* Densities hang from nobody; a fold hangs by its first member. */
static bool hangs_visibly(const struct painter *p, uint32_t task)
{
	const struct weft_layout *l = p->layout;
	if (l->form[task] != WEFT_FORM_FOLDED)
		return l->form[task] == WEFT_FORM_LINE && task_width(p, task) >= NARROW;
	return l->fold_members[l->folds[l->fold_of[task]].first] == task;
}

/* Where a create edge is drawn; false if it is hidden. */
static bool make_creation(const struct painter *p, uint32_t edge, struct link *ret_link)
{
	uint32_t from = p->model->edges.from[edge], to = p->model->edges.to[edge];
	const uint32_t *row = p->layout->row;
	if (from == WEFT_NONE || p->layout->moved[to] || row[from] == row[to] ||
		!weft__are_apart(p, from, to) || !hangs_visibly(p, to))
		return false;
	*ret_link = (struct link){weft__crisp(weft__x(p, p->model->edges.time[edge])),
		weft__crisp(weft__y(p, row[from])), weft__crisp(weft__y(p, row[to]))};
	return fabs(ret_link->y2 - ret_link->y) >= 1;
}

static void draw_creation(struct painter *p, const struct link *link)
{
	struct weft_pen pen = {p->theme->waiting, 1, WEFT_DASH_SOLID};
	weft_canvas_line(p->canvas, link->x, link->y, link->x, link->y2, &pen);
	if (fabs(link->y2 - link->y) > 6)
		weft_canvas_disc(p->canvas, link->x, link->y2, DOT, p->theme->waiting);
}

/* The line steps to the row of what the task became. */
static void draw_become(struct painter *p, uint32_t edge)
{
	uint32_t from = p->model->edges.from[edge], to = p->model->edges.to[edge];
	const uint32_t *row = p->layout->row;
	double x = weft__crisp(weft__x(p, p->model->edges.time[edge]));
	if (from == WEFT_NONE || row[from] == row[to] || !weft__are_apart(p, from, to) ||
		!in_picture(p, x))
		return;
	double y = weft__crisp(weft__y(p, row[from])), y2 = weft__crisp(weft__y(p, row[to]));
	double turn = y2 > y ? CORNER : -CORNER;
	if (fabs(y2 - y) < 2 * CORNER)
		turn = (y2 - y) / 2;
	struct weft_pen pen = {p->theme->waiting, 1.5, WEFT_DASH_SOLID};
	const double points[] = {x - CORNER, y, x - 1, y + turn * 0.3, x, y + turn, x, y2 - turn, x + 1,
		y2 - turn * 0.3, x + CORNER, y2};
	weft_canvas_polyline(p->canvas, points, 6, &pen);
}

void weft__draw_links(struct painter *p)
{
	const struct weft_edges *edges = &p->model->edges;
	uint32_t first = (uint32_t)weft__lower_bound_u64(edges->time, edges->count, p->left);
	struct link link, before = {-1, -1, -1};
	for (uint32_t edge = first; edge < edges->count && edges->time[edge] <= p->right; edge++) {
		if (edges->type[edge] == WEFT_EDGE_BECOME)
			draw_become(p, edge);
		if (edges->type[edge] != WEFT_EDGE_CREATE || !make_creation(p, edge, &link) ||
			!in_picture(p, link.x))
			continue;
		if (link.x == before.x && link.y == before.y && link.y2 == before.y2)
			continue;
		draw_creation(p, &link);
		before = link;
	}
}
