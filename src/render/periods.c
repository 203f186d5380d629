/* SPDX-License-Identifier: ISC
 *
 * Draws bands: GC, and idle bands with their reasons. Bands that share a pixel are drawn as one.
 */
#include <math.h>
#include <string.h>

#include "base/search.h"

#include "render/painter.h"

#define NAMED_FROM 16.0 /* px */
#define LEAST_NAME 48.0
#define REPEATED   240.0 /* px from a name to the same name of another band */

/* The name that was written last, and where it begins. */
struct band_label {
	struct weft_slice name;
	double x;
};

static struct weft_slice band_name(const struct painter *p, const struct weft_band_period *band)
{
	static const struct weft_slice gc = {"GC", 2}, sleeping = {"sleeping", 8};
	struct weft_slice reason = weft_model_string(p->model, band->reason);
	if (reason.size)
		return reason;
	return band->kind == WEFT_BAND_GC ? gc : sleeping;
}

static void draw_run(struct painter *p, double x, double x2, uint32_t color)
{
	const struct weft_box *box = &p->frame->picture;
	if (x2 > x)
		weft_canvas_rect(p->canvas, x, box->y, x2, box->y + box->height, color);
}

static bool is_same(struct weft_slice a, struct weft_slice b)
{
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* Writes a band's name at the upper edge, or if a task's name is there, at the lower one. It has a
 * halo, as counters may pass below. In a row of bands with one name, only some are named. */
static void name_band(struct painter *p, const struct weft_band_period *band, double x, double x2,
	struct band_label *last)
{
	const struct weft_slice name = band_name(p, band);
	const struct weft_box *box = &p->frame->picture;
	uint32_t ground = band->kind == WEFT_BAND_GC ? p->theme->gc : p->theme->idle;
	struct weft_text_style style = {p->theme->dim, 10.5, false, p->label_count > 0, ground};
	char text[64];
	if (x2 - x < NAMED_FROM || box->height < 60)
		return;
	if (last->name.size && x - last->x < REPEATED && is_same(name, last->name))
		return;
	double width = weft__render_fit_text(p, name, x2 - x - 6, &style, text, sizeof(text));
	if (width <= 0 || (width < LEAST_NAME && strlen(text) != name.size))
		return; /* "sl…" would be useless */
	const double tops[] = {box->y + 2, box->y + box->height - 14};
	for (unsigned i = 0; i < 2; i++) {
		struct weft__rect rect = {x + 3, tops[i], x + 3 + width, tops[i] + 12};
		if (!weft__render_occupied_take(p->occupied, rect))
			continue;
		weft_canvas_text(p->canvas, rect.x, tops[i] + 10, text, strlen(text), width, &style);
		weft__render_add_thing(p, (struct weft__thing){WEFT__THING_BAND, WEFT_NONE, WEFT_NONE,
									  {rect.x, rect.y, width, rect.y2 - rect.y}});
		*last = (struct band_label){name, x};
		return;
	}
}

/* A band's edges, on whole pixels. */
static void band_edges(
	const struct painter *p, const struct weft_band_period *band, double *ret_x, double *ret_x2)
{
	const struct weft_box *box = &p->frame->picture;
	*ret_x = fmax(floor(weft__render_x(p, band->start)), box->x);
	*ret_x2 = fmin(fmax(ceil(weft__render_x(p, band->end)), *ret_x + 1), box->x + box->width);
}

static bool has_ended(const void *context, uint32_t band, uint64_t time)
{
	const struct weft__bands *bands = context;
	return bands->list[band].end <= time;
}

/* The first band from `low` on that ends after `time`. Searches from the expected index on. */
static uint32_t first_after(
	const struct weft__bands *bands, uint32_t low, uint64_t time, uint32_t expected)
{
	uint32_t most = expected - expected / 4;
	if (low < bands->count && most < bands->count - low && bands->list[low + most].end <= time)
		low += most + 1;
	return weft__gallop(bands, low, bands->count, has_ended, time);
}

/* Draws bands of a kind. Bands without a pixel between them are drawn as one, and bands that end
 * inside a drawn pixel are skipped by a search. */
static void draw_kind(struct painter *p, const struct weft__bands *bands, uint32_t color)
{
	double x, x2, begin = -1, done = -1;
	uint32_t i = first_after(bands, 0, p->left, 0), before = i;
	while (i < bands->count && bands->list[i].start < p->right) {
		band_edges(p, &bands->list[i], &x, &x2);
		if (x > done) {
			draw_run(p, begin, done, color);
			begin = x;
		}
		done = fmax(done, x2);
		uint64_t drawn = weft_view_time(p->view, done - p->x0);
		uint32_t skipped = i - before;
		before = i;
		i = first_after(bands, i + 1, drawn > p->left ? drawn : p->left, skipped);
	}
	draw_run(p, begin, done, color);
}

/* Names bands. Only bands that are wide enough for a name are examined: the search skips to the
 * next band that ends at least that much later. */
static void name_kind(struct painter *p, const struct weft__bands *bands)
{
	struct band_label last = {{"", 0}, 0};
	double x, x2;
	for (uint32_t i = first_after(bands, 0, p->left, 0);
		 i < bands->count && bands->list[i].start < p->right;) {
		band_edges(p, &bands->list[i], &x, &x2);
		name_band(p, &bands->list[i], x, x2, &last);
		uint64_t next = weft_view_time(p->view, x2 + NAMED_FROM - 2 - p->x0);
		i = first_after(bands, i + 1, next, 0);
	}
}

void weft__render_draw_bands(struct painter *p)
{
	draw_kind(p, &p->scene->idle, p->theme->idle);
	draw_kind(p, &p->scene->gc, p->theme->gc);
}

void weft__render_name_bands(struct painter *p)
{
	name_kind(p, &p->scene->idle);
	name_kind(p, &p->scene->gc);
}
