/* SPDX-License-Identifier: ISC
 *
 * Writes a canvas as SVG. Consecutive operations with equal style become one path, which keeps
 * files small. Text stays text: it can be searched, copied and read aloud. `textLength` gives it
 * the width that was measured when it was placed, whatever font the viewer has.
 */
#include <weft/canvas.h>

#include <string.h>

#include "base/export.h"
#include "base/options.h"
#include "canvas/number.h"

#define DEFAULT_TEXT_SIZE 12.0f

struct svg {
	struct weft_text *text;
	const struct weft_canvas *canvas;
	uint32_t depth; /* open <g> elements */
	uint32_t clips;
	uint32_t halo; /* its colour in the class "h" */
};

static void put(struct svg *svg, const char *string)
{
	weft_text_add_string(svg->text, string);
}

static void put_number(struct svg *svg, double number)
{
	weft__canvas_add_number(svg->text, number);
}

static void put_attribute(struct svg *svg, const char *name, double number)
{
	put(svg, " ");
	put(svg, name);
	put(svg, "=\"");
	put_number(svg, number);
	put(svg, "\"");
}

static void put_paint(struct svg *svg, const char *property, uint32_t color)
{
	put(svg, " ");
	put(svg, property);
	put(svg, "=\"");
	weft__canvas_add_color(svg->text, color);
	put(svg, "\"");
	if ((color & 255) == 255)
		return;
	put(svg, strcmp(property, "fill") ? " stroke-opacity=\"" : " fill-opacity=\"");
	put_number(svg, (color & 255) / 255.0);
	put(svg, "\"");
}

static void put_escaped(struct svg *svg, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '<')
			put(svg, "&lt;");
		else if (text[i] == '>')
			put(svg, "&gt;");
		else if (text[i] == '&')
			put(svg, "&amp;");
		else if (text[i] == '"')
			put(svg, "&quot;");
		else
			weft_text_add(svg->text, text + i, 1);
	}
}

static void put_point(struct svg *svg, char command, double x, double y)
{
	weft_text_add(svg->text, &command, 1);
	put_number(svg, x);
	put(svg, " ");
	put_number(svg, y);
}

static void put_step(struct svg *svg, char command, double value)
{
	weft_text_add(svg->text, &command, 1);
	put_number(svg, value);
}

static void put_box(struct svg *svg, const struct weft_canvas_op *op)
{
	put_point(svg, 'M', op->x, op->y);
	put_step(svg, 'H', op->x2);
	put_step(svg, 'V', op->y2);
	put_step(svg, 'H', op->x);
	put(svg, "z");
}

static void put_segment(struct svg *svg, double x, double y, double x2, double y2)
{
	put_point(svg, 'M', x, y);
	if (y == y2)
		put_step(svg, 'H', x2);
	else if (x == x2)
		put_step(svg, 'V', y2);
	else
		put_point(svg, 'L', x2, y2);
}

static void put_points(struct svg *svg, const struct weft_canvas_op *op)
{
	const float *points = svg->canvas->points + 2 * (size_t)op->first;
	for (uint32_t i = 0; i < op->count; i++) {
		const float *p = points + 2 * (size_t)i;
		if (i > 0 && p[1] == p[-1])
			put_step(svg, 'H', p[0]);
		else if (i > 0 && p[0] == p[-2])
			put_step(svg, 'V', p[1]);
		else
			put_point(svg, i ? 'L' : 'M', p[0], p[1]);
	}
}

static void put_circle(struct svg *svg, const struct weft_canvas_op *op)
{
	double r = op->x2;
	put_point(svg, 'M', op->x - r, op->y);
	for (int half = 0; half < 2; half++) {
		put_point(svg, 'a', r, r);
		put(svg, " 0 1 0 ");
		put_number(svg, half ? -2 * r : 2 * r);
		put(svg, " 0");
	}
	put(svg, "z");
}

