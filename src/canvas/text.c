/* SPDX-License-Identifier: ISC
 *
 * Writes a canvas as text, one line for each operation, so that a change of a picture is a diff
 * that people can read.
 *
 *     line 20 118.5 1380 118.5 #7a838d 1.5
 *     text 23 112.5 "create XenStore" #1b1f24 12 w=98.3 halo=#f7f7f5
 */
#include <weft/canvas.h>

#include "base/export.h"
#include "canvas/number.h"

static const char *const names[WEFT_CANVAS_OPS] = {
	[WEFT_CANVAS_RECT] = "rect",
	[WEFT_CANVAS_LINE] = "line",
	[WEFT_CANVAS_POLYLINE] = "polyline",
	[WEFT_CANVAS_POLYGON] = "polygon",
	[WEFT_CANVAS_DISC] = "disc",
	[WEFT_CANVAS_RING] = "ring",
	[WEFT_CANVAS_HATCH] = "hatch",
	[WEFT_CANVAS_TEXT] = "text",
	[WEFT_CANVAS_CLIP] = "clip",
	[WEFT_CANVAS_UNCLIP] = "unclip",
	[WEFT_CANVAS_GROUP] = "group",
	[WEFT_CANVAS_UNGROUP] = "ungroup",
};

static void write_spaced(struct weft_text *w, double number)
{
	weft_text_add(w, " ", 1);
	weft__canvas_add_number(w, number);
}

static void write_quoted(struct weft_text *w, const char *text, size_t bytes)
{
	weft_text_add_string(w, " \"");
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '"' || text[i] == '\\')
			weft_text_add(w, "\\", 1);
		weft_text_add(w, text + i, 1);
	}
	weft_text_add(w, "\"", 1);
}

static void write_color(struct weft_text *w, uint32_t color)
{
	weft_text_add(w, " ", 1);
	weft__canvas_add_color(w, color);
	if ((color & 255) != 255) {
		weft_text_add(w, "/", 1);
		weft__canvas_add_number(w, (color & 255) / 255.0);
	}
}

static void write_pen(struct weft_text *w, const struct weft_canvas_op *op)
{
	static const char *const dashes[] = {"", " long", " short", " dotted"};
	write_color(w, op->color);
	write_spaced(w, op->width);
	weft_text_add_string(w, dashes[op->dash]);
}

static void write_style(struct weft_text *w, const struct weft_canvas_op *op)
{
	write_color(w, op->color);
	write_spaced(w, op->size);
	weft_text_add_string(w, op->bold ? " bold w=" : " w=");
	weft__canvas_add_number(w, op->width);
	if (op->halo) {
		weft_text_add_string(w, " halo=");
		weft__canvas_add_color(w, op->back);
	}
}

static void write_geometry(
	struct weft_text *w, const struct weft_canvas *canvas, const struct weft_canvas_op *op)
{
	unsigned numbers = 4;
	if (op->type == WEFT_CANVAS_UNCLIP || op->type == WEFT_CANVAS_UNGROUP)
		return;
	if (op->type == WEFT_CANVAS_POLYLINE || op->type == WEFT_CANVAS_POLYGON) {
		for (size_t i = 0; i < 2 * (size_t)op->count; i++)
			write_spaced(w, canvas->points[2 * (size_t)op->first + i]);
		return;
	}
	if (op->type == WEFT_CANVAS_TEXT)
		numbers = 2;
	if (op->type == WEFT_CANVAS_DISC || op->type == WEFT_CANVAS_RING)
		numbers = 3;
	const float values[] = {op->x, op->y, op->x2, op->y2};
	for (unsigned i = 0; i < numbers; i++)
		write_spaced(w, values[i]);
}

static void write_op(
	struct weft_text *w, const struct weft_canvas *canvas, const struct weft_canvas_op *op)
{
	weft_text_add_string(w, names[op->type]);
	write_geometry(w, canvas, op);
	if (op->type == WEFT_CANVAS_TEXT || op->type == WEFT_CANVAS_GROUP)
		write_quoted(w, canvas->text + op->first, op->count);
	switch (op->type) {
	case WEFT_CANVAS_LINE:
	case WEFT_CANVAS_POLYLINE:
	case WEFT_CANVAS_RING:
		write_pen(w, op);
		break;
	case WEFT_CANVAS_RECT:
	case WEFT_CANVAS_POLYGON:
	case WEFT_CANVAS_DISC:
	case WEFT_CANVAS_HATCH:
		write_color(w, op->color);
		break;
	case WEFT_CANVAS_TEXT:
		write_style(w, op);
		break;
	default:
		break;
	}
	weft_text_add(w, "\n", 1);
}

WEFT__EXPORT int weft_canvas_write_text(const struct weft_canvas *canvas, struct weft_text *text)
{
	weft_text_add_string(text, "canvas");
	write_spaced(text, canvas->width);
	write_spaced(text, canvas->height);
	weft_text_add(text, "\n", 1);
	for (uint32_t i = 0; i < canvas->op_count; i++)
		write_op(text, canvas, &canvas->ops[i]);
	return text->error;
}
