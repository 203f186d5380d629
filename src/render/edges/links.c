/* SPDX-License-Identifier: ISC
 *
 * Links: the lines of creation and becoming, which hold the tree of tasks together. They are
 * vertical, so only those of times in view matter. One per pixel and pair of rows is enough, and
 * none if both ends are in the same pixel. Where a pixel column has too many, only links of tasks
 * with a line of their own are drawn.
 */
#include <math.h>
#include <string.h>

#include "render/painter.h"

#define CORNER 3.0
#define DOT    2.0
#define FEW    2400 /* links that are drawn one by one, if there are many */
#define KNOWN  1024 /* a power of two */

struct link {
	double x, y, y2;
};

/* A cache of links that were drawn: after a collision a link may be drawn twice. */
struct drawn {
	struct link creations[KNOWN], becomes[KNOWN];
};

/* A creation or a become edge. */
struct bond {
	uint64_t time;
	uint32_t from, to; /* tasks */
	uint32_t edge;     /* or WEFT_NONE */
};

static double task_width(const struct painter *p, uint32_t task)
{
	return weft__view_px(p->view, p->layout->start[task], p->model->tasks.end[task]);
}

static bool in_picture(const struct painter *p, double x)
{
	const struct weft_box *box = &p->frame->picture;
	return x >= box->x && x <= box->x + box->width;
}

/* True if a task's creation is shown: not for tasks in densities; for a fold only its first
 * member's. */
static bool hangs_visibly(const struct painter *p, uint32_t task)
{
	const struct weft_layout *l = p->layout;
	if (l->form[task] != WEFT_FORM_FOLDED)
		return l->form[task] == WEFT_FORM_LINE && task_width(p, task) >= WEFT__NARROW;
	return l->fold_members[l->folds[l->fold_of[task]].first] == task;
}

/* True if the link was not drawn yet; remembers it. */
static bool is_new(struct link *known, const struct link *link)
{
	uint32_t x = (uint32_t)(int32_t)link->x, y = (uint32_t)(int32_t)link->y;
	uint32_t hash = (x * 31 + y) * 31 + (uint32_t)(int32_t)link->y2;
	struct link *seen = &known[hash * UINT32_C(2654435761) >> 16 & (KNOWN - 1)];
	if (seen->x == link->x && seen->y == link->y && seen->y2 == link->y2)
		return false;
	*seen = *link;
	return true;
}

static bool are_shown(const struct painter *p, const struct bond *bond)
{
	const uint32_t *row = p->layout->row;
	return bond->from != WEFT_NONE && bond->to != WEFT_NONE && row[bond->from] != row[bond->to] &&
		   weft__render_draws_edge(p, bond->from, bond->to);
}

static void record(struct painter *p, const struct bond *bond, const struct link *link)
{
	if (bond->edge != WEFT_NONE)
		weft__render_add_drawn_edge(p, &(struct weft__drawn_edge){bond->edge, WEFT__EDGE_BOTH,
										   link->x, link->y, link->x, link->y2});
}

/* Computes where a link is; false if it is outside of the picture. */
static bool make_link(const struct painter *p, const struct bond *bond, struct link *ret_link)
{
	const uint32_t *row = p->layout->row;
	if (!are_shown(p, bond))
		return false;
	*ret_link = (struct link){weft__render_crisp(weft__render_x(p, bond->time)),
		weft__render_crisp(weft__render_y(p, row[bond->from])),
		weft__render_crisp(weft__render_y(p, row[bond->to]))};
	return in_picture(p, ret_link->x) && fabs(ret_link->y2 - ret_link->y) >= 1;
}

static void draw_creation(struct painter *p, const struct bond *bond, struct drawn *drawn)
{
	struct weft_pen pen = {p->theme->waiting, 1, WEFT_DASH_SOLID};
	struct link link;
	if (p->layout->moved[bond->to] || !make_link(p, bond, &link) || !hangs_visibly(p, bond->to) ||
		!is_new(drawn->creations, &link))
		return;
	record(p, bond, &link);
	weft_canvas_line(p->canvas, link.x, link.y, link.x, link.y2, &pen);
	if (fabs(link.y2 - link.y) > 6)
		weft_canvas_disc(p->canvas, link.x, link.y2, DOT, p->theme->waiting);
}

