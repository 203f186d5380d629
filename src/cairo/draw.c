/* SPDX-License-Identifier: ISC
 *
 * Draws a canvas onto a cairo context: one function for each operation, no decisions.
 */
#include "cairo/font.h"

#include <math.h>

#include "base/export.h"

#define FULL_TURN     6.283185307179586
#define POLYLINES_MAX 64 /* in one path; cairo searches each path for crossings */

static void set_color(cairo_t *cairo, uint32_t color)
{
	cairo_set_source_rgba(cairo, (color >> 24) / 255.0, (color >> 16 & 255) / 255.0,
		(color >> 8 & 255) / 255.0, (color & 255) / 255.0);
}

static void set_pen(cairo_t *cairo, const struct weft_canvas_op *op)
{
	double lengths[2];
	weft_canvas_dash_lengths(op->dash, &lengths[0], &lengths[1]);
	set_color(cairo, op->color);
	cairo_set_line_width(cairo, op->width);
	cairo_set_dash(cairo, lengths, lengths[0] > 0 ? 2 : 0, 0);
}

static void add_box(cairo_t *cairo, const struct weft_canvas_op *op)
{
	cairo_rectangle(cairo, op->x, op->y, op->x2 - op->x, op->y2 - op->y);
}

static void add_points(
	const struct weft_canvas *canvas, cairo_t *cairo, const struct weft_canvas_op *op)
{
	const float *points = canvas->points + 2 * (size_t)op->first;
	cairo_new_sub_path(cairo);
	for (uint32_t i = 0; i < op->count; i++)
		cairo_line_to(cairo, points[2 * (size_t)i], points[2 * (size_t)i + 1]);
}

static void add_circle(cairo_t *cairo, const struct weft_canvas_op *op)
{
	cairo_new_sub_path(cairo);
	cairo_arc(cairo, op->x, op->y, op->x2, 0, FULL_TURN);
}

static void draw_hatch(cairo_t *cairo, const struct weft_canvas_op *op)
{
	double line[4];
	set_color(cairo, op->color);
	cairo_set_line_width(cairo, 1);
	cairo_set_dash(cairo, NULL, 0, 0);
	for (uint32_t number = 0; weft_canvas_hatch_line(op, &number, line);) {
		cairo_move_to(cairo, line[0], line[1]);
		cairo_line_to(cairo, line[2], line[3]);
	}
	cairo_stroke(cairo);
}

static void stroke_halo(cairo_t *cairo, const struct weft_canvas_op *op, PangoLayoutLine *line)
{
	cairo_move_to(cairo, op->x, op->y);
	cairo_set_line_width(cairo, WEFT__CAIRO_HALO);
	cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
	cairo_set_dash(cairo, NULL, 0, 0);
	pango_cairo_layout_line_path(cairo, line);
	cairo_stroke(cairo);
	cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
}

/* Rounds the halo to whole device pixels, as cairo does with letters. */
static void mask_halo(
	cairo_t *cairo, const struct weft_canvas_op *op, struct weft__cairo_words *words)
{
	double device, across, x = op->x, y = op->y;
	cairo_matrix_t matrix;
	cairo_surface_get_device_scale(cairo_get_target(cairo), &device, &across);
	cairo_get_matrix(cairo, &matrix);
	weft__cairo_halo(words, device * matrix.xx);
	cairo_user_to_device(cairo, &x, &y);
	x = floor(x * device + 0.5) / device;
	y = floor(y * device + 0.5) / device;
	cairo_device_to_user(cairo, &x, &y);
	cairo_mask_surface(cairo, words->halo, x + words->halo_x, y + words->halo_y);
}

static void draw_text(const struct weft_canvas *canvas, struct weft_cairo_font *font,
	cairo_t *cairo, const struct weft_canvas_op *op)
{
	struct weft__cairo_words *words =
		weft__cairo_words(font, canvas->text + op->first, op->count, op->size, op->bold);
	PangoLayoutLine *line = pango_layout_get_line_readonly(words->layout, 0);
	bool is_image = cairo_surface_get_type(cairo_get_target(cairo)) == CAIRO_SURFACE_TYPE_IMAGE;
	if (op->halo) {
		set_color(cairo, op->back);
		if (is_image)
			mask_halo(cairo, op, words);
		else
			stroke_halo(cairo, op, line);
	}
	cairo_move_to(cairo, op->x, op->y);
	set_color(cairo, op->color);
	pango_cairo_show_layout_line(cairo, line);
	cairo_new_path(cairo);
}

static bool has_pen_of(const struct weft_canvas_op *op, const struct weft_canvas_op *other)
{
	return op->type == other->type && op->color == other->color && op->width == other->width &&
		   op->dash == other->dash;
}

/* Draws consecutive polylines with equal pens as one path, because starting a path costs more than
 * its few pixels. Transparent pens are excluded, since crossings inside one path would not add up.
 * Returns their number. */
static uint32_t draw_polylines(
	const struct weft_canvas *canvas, cairo_t *cairo, const struct weft_canvas_op *op)
{
	uint32_t most = (uint32_t)(canvas->ops + canvas->op_count - op), count = 0;
	bool is_opaque = (op->color & 255) == 255;
	set_pen(cairo, op);
	do {
		add_points(canvas, cairo, &op[count++]);
	} while (is_opaque && count < most && count < POLYLINES_MAX && has_pen_of(op, &op[count]));
	cairo_stroke(cairo);
	return count;
}

static void draw_op(const struct weft_canvas *canvas, struct weft_cairo_font *font, cairo_t *cairo,
	const struct weft_canvas_op *op)
{
	switch (op->type) {
	case WEFT_CANVAS_RECT:
		set_color(cairo, op->color);
		add_box(cairo, op);
		cairo_fill(cairo);
		break;
	case WEFT_CANVAS_LINE:
		set_pen(cairo, op);
		cairo_move_to(cairo, op->x, op->y);
		cairo_line_to(cairo, op->x2, op->y2);
		cairo_stroke(cairo);
		break;
	case WEFT_CANVAS_POLYGON:
		set_color(cairo, op->color);
		add_points(canvas, cairo, op);
		cairo_fill(cairo);
		break;
	case WEFT_CANVAS_DISC:
		set_color(cairo, op->color);
		add_circle(cairo, op);
		cairo_fill(cairo);
		break;
	case WEFT_CANVAS_RING:
		set_pen(cairo, op);
		add_circle(cairo, op);
		cairo_stroke(cairo);
		break;
	case WEFT_CANVAS_HATCH:
		draw_hatch(cairo, op);
		break;
	case WEFT_CANVAS_TEXT:
		draw_text(canvas, font, cairo, op);
		break;
	case WEFT_CANVAS_CLIP:
		cairo_save(cairo);
		add_box(cairo, op);
		cairo_clip(cairo);
		break;
	case WEFT_CANVAS_UNCLIP:
		cairo_restore(cairo);
		break;
	default:
		break; /* groups serve only hovering in SVG */
	}
}

WEFT__EXPORT void weft_cairo_draw(
	const struct weft_canvas *canvas, struct weft_cairo_font *font, cairo_t *cairo)
{
	cairo_save(cairo);
	for (uint32_t i = 0; i < canvas->op_count;) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		if (op->type == WEFT_CANVAS_POLYLINE) {
			i += draw_polylines(canvas, cairo, op);
			continue;
		}
		draw_op(canvas, font, cairo, op);
		i++;
	}
	cairo_restore(cairo);
}
