/* SPDX-License-Identifier: ISC
 *
 * The line of a track: a bar for each span, at any zoom. Spans that are narrower than a pixel are
 * joined with their neighbours, and each step goes to the first span that ends after the drawn
 * part, so a frame costs a search for each pixel at most.
 */
#include <math.h>

#include "render/painter.h"
#include "render/tasks/tracks.h"

#define TOUCH     0.25  /* px: closer bars are joined */
#define INNER_MAX 20000 /* spans inside others that a track steps over */

/* The spans that are joined so far. */
struct joined {
	double x, x2;
};

static void draw(struct painter *p, const struct joined *bar, const struct weft__bar_box *box)
{
	double top = box->y - floor(box->height / 2);
	if (bar->x2 > bar->x)
		weft_canvas_rect(p->canvas, bar->x, top, bar->x2, top + box->height, p->theme->running);
}

/* Where a span is drawn: at least a pixel wide. */
static struct joined place(
	const struct painter *p, const struct weft_span *span, const struct weft__bar_box *box)
{
	double x = weft__render_x(p, span->start), x2 = weft__render_x(p, span->end);
	return (struct joined){fmax(x, box->x), fmin(fmax(x2, x + 1), box->x2)};
}

/* The outermost span around span i, whose number i becomes: spans of threads nest, and outer ones
 * come later. If very many are inside it, an inner one is drawn instead, so that the frame is done
 * in time. */
static struct weft_span outermost(
	const struct painter *p, uint32_t task, uint32_t *i, uint32_t count, uint32_t *left)
{
	struct weft_span span = weft_model_span(p->model, task, *i);
	while (span.depth && *i + 1 < count && *left) {
		span = weft_model_span(p->model, task, ++*i);
		(*left)--;
	}
	return span;
}

/* The number of the next span to draw: those that end before `x2` are hidden by it. */
static uint32_t next_after(const struct painter *p, uint32_t task, uint32_t i, double x2)
{
	uint32_t next = weft_model_span_after(p->model, task, weft_view_time(p->view, x2 - p->x0));
	return next > i ? next : i + 1;
}

void weft__render_draw_track(struct painter *p, uint32_t task, const struct weft__bar_box *box)
{
	uint32_t count = weft_model_span_count(p->model, task);
	uint32_t i = weft_model_span_after(p->model, task, p->left);
	uint32_t left = INNER_MAX;
	struct joined bar = {0, 0};
	while (i < count) {
		const struct weft_span span = outermost(p, task, &i, count, &left);
		if (span.start >= p->right)
			break;
		const struct joined next = place(p, &span, box);
		if (bar.x2 <= bar.x || next.x > bar.x2 + TOUCH) {
			draw(p, &bar, box);
			bar = next;
		} else {
			bar.x2 = fmax(bar.x2, next.x2);
		}
		i = next_after(p, task, i, bar.x2);
	}
	draw(p, &bar, box);
}
