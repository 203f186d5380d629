/* SPDX-License-Identifier: ISC
 *
 * Marks of failures. They are collected while tasks are drawn, and drawn on top of the picture: a
 * single failed task among ten million is visible.
 */
#include <math.h>

#include "base/array.h"
#include "render/painter.h"

#define LEAST_CAP 5.0 /* px */

void weft__render_add_mark(struct painter *p, struct weft__failure_mark mark)
{
	if (p->mark_count == p->mark_capacity) {
		size_t capacity = weft__array_next_capacity(p->mark_capacity, p->mark_count + 1);
		if (weft__array_resize(&p->marks, capacity, sizeof(*p->marks))) {
			p->error = WEFT_ERROR_MEMORY;
			return;
		}
		p->mark_capacity = capacity;
	}
	p->marks[p->mark_count++] = mark;
}

static void draw_cross(struct painter *p, const struct weft__failure_mark *mark, bool is_halo)
{
	struct weft_pen pen = {
		is_halo ? p->theme->background : p->theme->failed, is_halo ? 5 : 2.25, WEFT_DASH_SOLID};
	double x = mark->x, y = mark->y, size = mark->x2;
	weft_canvas_line(p->canvas, x - size, y - size, x + size, y + size, &pen);
	weft_canvas_line(p->canvas, x - size, y + size, x + size, y - size, &pen);
}

/* Draws a cap, wide enough to be noticed. */
static void draw_cap(struct painter *p, const struct weft__failure_mark *mark, bool is_halo)
{
	double wider = fmax(0, (LEAST_CAP - (mark->x2 - mark->x)) / 2);
	double x = mark->x - wider, x2 = mark->x2 + wider, y = mark->y - 1;
	if (is_halo)
		weft_canvas_rect(p->canvas, x - 1, y - 1, x2 + 1, mark->y2 + 1, p->theme->background);
	else
		weft_canvas_rect(p->canvas, x, y, x2, mark->y2, p->theme->failed);
}

static void draw_all(struct painter *p, bool is_halo)
{
	for (size_t i = 0; i < p->mark_count; i++)
		if (p->marks[i].is_cross)
			draw_cross(p, &p->marks[i], is_halo);
		else
			draw_cap(p, &p->marks[i], is_halo);
}

/* Draws all halos first, so that none covers a mark. */
void weft__render_draw_marks(struct painter *p)
{
	draw_all(p, true);
	draw_all(p, false);
}
