/* SPDX-License-Identifier: ISC
 *
 * The alert because of which a snapshot was taken: a line through the picture with a flag, which
 * has the rule; and a tick in the overview.
 */
#include <math.h>
#include <string.h>

#include "render/painter.h"

#define FLAG_HEIGHT 15.0
#define FLAG_ROOM   240.0 /* px: the text's width at most */

static void draw_flag(struct painter *p, double x, const struct weft_trace_alert *alert)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {p->theme->background, 10.5, true, false, 0};
	const char *text = alert->name[0] ? alert->name : alert->rule;
	double width = fmin(weft__render_measure(p, text, &style), FLAG_ROOM) + 10;
	bool is_left = x + width > box->x + box->width;
	double left = fmax(is_left ? x - width : x, box->x), y = box->y + box->height - FLAG_HEIGHT;
	weft_canvas_rect(p->canvas, left, y, left + width, y + FLAG_HEIGHT, p->theme->failed);
	weft__render_put_text(p, left + 5, y + FLAG_HEIGHT - 4, (struct weft_slice){text, strlen(text)},
		width - 10, &style);
}

static void draw(struct painter *p, const struct weft_trace_alert *alert)
{
	const struct weft_box *box = &p->frame->picture;
	const struct weft_pen pen = {p->theme->failed, 1.5, WEFT_DASH_SOLID};
	uint64_t time = weft_model_alert_time(p->model, alert);
	if (time < p->left || time > p->right)
		return;
	double x = weft__render_crisp(weft__render_x(p, time));
	weft_canvas_line(p->canvas, x, box->y, x, box->y + box->height, &pen);
	draw_flag(p, x, alert);
}

void weft__render_draw_alerts(struct painter *p)
{
	for (uint32_t i = 0; i < p->model->buffer_count; i++)
		for (uint32_t n = 0; n < p->model->buffers[i].alert_count; n++)
			draw(p, &p->model->buffers[i].alerts[n]);
}

void weft__render_draw_strip_alerts(struct painter *p, const struct weft__strip *strip)
{
	for (uint32_t i = 0; i < p->model->buffer_count; i++)
		for (uint32_t n = 0; n < p->model->buffers[i].alert_count; n++) {
			uint64_t time = weft_model_alert_time(p->model, &p->model->buffers[i].alerts[n]);
			double x = weft__render_strip_x(strip, time);
			weft_canvas_rect(
				p->canvas, x - 1, strip->area.y, x + 1, strip->area.y2, p->theme->failed);
		}
}
