/* SPDX-License-Identifier: ISC
 *
 * The unread time of a trace, on both sides of the part that was read: a light hatch that says so.
 */
#include <math.h>
#include <string.h>

#include "render/painter.h"

#define LEAST_WIDTH 3.0 /* px: of a hatch */
#define ALPHA       0.25
#define LINE        14.0

static void draw_unread(struct painter *p, uint64_t start, uint64_t end)
{
	static const char text[] = "not read";
	struct weft_text_style style = {p->theme->dim, 10.5, false, true, p->theme->background};
	const struct weft_box *box = &p->frame->picture;
	const double x = fmax(weft__render_x(p, start), box->x),
				 x2 = fmin(weft__render_x(p, end), box->x + box->width);
	if (start >= end || x2 - x < LEAST_WIDTH)
		return;
	weft_canvas_hatch(
		p->canvas, x, box->y, x2, box->y + box->height, weft__render_faded(p->theme->dim, ALPHA));
	const double width = weft__render_measure(p, text, &style);
	const double left = floor((x + x2 - width) / 2), y = box->y + box->height / 2;
	if (width < x2 - x && weft__render_occupied_take(p->occupied,
							  (struct weft__rect){left, y - LINE / 2, left + width, y + LINE / 2}))
		weft_canvas_text(p->canvas, left, y + LINE / 2 - 4, text, strlen(text), width, &style);
}

void weft__render_draw_unread(struct painter *p)
{
	const struct weft_model_summary *s = &p->model->summary;
	if (!s->read_end)
		return;
	draw_unread(p, s->start, s->read_start);
	draw_unread(p, s->read_end, s->end);
}
