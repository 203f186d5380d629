/* SPDX-License-Identifier: ISC
 *
 * Fills a canvas. The first failed allocation is remembered and later operations are dropped, so
 * that callers check for errors once, at the end.
 */
#include <weft/canvas.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "base/steps.h"

struct whole_canvas {
	struct weft_canvas public; /* first member: callers hold a pointer to it */
	struct weft_canvas_op *ops;
	size_t op_capacity;
	float *points;
	size_t float_count, float_capacity;
	char *text;
	size_t text_count, text_capacity;
	bool failed;
};

static struct whole_canvas *whole(struct weft_canvas *canvas)
{
	return (struct whole_canvas *)canvas;
}

WEFT__EXPORT int weft_canvas_create(double width, double height, struct weft_canvas **ret_canvas)
{
	struct whole_canvas *canvas = calloc(1, sizeof(*canvas));
	if (!canvas)
		return WEFT_ERROR_MEMORY;
	canvas->public.width = width;
	canvas->public.height = height;
	*ret_canvas = &canvas->public;
	return 0;
}

WEFT__EXPORT void weft_canvas_destroy(struct weft_canvas *canvas)
{
	if (!canvas)
		return;
	free(whole(canvas)->ops);
	free(whole(canvas)->points);
	free(whole(canvas)->text);
	free(canvas);
}

WEFT__EXPORT void weft_canvas_clear(struct weft_canvas *canvas, double width, double height)
{
	struct whole_canvas *w = whole(canvas);
	w->public.width = width;
	w->public.height = height;
	w->public.op_count = 0;
	w->float_count = w->text_count = 0;
	w->failed = false;
}

WEFT__EXPORT int weft_canvas_error(const struct weft_canvas *canvas)
{
	return ((const struct whole_canvas *)canvas)->failed ? WEFT_ERROR_MEMORY : 0;
}

static bool reserve(
	struct whole_canvas *w, void *array, size_t *capacity, size_t need, size_t element_bytes)
{
	if (w->failed || need > UINT32_MAX) {
		w->failed = true;
		return false;
	}
	if (need <= *capacity)
		return true;
	size_t next = weft__array_next_capacity(*capacity, need);
	if (weft__array_resize(array, next, element_bytes)) {
		w->failed = true;
		return false;
	}
	*capacity = next;
	return true;
}

static void add_op(struct weft_canvas *canvas, const struct weft_canvas_op *op)
{
	struct whole_canvas *w = whole(canvas);
	if (!reserve(w, &w->ops, &w->op_capacity, canvas->op_count + (size_t)1, sizeof(*w->ops)))
		return;
	canvas->ops = w->ops;
	w->ops[canvas->op_count++] = *op;
}

static uint32_t add_points(struct weft_canvas *canvas, const double *points, uint32_t count)
{
	struct whole_canvas *w = whole(canvas);
	size_t first = w->float_count, more = 2 * (size_t)count;
	if (!reserve(w, &w->points, &w->float_capacity, first + more, sizeof(*w->points)))
		return 0;
	for (size_t i = 0; i < more; i++)
		w->points[first + i] = (float)points[i];
	w->float_count += more;
	canvas->points = w->points;
	return (uint32_t)(first / 2);
}

/* Replacing a character by U+FFFD may make three bytes of one. */
static void set_text(
	struct weft_canvas *canvas, struct weft_canvas_op *op, const char *text, size_t bytes)
{
	struct whole_canvas *w = whole(canvas);
	size_t room = bytes > UINT32_MAX / 4 ? 0 : 3 * bytes + 1;
	if (!room || !reserve(w, &w->text, &w->text_capacity, w->text_count + room, 1)) {
		w->failed = true;
		return;
	}
	canvas->text = w->text;
	op->first = (uint32_t)w->text_count;
	op->count = (uint32_t)weft_canvas_clean_text(text, bytes, w->text + op->first, room);
	w->text_count += op->count + (size_t)1;
}

static struct weft_canvas_op box(
	enum weft_canvas_op_type type, double x, double y, double x2, double y2)
{
	return (struct weft_canvas_op){
		.type = (uint8_t)type, .x = (float)x, .y = (float)y, .x2 = (float)x2, .y2 = (float)y2};
}

static void set_pen(struct weft_canvas_op *op, const struct weft_pen *pen)
{
	op->color = pen->color;
	op->width = (float)pen->width;
	op->dash = (uint8_t)pen->dash;
}

