/* SPDX-License-Identifier: ISC
 *
 * Creation and becoming: the lines that hold the tree of tasks together. They are vertical, so only
 * those of the time in view matter; one a pixel and pair of rows is enough. Where a pixel column
 * has too many, only those of tasks with a line of their own are drawn.
 */
#include <math.h>

#include "render/painter.h"

#define CORNER 3.0
#define DOT    2.0
#define FEW    4000 /* that are drawn one by one, if there are many */

struct link {
	double x, y, y2;
};

/* A creation or a becoming. */
struct bond {
	uint64_t time;
	uint32_t from, to; /* tasks */
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
		return l->form[task] == WEFT_FORM_LINE && task_width(p, task) >= WEFT__NARROW;
	return l->fold_members[l->folds[l->fold_of[task]].first] == task;
}

static bool are_shown(const struct painter *p, const struct bond *bond)
{
	const uint32_t *row = p->layout->row;
	return bond->from != WEFT_NONE && bond->to != WEFT_NONE && row[bond->from] != row[bond->to] &&
		   weft__are_apart(p, bond->from, bond->to);
}

/* Where a creation is drawn; false if it is hidden. */
static bool make_creation(const struct painter *p, const struct bond *bond, struct link *ret_link)
{
	const uint32_t *row = p->layout->row;
	if (!are_shown(p, bond) || p->layout->moved[bond->to] || !hangs_visibly(p, bond->to))
		return false;
	*ret_link = (struct link){weft__crisp(weft__x(p, bond->time)),
		weft__crisp(weft__y(p, row[bond->from])), weft__crisp(weft__y(p, row[bond->to]))};
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
static void draw_become(struct painter *p, const struct bond *bond)
{
	const uint32_t *row = p->layout->row;
	double x = weft__crisp(weft__x(p, bond->time));
	if (!are_shown(p, bond) || !in_picture(p, x))
		return;
	double y = weft__crisp(weft__y(p, row[bond->from])),
		   y2 = weft__crisp(weft__y(p, row[bond->to]));
	double turn = y2 > y ? CORNER : -CORNER;
	if (fabs(y2 - y) < 2 * CORNER)
		turn = (y2 - y) / 2;
	struct weft_pen pen = {p->theme->waiting, 1.5, WEFT_DASH_SOLID};
	const double points[] = {x - CORNER, y, x - 1, y + turn * 0.3, x, y + turn, x, y2 - turn, x + 1,
		y2 - turn * 0.3, x + CORNER, y2};
	weft_canvas_polyline(p->canvas, points, 6, &pen);
}

/* `before` is what was drawn last. */
static void draw_new_creation(struct painter *p, const struct bond *bond, struct link *before)
{
	struct link link;
	if (!make_creation(p, bond, &link) || !in_picture(p, link.x) ||
		(link.x == before->x && link.y == before->y && link.y2 == before->y2))
		return;
	draw_creation(p, &link);
	*before = link;
}

static void draw_edge(struct painter *p, uint32_t edge, struct link *before)
{
	const struct weft_edges *edges = &p->model->edges;
	struct bond bond = {edges->time[edge], edges->from[edge], edges->to[edge]};
	if (edges->type[edge] == WEFT_EDGE_BECOME)
		draw_become(p, &bond);
	else if (edges->type[edge] == WEFT_EDGE_CREATE)
		draw_new_creation(p, &bond, before);
}

static void draw_columns(struct painter *p, unsigned type, struct link *before)
{
	const struct weft__edge_columns *columns = p->edge_columns;
	for (uint32_t column = 0; column < columns->count / 2; column++) {
		uint32_t count = weft__edges_in_column(columns, type, column);
		uint32_t edge = columns->edges[column], last = columns->edges[column + 1];
		if (weft__column_is_crowded(columns, type, column))
			continue;
		for (; count > 0; count--) {
			edge = weft__edges_next(p->scene, type, edge, last);
			draw_edge(p, edge++, before);
		}
	}
}

static bool is_crowded(const struct painter *p, unsigned type, uint64_t time)
{
	double column = floor(weft__x(p, time) - p->x0);
	return column >= 0 && column < p->edge_columns->count &&
		   weft__column_is_crowded(p->edge_columns, type, (uint32_t)column);
}

/* How a task with a line of its own began and ended, where that has not been drawn. */
static void draw_bonds(struct painter *p, uint32_t task, struct link *before)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	struct bond creation = {tasks->start[task], tasks->parent[task], task};
	struct bond become = {tasks->end[task], task, tasks->becomes[task]};
	if (tasks->flags[task] & WEFT_TASK_CREATED && is_crowded(p, WEFT_EDGE_CREATE, creation.time))
		draw_new_creation(p, &creation, before);
	if (become.to != WEFT_NONE && is_crowded(p, WEFT_EDGE_BECOME, become.time))
		draw_become(p, &become);
}

static void draw_few_of_many(struct painter *p, struct link *before)
{
	weft__edge_columns_limit(p->edge_columns, 1u << WEFT_EDGE_CREATE | 1u << WEFT_EDGE_BECOME, FEW);
	draw_columns(p, WEFT_EDGE_CREATE, before);
	draw_columns(p, WEFT_EDGE_BECOME, before);
	for (uint32_t i = 0; i < p->piece_count; i++)
		if (p->pieces[i].is_line)
			draw_bonds(p, p->scene->by_row[p->pieces[i].place], before);
}

void weft__draw_links(struct painter *p)
{
	const struct weft_edges *edges = &p->model->edges;
	struct link before = {-1, -1, -1};
	if (p->edge_columns)
		draw_few_of_many(p, &before);
	else
		for (uint32_t edge = p->first_edge; edge < edges->count && edges->time[edge] <= p->right;
			 edge++)
			draw_edge(p, edge, &before);
}
