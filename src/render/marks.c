/* SPDX-License-Identifier: ISC
 *
 * Marks of what failed. They are found while tasks are drawn, and drawn over everything else of the
 * picture: one failed task in ten million is still seen.
 */
#include <math.h>

#include "base/array.h"
#include "render/painter.h"

#define LEAST_CAP 5.0 /* px */

void weft__add_mark(struct painter *p, struct weft__mark mark)
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

static void draw_cross(struct painter *p, double x, double y, double size)
{
	struct weft_pen halo = {p->theme->background, 5, WEFT_DASH_SOLID};
	struct weft_pen pen = {p->theme->failed, 2.25, WEFT_DASH_SOLID};
	const struct weft_pen *pens[] = {&halo, &pen};
	for (unsigned i = 0; i < 2; i++) {
		weft_canvas_line(p->canvas, x - size, y - size, x + size, y + size, pens[i]);
		weft_canvas_line(p->canvas, x - size, y + size, x + size, y - size, pens[i]);
	}
}

/* As wide as is needed to be found. */
static void draw_cap(struct painter *p, const struct weft__mark *mark)
{
	double wider = fmax(0, (LEAST_CAP - (mark->x2 - mark->x)) / 2);
	double x = mark->x - wider, x2 = mark->x2 + wider, y = mark->y - 1;
	weft_canvas_rect(p->canvas, x - 1, y - 1, x2 + 1, mark->y2 + 1, p->theme->background);
	weft_canvas_rect(p->canvas, x, y, x2, mark->y2, p->theme->failed);
}

void weft__draw_marks(struct painter *p)
{
	for (size_t i = 0; i < p->mark_count; i++)
		if (p->marks[i].is_cross)
			draw_cross(p, p->marks[i].x, p->marks[i].y, p->marks[i].x2);
		else
			draw_cap(p, &p->marks[i]);
}
