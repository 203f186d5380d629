/* SPDX-License-Identifier: ISC
 *
 * Hollows a bar out by the share of its time in which the thread had no processor: a dashed line
 * within the bar, because it is unknown when in the activation that was.
 *
 *     ████████████████   the thread had the processor
 *     █▁███▁███▁███▁██   it had none for up to a third of the time
 *     █▁▁▁▁██▁▁▁▁██▁▁█   about half
 *     █▁▁▁▁▁▁▁▁▁▁▁▁▁▁█   nearly all
 *
 * In narrow bars a pattern would not be seen; a search skips activations of less than a pixel.
 */
#include "render/tasks/off_cpu.h"

#include <math.h>

#include "render/painter.h"

#define WIDTH 6.0  /* px of a bar: narrower ones stay black */
#define TOUCH 0.25 /* px: closer activations are one bar, as in bars.c */

/* Activations that touch; `ns` of `of_ns` without a processor. */
struct hollow_bar {
	double x, x2;
	double ns, of_ns;
};

static enum weft_canvas_dash dash_of(double share)
{
	if (share >= 0.85)
		return WEFT_DASH_SOLID;
	if (share >= 0.67)
		return WEFT_DASH_LONG;
	return share >= 0.33 ? WEFT_DASH_SHORT : WEFT_DASH_DOTTED;
}

/* The dashes stay where they are on the bar when the view moves. */
static void hollow(struct painter *p, const struct hollow_bar *s, const struct weft__bar_box *box)
{
	const struct weft_pen pen = {p->theme->background, box->height - 2, dash_of(s->ns / s->of_ns)};
	double y = box->y - floor(box->height / 2) + box->height / 2, on, off;
	double x = s->x + 1, x2 = fmin(s->x2 - 1, box->x2);
	weft_canvas_dash_lengths(pen.dash, &on, &off);
	if (x < box->x)
		x = on > 0 ? x + ceil((box->x - x) / (on + off)) * (on + off) : box->x;
	if (s->x2 - s->x < WIDTH || x >= x2)
		return;
	weft_canvas_line(p->canvas, x, y, x2, y, &pen);
	p->tally.off_cpu = true;
}

void weft__render_draw_off_cpu(struct painter *p, uint32_t task, const struct weft__bar_box *box)
{
	const struct weft_off_cpu *o = &p->model->off_cpu;
	struct hollow_bar s = {0, -INFINITY, 0, 1}; /* none */
	if (!o->first)
		return;
	uint32_t i = weft_model_off_cpu_after(p->model, task, p->left);
	while (i < o->last[task] && o->start[i] < p->right) {
		double x = weft__render_x(p, o->start[i]), x2 = weft__render_x(p, o->end[i]);
		if (x > s.x2 + TOUCH) {
			hollow(p, &s, box);
			s = (struct hollow_bar){x, x2, 0, 0};
		}
		s.x2 = x2;
		s.ns += (double)o->ns[i];
		s.of_ns += (double)(o->end[i] - o->start[i]);
		/* Those that end within a pixel are left out. */
		uint64_t next = weft_view_time(p->view, fmax(x2, box->x) - p->x0 + 1);
		i = weft__render_gallop_u64(o->end, i + 1, o->last[task], next);
	}
	hollow(p, &s, box);
}