static void put_hatch(struct svg *svg, const struct weft_canvas_op *op)
{
	double line[4];
	for (uint32_t number = 0; weft_canvas_hatch_line(op, &number, line);)
		put_segment(svg, line[0], line[1], line[2], line[3]);
}

static void put_shape(struct svg *svg, const struct weft_canvas_op *op)
{
	switch (op->type) {
	case WEFT_CANVAS_RECT:
		put_box(svg, op);
		break;
	case WEFT_CANVAS_LINE:
		put_segment(svg, op->x, op->y, op->x2, op->y2);
		break;
	case WEFT_CANVAS_POLYLINE:
		put_points(svg, op);
		break;
	case WEFT_CANVAS_POLYGON:
		put_points(svg, op);
		put(svg, "z");
		break;
	case WEFT_CANVAS_HATCH:
		put_hatch(svg, op);
		break;
	default:
		put_circle(svg, op);
		break;
	}
}

static bool is_shape(const struct weft_canvas_op *op)
{
	return op->type < WEFT_CANVAS_TEXT;
}

static bool is_stroke(const struct weft_canvas_op *op)
{
	return op->type == WEFT_CANVAS_LINE || op->type == WEFT_CANVAS_POLYLINE ||
		   op->type == WEFT_CANVAS_RING || op->type == WEFT_CANVAS_HATCH;
}

/* Half-transparent shapes need separate paths: inside one path, overlaps would not add up. */
static bool share_path(const struct weft_canvas_op *a, const struct weft_canvas_op *b)
{
	return is_shape(b) && is_stroke(a) == is_stroke(b) && a->color == b->color &&
		   a->width == b->width && a->dash == b->dash &&
		   ((a->color & 255) == 255 || a->type == WEFT_CANVAS_RECT) &&
		   (a->type == WEFT_CANVAS_HATCH) == (b->type == WEFT_CANVAS_HATCH);
}

static void put_pen(struct svg *svg, const struct weft_canvas_op *op)
{
	double on, off;
	put(svg, " fill=\"none\"");
	put_paint(svg, "stroke", op->color);
	double width = op->type == WEFT_CANVAS_HATCH ? 1 : op->width;
	if (width != 1)
		put_attribute(svg, "stroke-width", width);
	weft_canvas_dash_lengths(op->dash, &on, &off);
	if (on == 0)
		return;
	put(svg, " stroke-dasharray=\"");
	put_number(svg, on);
	put(svg, " ");
	put_number(svg, off);
	put(svg, "\"");
}

/* Writes the operations from `op` on that share a path; returns their number. */
static uint32_t put_path(struct svg *svg, const struct weft_canvas_op *op, uint32_t available)
{
	uint32_t count = 0;
	put(svg, "<path");
	if (is_stroke(op))
		put_pen(svg, op);
	else
		put_paint(svg, "fill", op->color);
	put(svg, " d=\"");
	do
		put_shape(svg, &op[count++]);
	while (count < available && share_path(op, &op[count]));
	put(svg, "\"/>\n");
	return count;
}

static void put_halo(struct svg *svg, const struct weft_canvas_op *op)
{
	if (!op->halo)
		return;
	put(svg, " class=\"h\"");
	if (op->back == svg->halo)
		return;
	put(svg, " style=\"stroke:");
	weft__canvas_add_color(svg->text, op->back);
	put(svg, "\"");
}

static void put_text(struct svg *svg, const struct weft_canvas_op *op)
{
	if (op->count == 0)
		return;
	put(svg, "<text");
	put_attribute(svg, "x", op->x);
	put_attribute(svg, "y", op->y);
	put_paint(svg, "fill", op->color);
	if (op->size != DEFAULT_TEXT_SIZE)
		put_attribute(svg, "font-size", op->size);
	if (op->bold)
		put(svg, " font-weight=\"bold\"");
	put_halo(svg, op);
	if (op->width > 0) {
		put_attribute(svg, "textLength", op->width);
		put(svg, " lengthAdjust=\"spacingAndGlyphs\"");
	}
	put(svg, ">");
	put_escaped(svg, svg->canvas->text + op->first, op->count);
	put(svg, "</text>\n");
}