WEFT__EXPORT void weft_canvas_rect(
	struct weft_canvas *canvas, double x, double y, double x2, double y2, uint32_t color)
{
	struct weft_canvas_op op = box(WEFT_CANVAS_RECT, x, y, x2, y2);
	op.color = color;
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_line(struct weft_canvas *canvas, double x, double y, double x2,
	double y2, const struct weft_pen *pen)
{
	struct weft_canvas_op op = box(WEFT_CANVAS_LINE, x, y, x2, y2);
	set_pen(&op, pen);
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_polyline(
	struct weft_canvas *canvas, const double *points, uint32_t count, const struct weft_pen *pen)
{
	struct weft_canvas_op op = {.type = WEFT_CANVAS_POLYLINE, .count = count};
	set_pen(&op, pen);
	op.first = add_points(canvas, points, count);
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_polygon(
	struct weft_canvas *canvas, const double *points, uint32_t count, uint32_t color)
{
	struct weft_canvas_op op = {.type = WEFT_CANVAS_POLYGON, .count = count, .color = color};
	op.first = add_points(canvas, points, count);
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_disc(
	struct weft_canvas *canvas, double x, double y, double radius, uint32_t color)
{
	struct weft_canvas_op op = box(WEFT_CANVAS_DISC, x, y, radius, 0);
	op.color = color;
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_ring(
	struct weft_canvas *canvas, double x, double y, double radius, const struct weft_pen *pen)
{
	struct weft_canvas_op op = box(WEFT_CANVAS_RING, x, y, radius, 0);
	set_pen(&op, pen);
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_hatch(
	struct weft_canvas *canvas, double x, double y, double x2, double y2, uint32_t color)
{
	struct weft_canvas_op op = box(WEFT_CANVAS_HATCH, x, y, x2, y2);
	op.color = color;
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_text(struct weft_canvas *canvas, double x, double y, const char *text,
	size_t bytes, double width, const struct weft_text_style *style)
{
	struct weft_canvas_op op = box(WEFT_CANVAS_TEXT, x, y, 0, 0);
	op.color = style->color;
	op.back = style->back;
	op.halo = style->halo;
	op.bold = style->bold;
	op.size = (float)style->size;
	op.width = (float)width;
	set_text(canvas, &op, text, bytes);
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_clip(
	struct weft_canvas *canvas, double x, double y, double x2, double y2)
{
	struct weft_canvas_op op = box(WEFT_CANVAS_CLIP, x, y, x2, y2);
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_unclip(struct weft_canvas *canvas)
{
	add_op(canvas, &(struct weft_canvas_op){.type = WEFT_CANVAS_UNCLIP});
}

WEFT__EXPORT void weft_canvas_group(struct weft_canvas *canvas, double x, double y, double x2,
	double y2, const char *text, size_t bytes)
{
	struct weft_canvas_op op = box(WEFT_CANVAS_GROUP, x, y, x2, y2);
	set_text(canvas, &op, text, bytes);
	add_op(canvas, &op);
}

WEFT__EXPORT void weft_canvas_ungroup(struct weft_canvas *canvas)
{
	add_op(canvas, &(struct weft_canvas_op){.type = WEFT_CANVAS_UNGROUP});
}

WEFT__EXPORT void weft_canvas_dash_lengths(
	enum weft_canvas_dash dash, double *ret_on, double *ret_off)
{
	static const double lengths[WEFT_DASHES][2] = {
#define X(name, on, off) {on, off},
		WEFT_CANVAS_DASHES(X)
#undef X
	};
	*ret_on = lengths[dash][0];
	*ret_off = lengths[dash][1];
}

WEFT__EXPORT bool weft_canvas_hatch_line(
	const struct weft_canvas_op *op, uint32_t *number, double ret_line[4])
{
	double x = op->x, y = op->y, x2 = op->x2, y2 = op->y2;
	double first = (floor((x + y) / WEFT_CANVAS_HATCH_STEP) + 1) * WEFT_CANVAS_HATCH_STEP;
	if (!(x < x2) || !(y < y2) || *number >= weft__steps(first, x2 + y2, WEFT_CANVAS_HATCH_STEP))
		return false;
	double sum = first + *number * (double)WEFT_CANVAS_HATCH_STEP;
	ret_line[0] = fmax(x, sum - y2);
	ret_line[1] = sum - ret_line[0];
	ret_line[2] = fmin(x2, sum - y);
	ret_line[3] = sum - ret_line[2];
	++*number;
	return true;
}