/* Draws the step to the row of the task that a task became. */
static void draw_become(struct painter *p, const struct bond *bond, struct drawn *drawn)
{
	struct weft_pen pen = {p->theme->waiting, 1.5, WEFT_DASH_SOLID};
	struct link link;
	if (!make_link(p, bond, &link) || !is_new(drawn->becomes, &link))
		return;
	record(p, bond, &link);
	double x = link.x, y = link.y, y2 = link.y2, turn = y2 > y ? CORNER : -CORNER;
	if (fabs(y2 - y) < 2 * CORNER)
		turn = (y2 - y) / 2;
	const double points[] = {x - CORNER, y, x - 1, y + turn * 0.3, x, y + turn, x, y2 - turn, x + 1,
		y2 - turn * 0.3, x + CORNER, y2};
	weft_canvas_polyline(p->canvas, points, 6, &pen);
}

static void draw_edge(struct painter *p, uint32_t edge, struct drawn *drawn)
{
	const struct weft_edges *edges = &p->model->edges;
	struct bond bond = {edges->time[edge], edges->from[edge], edges->to[edge], edge};
	if (edges->type[edge] == WEFT_EDGE_BECOME)
		draw_become(p, &bond, drawn);
	else if (edges->type[edge] == WEFT_EDGE_CREATE)
		draw_creation(p, &bond, drawn);
}

static void draw_columns(struct painter *p, unsigned type, struct drawn *drawn)
{
	const struct weft__edge_columns *columns = p->edge_columns;
	for (uint32_t column = 0; column < columns->width; column++) {
		uint32_t count = weft__render_edges_in_column(columns, type, column);
		uint32_t edge = columns->edges[column], last = columns->edges[column + 1];
		if (weft__render_column_is_dense(columns, type, column))
			continue;
		for (; count > 0; count--) {
			edge = weft__render_edges_next(p->scene, type, edge, last);
			draw_edge(p, edge++, drawn);
		}
	}
}

static bool is_dense(const struct painter *p, unsigned type, uint64_t time)
{
	double column = floor(weft__render_x(p, time) - p->x0);
	return column >= 0 && column < p->edge_columns->count &&
		   weft__render_column_is_dense(p->edge_columns, type, (uint32_t)column);
}

/* Draws how a task with a line of its own began and ended, if that was not drawn yet. */
static void draw_bonds(struct painter *p, uint32_t task, struct drawn *drawn)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	struct bond creation = {tasks->start[task], tasks->parent[task], task, WEFT_NONE};
	struct bond become = {tasks->end[task], task, tasks->becomes[task], WEFT_NONE};
	if (tasks->flags[task] & WEFT_TASK_CREATED && is_dense(p, WEFT_EDGE_CREATE, creation.time))
		draw_creation(p, &creation, drawn);
	if (become.to != WEFT_NONE && is_dense(p, WEFT_EDGE_BECOME, become.time))
		draw_become(p, &become, drawn);
}

static void draw_few_of_many(struct painter *p, struct drawn *drawn)
{
	weft__render_edge_columns_limit(
		p->edge_columns, 1u << WEFT_EDGE_CREATE | 1u << WEFT_EDGE_BECOME, FEW);
	draw_columns(p, WEFT_EDGE_CREATE, drawn);
	draw_columns(p, WEFT_EDGE_BECOME, drawn);
	for (uint32_t i = 0; i < p->piece_count; i++)
		if (p->pieces[i].is_line)
			draw_bonds(p, p->scene->by_row[p->pieces[i].index], drawn);
}

void weft__render_draw_links(struct painter *p)
{
	const struct weft_edges *edges = &p->model->edges;
	struct drawn drawn;
	memset(&drawn, 0, sizeof(drawn)); /* a link of length 0 cannot occur */
	if (p->edge_columns)
		draw_few_of_many(p, &drawn);
	else
		for (uint32_t edge = p->first_edge; edge < edges->count && edges->time[edge] <= p->right;
			 edge++)
			draw_edge(p, edge, &drawn);
}