static void put_clip(struct svg *svg, const struct weft_canvas_op *op)
{
	char id[] = "c0000000000";
	uint32_t number = svg->clips++;
	for (size_t digit = sizeof(id) - 2; digit > 0; digit--, number /= 10)
		id[digit] = (char)('0' + number % 10);
	put(svg, "<clipPath id=\"");
	put(svg, id);
	put(svg, "\"><path d=\"");
	put_box(svg, op);
	put(svg, "\"/></clipPath>\n<g clip-path=\"url(#");
	put(svg, id);
	put(svg, ")\">\n");
	svg->depth++;
}

static void put_group(struct svg *svg, const struct weft_canvas_op *op)
{
	put(svg, "<g><title>");
	put_escaped(svg, svg->canvas->text + op->first, op->count);
	put(svg, "</title>");
	if (op->x2 > op->x) {
		put(svg, "<path fill=\"none\" pointer-events=\"all\" d=\"");
		put_box(svg, op);
		put(svg, "\"/>");
	}
	put(svg, "\n");
	svg->depth++;
}

static void put_end(struct svg *svg)
{
	if (svg->depth == 0)
		return;
	put(svg, "</g>\n");
	svg->depth--;
}

static uint32_t put_op(struct svg *svg, const struct weft_canvas_op *op, uint32_t available)
{
	switch (op->type) {
	case WEFT_CANVAS_TEXT:
		put_text(svg, op);
		return 1;
	case WEFT_CANVAS_CLIP:
		put_clip(svg, op);
		return 1;
	case WEFT_CANVAS_GROUP:
		put_group(svg, op);
		return 1;
	case WEFT_CANVAS_UNCLIP:
	case WEFT_CANVAS_UNGROUP:
		put_end(svg);
		return 1;
	default:
		return put_path(svg, op, available);
	}
}

static uint32_t first_halo(const struct weft_canvas *canvas)
{
	for (uint32_t i = 0; i < canvas->op_count; i++)
		if (canvas->ops[i].type == WEFT_CANVAS_TEXT && canvas->ops[i].halo)
			return canvas->ops[i].back;
	return 0;
}

static void put_head(struct svg *svg, const char *title)
{
	const struct weft_canvas *canvas = svg->canvas;
	char clean[512];
	put(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
	put_attribute(svg, "width", canvas->width);
	put_attribute(svg, "height", canvas->height);
	put(svg, " viewBox=\"0 0 ");
	put_number(svg, canvas->width);
	put(svg, " ");
	put_number(svg, canvas->height);
	put(svg, "\" role=\"img\" xml:space=\"preserve\"");
	put(svg, " font-family=\"'DejaVu Sans',Verdana,sans-serif\" font-size=\"12\">\n");
	if (title) {
		size_t size = weft_canvas_clean_text(title, strlen(title), clean, sizeof(clean));
		put(svg, "<title>");
		put_escaped(svg, clean, size);
		put(svg, "</title>\n");
	}
	put(svg, "<style>.h{paint-order:stroke;stroke-width:4px;stroke-linejoin:round;stroke:");
	weft__canvas_add_color(svg->text, svg->halo);
	put(svg, "}</style>\n");
}

WEFT__EXPORT int weft_canvas_write_svg(const struct weft_canvas *canvas,
	const struct weft_svg_options *options, struct weft_text *text)
{
	struct svg svg = {.text = text, .canvas = canvas, .halo = first_halo(canvas)};
	struct weft_svg_options known = {0};
	if (options)
		WEFT__OPTIONS_COPY(&known, options);
	put_head(&svg, known.title);
	for (uint32_t i = 0; i < canvas->op_count;)
		i += put_op(&svg, &canvas->ops[i], canvas->op_count - i);
	while (svg.depth)
		put_end(&svg);
	put(&svg, "</svg>\n");
	return text->error;
}
