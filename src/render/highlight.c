/* SPDX-License-Identifier: ISC
 *
 * Highlights: the task under the pointer, the selection, search results. Grounds lie below
 * everything; highlighted arrows are drawn again, stronger, on top. If a set of tasks is
 * highlighted, the picture is veiled and the set drawn again above the veil.
 */
#include <math.h>
#include <stdlib.h>

#include "base/search.h"

#include "render/painter.h"

#define ARROWS_DOWN_TO 0.25 /* factor for the alpha of other arrows */
#define VEIL           0.72
#define GROUND         9.0 /* px above and below a line, if rows are far enough apart */
#define REACH          3.0 /* px of a ground beyond its task's ends */
#define OUTLINE        5.0
#define EDGE_RING      5.5
#define LEAST_GROUND   3.0
#define STRONG_LINE    2.5
#define SQUARE         3.0 /* px: matches nearer than this share a ground */
#define BAR            7.0

struct area {
	double x, x2, y, half;
};

bool weft__render_is_dim(const struct painter *p, uint32_t task)
{
	const struct weft_highlight *h = p->options->highlight;
	return h && h->related_count && !weft__contains_u32(h->related, h->related_count, task);
}

double weft__render_arrow_dim(const struct painter *p)
{
	const struct weft_highlight *h = p->options->highlight;
	return h ? 1 - (1 - ARROWS_DOWN_TO) * h->strength : 1;
}

/* The area of a task in the picture; false if it is not in it. */
static bool find_area(const struct painter *p, uint32_t task, struct area *ret_area)
{
	const struct weft_box *box = &p->frame->picture;
	uint64_t start = p->layout->start[task], end = p->model->tasks.end[task];
	uint32_t row = p->layout->row[task];
	if (row == WEFT_NONE || start > p->right || end < p->left)
		return false;
	double y = weft__render_y(p, row), half = weft_view_row_spacing(p->view, row) / 2;
	double x = fmax(weft__render_x(p, start), box->x - 20);
	double x2 = fmin(weft__render_x(p, end), box->x + box->width + 20);
	if (y < box->y - GROUND || y > box->y + box->height + GROUND)
		return false;
	*ret_area = (struct area){x, fmax(x2, x + 1), y, fmin(fmax(half, LEAST_GROUND), GROUND)};
	return true;
}

static void draw_ground(struct painter *p, uint32_t task, uint32_t color)
{
	struct area a;
	if (find_area(p, task, &a))
		weft_canvas_rect(p->canvas, a.x - REACH, a.y - a.half, a.x2 + REACH, a.y + a.half, color);
}

/* Draws grounds of search results, one per pixel and row: so the cost depends on the picture's
 * size, not on their number. */
static void draw_found(struct painter *p, const struct weft_highlight *h)
{
	const struct weft_box *box = &p->frame->picture;
	size_t columns = (size_t)(box->width / SQUARE) + 1, rows = (size_t)(box->height / SQUARE) + 1;
	uint8_t *taken = h->found_count ? calloc(columns * rows, 1) : NULL;
	for (uint32_t i = 0; taken && i < h->found_count; i++) {
		struct area a;
		if (!find_area(p, h->found[i], &a))
			continue;
		double column = fmin(fmax((a.x - box->x) / SQUARE, 0), (double)columns - 1);
		double row = fmin(fmax((a.y - box->y) / SQUARE, 0), (double)rows - 1);
		uint8_t *square = &taken[(size_t)row * columns + (size_t)column];
		bool is_small = a.x2 - a.x < SQUARE;
		if (is_small && *square)
			continue;
		*square = 1;
		weft_canvas_rect(
			p->canvas, a.x - REACH, a.y - a.half, a.x2 + REACH, a.y + a.half, p->theme->found);
	}
	if (h->found_count && !taken)
		p->error = WEFT_ERROR_MEMORY;
	free(taken);
}

