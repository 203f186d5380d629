/* SPDX-License-Identifier: ISC
 *
 * A canvas onto a cairo context: one function an operation, no decision.
 */
#include "cairo/font.h"

#include "base/export.h"

#define FULL_TURN  6.283185307179586
#define HALO_WIDTH 4

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

static void draw_text(const struct weft_canvas *canvas, struct weft_cairo_font *font,
	cairo_t *cairo, const struct weft_canvas_op *op)
{
	weft__cairo_font_set(font, canvas->text + op->first, op->count, op->size, op->bold);
	PangoLayoutLine *line = pango_layout_get_line_readonly(font->layout, 0);
	cairo_move_to(cairo, op->x, op->y);
	if (op->halo) {
		set_color(cairo, op->back);
		cairo_set_line_width(cairo, HALO_WIDTH);
		cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
		cairo_set_dash(cairo, NULL, 0, 0);
		pango_cairo_layout_line_path(cairo, line);
		cairo_stroke(cairo);
		cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
		cairo_move_to(cairo, op->x, op->y);
	}
	set_color(cairo, op->color);
	pango_cairo_show_layout_line(cairo, line);
	cairo_new_path(cairo);
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
	case WEFT_CANVAS_POLYLINE:
		set_pen(cairo, op);
		add_points(canvas, cairo, op);
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
		break; /* groups are for hover */
	}
}

WEFT__EXPORT void weft_cairo_draw(
	const struct weft_canvas *canvas, struct weft_cairo_font *font, cairo_t *cairo)
{
	cairo_save(cairo);
	for (uint32_t i = 0; i < canvas->op_count; i++)
		draw_op(canvas, font, cairo, &canvas->ops[i]);
	cairo_restore(cairo);
}
