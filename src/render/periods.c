/* SPDX-License-Identifier: ISC
 *
 * Bands: GC, and idleness with its reason. Those that share a pixel are one.
 */
#include <math.h>
#include <string.h>

#include "render/painter.h"

#define NAMED_FROM 16.0 /* px */
#define LEAST_NAME 48.0

static struct weft_slice band_name(const struct painter *p, const struct weft_band_period *band)
{
	static const struct weft_slice gc = {"GC", 2}, sleeping = {"sleeping", 8};
	struct weft_slice reason = weft_model_string(p->model, band->reason);
	if (reason.size)
		return reason;
	return band->kind == WEFT_BAND_GC ? gc : sleeping;
}

static void draw_band(struct painter *p, const struct weft_band_period *band, double x, double x2)
{
	const struct weft_box *box = &p->frame->picture;
	uint32_t color = band->kind == WEFT_BAND_GC ? p->theme->gc : p->theme->idle;
	weft_canvas_rect(p->canvas, x, box->y, x2, box->y + box->height, color);
}

static void name_band(struct painter *p, const struct weft_band_period *band, double x, double x2)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {p->theme->dim, 10.5, false, false, 0};
	char text[64];
	if (x2 - x < NAMED_FROM || box->height < 60)
		return;
	double width = weft__fit_text(p, band_name(p, band), x2 - x - 6, &style, text, sizeof(text));
	struct weft__rect place = {x + 3, box->y + 2, x + 3 + width, box->y + 14};
	if (width < LEAST_NAME && strlen(text) != band_name(p, band).size)
		return; /* "sl…" says nothing */
	if (width > 0 && weft__places_take(p->places, place))
		weft_canvas_text(p->canvas, place.x, box->y + 12, text, strlen(text), width, &style);
}

/* Where a band is on whole pixels; false if it is out of view. */
static bool band_edges(
	const struct painter *p, const struct weft_band_period *band, double *ret_x, double *ret_x2)
{
	const struct weft_box *box = &p->frame->picture;
	if (band->end <= p->left || band->start >= p->right)
		return false;
	*ret_x = fmax(floor(weft__x(p, band->start)), box->x);
	*ret_x2 = fmin(fmax(ceil(weft__x(p, band->end)), *ret_x + 1), box->x + box->width);
	return *ret_x2 > *ret_x;
}

void weft__draw_bands(struct painter *p)
{
	double x, x2, drawn[2] = {-1, -1};
	for (uint32_t i = 0; i < p->scene->band_count; i++) {
		const struct weft_band_period *band = &p->scene->bands[i];
		double *done = &drawn[band->kind == WEFT_BAND_GC];
		if (!band_edges(p, band, &x, &x2) || x2 <= *done)
			continue;
		draw_band(p, band, fmax(x, *done), x2);
		*done = x2;
	}
	for (uint32_t i = 0; i < p->scene->band_count; i++)
		if (band_edges(p, &p->scene->bands[i], &x, &x2))
			name_band(p, &p->scene->bands[i], x, x2);
}