void weft__render_draw_grounds(struct painter *p)
{
	const struct weft_highlight *h = p->options->highlight;
	if (!h)
		return;
	draw_found(p, h);
	if (h->selected != WEFT_NONE)
		draw_ground(p, h->selected, weft__render_faded(p->theme->selection, 0.2));
	if (h->hovered != WEFT_NONE && h->hovered != h->selected)
		draw_ground(p, h->hovered, weft__render_faded(p->theme->text, 0.1));
}

/* ---- Above everything ---- */

static void draw_outline(struct painter *p, uint32_t task)
{
	struct weft_pen pen = {p->theme->selection, 1.5, WEFT_DASH_SOLID};
	struct area a;
	if (!find_area(p, task, &a))
		return;
	double half = fmin(a.half, OUTLINE); /* names are above */
	double x = a.x - REACH, x2 = a.x2 + REACH, y = a.y - half, y2 = a.y + half + 1;
	weft_canvas_polyline(p->canvas, (double[]){x, y, x2, y, x2, y2, x, y2, x, y}, 5, &pen);
}

static void draw_bars(struct painter *p, uint32_t task, const struct area *area)
{
	const struct weft_box *box = &p->frame->picture;
	weft__render_bars_draw(p->bars, p, task,
		&(struct weft__bar_box){
			.x = fmax(area->x, box->x),
			.x2 = fmin(area->x2, box->x + box->width),
			.y = area->y,
			.height = 2 * floor(fmin(BAR / 2, area->half)) + 1,
		});
}

static void draw_again(struct painter *p, uint32_t task)
{
	bool failed = p->model->tasks.flags[task] & WEFT_TASK_FAILED;
	struct weft_pen pen = {
		failed ? p->theme->failed : p->theme->waiting, STRONG_LINE, WEFT_DASH_SOLID};
	struct area a;
	if (!find_area(p, task, &a))
		return;
	weft_canvas_line(p->canvas, a.x, weft__render_crisp(a.y), a.x2, weft__render_crisp(a.y), &pen);
	draw_bars(p, task, &a);
}

static void draw_related(struct painter *p, const struct weft_highlight *h)
{
	const struct weft_box *box = &p->frame->picture;
	weft_canvas_rect(p->canvas, box->x, box->y, box->x + box->width, box->y + box->height,
		weft__render_faded(p->theme->background, VEIL));
	for (uint32_t i = 0; i < h->related_count; i++)
		draw_again(p, h->related[i]);
}

/* Marks the position of the current edge on the selected task: creations have no arrow of their
 * own. */
static void draw_edge_time(struct painter *p, const struct weft_highlight *h)
{
	struct weft_pen halo = {p->theme->background, 5, WEFT_DASH_SOLID};
	struct weft_pen pen = {p->theme->selection, 2, WEFT_DASH_SOLID};
	struct area a;
	if (h->edge == WEFT_NONE || h->selected == WEFT_NONE || !find_area(p, h->selected, &a))
		return;
	double x = weft__render_x(p, p->model->edges.time[h->edge]);
	if (x < p->frame->picture.x || x > p->frame->picture.x + p->frame->picture.width)
		return;
	weft_canvas_ring(p->canvas, x, weft__render_crisp(a.y), EDGE_RING, &halo);
	weft_canvas_ring(p->canvas, x, weft__render_crisp(a.y), EDGE_RING, &pen);
}

void weft__render_draw_highlight(struct painter *p)
{
	const struct weft_highlight *h = p->options->highlight;
	if (!h)
		return;
	if (h->related_count)
		draw_related(p, h);
	for (uint32_t i = 0; i < h->edge_count; i++)
		if (h->edges[i] != h->edge)
			weft__render_draw_arrow_of(p, h->edges[i]);
	if (h->edge != WEFT_NONE)
		weft__render_draw_arrow_of(p, h->edge);
	if (h->selected != WEFT_NONE)
		draw_outline(p, h->selected);
	draw_edge_time(p, h);
}
