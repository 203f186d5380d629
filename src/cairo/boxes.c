/* SPDX-License-Identifier: ISC
 *
 * A fast path for boxes on whole pixels: writes them straight into an image. Most of a picture is
 * boxes, and cairo's checks of each box cost ten times as much as the filling. Boxes with an edge
 * between two pixels, or with transparency, are left to cairo.
 */
#include "cairo/boxes.h"

#include <math.h>

#define NEAR 1e-4 /* px; rounding errors up to this count as whole */

static bool is_whole(double at)
{
	return fabs(at - floor(at + 0.5)) < NEAR;
}

/* Converts a rectangle of the canvas to device pixels; false if they are not whole. */
static bool to_device(const struct weft__cairo_boxes *boxes, const double box[4], int ret_device[4])
{
	const double at[] = {box[0] * boxes->scale_x + boxes->x, box[1] * boxes->scale_y + boxes->y,
		box[2] * boxes->scale_x + boxes->x, box[3] * boxes->scale_y + boxes->y};
	for (unsigned i = 0; i < 4; i++) {
		if (!(fabs(at[i]) < 1e6) || !is_whole(at[i]))
			return false;
		ret_device[i] = (int)floor(at[i] + 0.5);
	}
	return true;
}

/* The fast path is used only if the clip is a rectangle of whole pixels. */
void weft__cairo_boxes_clip(struct weft__cairo_boxes *boxes)
{
	cairo_rectangle_list_t *list = cairo_copy_clip_rectangle_list(boxes->cairo);
	const cairo_rectangle_t *r = list->rectangles;
	boxes->is_open = false;
	if (boxes->pixels && list->status == CAIRO_STATUS_SUCCESS && list->num_rectangles == 1)
		boxes->is_open = to_device(
			boxes, (double[]){r->x, r->y, r->x + r->width, r->y + r->height}, boxes->clip);
	for (unsigned i = 0; i < 2; i++) {
		int size = i ? boxes->height : boxes->width;
		boxes->clip[i] = boxes->clip[i] > 0 ? boxes->clip[i] : 0;
		boxes->clip[i + 2] = boxes->clip[i + 2] < size ? boxes->clip[i + 2] : size;
	}
	cairo_rectangle_list_destroy(list);
}

void weft__cairo_boxes_init(struct weft__cairo_boxes *boxes, cairo_t *cairo)
{
	cairo_surface_t *surface = cairo_get_group_target(cairo);
	double scale_x, scale_y, x, y;
	cairo_matrix_t matrix;
	*boxes = (struct weft__cairo_boxes){.cairo = cairo, .surface = surface};
	if (cairo_surface_get_type(surface) != CAIRO_SURFACE_TYPE_IMAGE)
		return;
	cairo_format_t format = cairo_image_surface_get_format(surface);
	cairo_surface_get_device_scale(surface, &scale_x, &scale_y);
	cairo_surface_get_device_offset(surface, &x, &y);
	cairo_get_matrix(cairo, &matrix);
	bool is_upright = matrix.xy == 0 && matrix.yx == 0 && matrix.xx > 0 && matrix.yy > 0;
	if (!is_upright || (format != CAIRO_FORMAT_RGB24 && format != CAIRO_FORMAT_ARGB32))
		return;
	boxes->scale_x = matrix.xx * scale_x;
	boxes->scale_y = matrix.yy * scale_y;
	boxes->x = matrix.x0 * scale_x + x;
	boxes->y = matrix.y0 * scale_y + y;
	boxes->width = cairo_image_surface_get_width(surface);
	boxes->height = cairo_image_surface_get_height(surface);
	boxes->stride = cairo_image_surface_get_stride(surface) / 4;
	cairo_surface_flush(surface);
	/* Cairo draws the first translucent line into a surface that it takes for empty without regard
	 * to what was written there. */
	cairo_surface_mark_dirty(surface);
	boxes->pixels = (uint32_t *)(void *)cairo_image_surface_get_data(surface);
	weft__cairo_boxes_clip(boxes);
}

static void fill(const struct weft__cairo_boxes *boxes, const int device[4], uint32_t color)
{
	int x = device[0] > boxes->clip[0] ? device[0] : boxes->clip[0];
	int y = device[1] > boxes->clip[1] ? device[1] : boxes->clip[1];
	int x2 = device[2] < boxes->clip[2] ? device[2] : boxes->clip[2];
	int y2 = device[3] < boxes->clip[3] ? device[3] : boxes->clip[3];
	uint32_t pixel = color >> 8 | UINT32_C(0xff000000);
	for (; y < y2; y++) {
		uint32_t *row = boxes->pixels + (size_t)y * (size_t)boxes->stride;
		for (int i = x; i < x2; i++)
			row[i] = pixel;
	}
}

static bool is_opaque(const struct weft_canvas_op *op)
{
	return (op->color & 255) == 255;
}

static bool fill_box(const struct weft__cairo_boxes *boxes, const double box[4], uint32_t color)
{
	int device[4];
	if (!to_device(boxes, box, device))
		return false;
	fill(boxes, device, color);
	return true;
}

static bool is_level(const float *from)
{
	return from[1] == from[3];
}

/* Converts a piece of a line to the box that cairo would stroke: where it meets a perpendicular
 * piece, it is longer by half its width. False if it is slanted, or not on whole pixels. */
static bool box_of_piece(const struct weft__cairo_boxes *boxes, const float *from, double half,
	const bool is_longer[2], int ret_device[4])
{
	unsigned axis = is_level(from) ? 0 : 1;
	bool is_forward = from[axis] <= from[axis + 2];
	double low = fmin(from[axis], from[axis + 2]), high = fmax(from[axis], from[axis + 2]);
	low -= is_longer[is_forward ? 0 : 1] ? half : 0;
	high += is_longer[is_forward ? 1 : 0] ? half : 0;
	if (!is_level(from) && from[0] != from[2])
		return false;
	if (is_level(from))
		return to_device(boxes, (double[]){low, from[1] - half, high, from[1] + half}, ret_device);
	return to_device(boxes, (double[]){from[0] - half, low, from[0] + half, high}, ret_device);
}

/* Called twice: first to check that all pieces can be filled, then to fill them. */
static bool walk(const struct weft__cairo_boxes *boxes, const struct weft_canvas_op *op,
	const float *points, bool is_drawn)
{
	double half = op->width / 2;
	for (uint32_t i = 0; i + 1 < op->count; i++) {
		const float *from = points + 2 * (size_t)i;
		int device[4];
		const bool is_longer[2] = {
			i > 0 && is_level(from - 2) != is_level(from),
			i + 2 < op->count && is_level(from + 2) != is_level(from),
		};
		if (from[0] == from[2] && from[1] == from[3])
			return false; /* a point has no direction */
		if (!box_of_piece(boxes, from, half, is_longer, device))
			return false;
		if (is_drawn)
			fill(boxes, device, op->color);
	}
	return true;
}

static bool fill_polyline(const struct weft__cairo_boxes *boxes, const struct weft_canvas *canvas,
	const struct weft_canvas_op *op)
{
	const float *points = canvas->points + 2 * (size_t)op->first;
	bool is_closed = op->count > 2 && points[0] == points[2 * (size_t)op->count - 2] &&
					 points[1] == points[2 * (size_t)op->count - 1];
	return op->count > 1 && !is_closed && walk(boxes, op, points, false) &&
		   walk(boxes, op, points, true);
}

bool weft__cairo_boxes_draw(const struct weft__cairo_boxes *boxes, const struct weft_canvas *canvas,
	const struct weft_canvas_op *op)
{
	bool is_line = op->type == WEFT_CANVAS_LINE || op->type == WEFT_CANVAS_POLYLINE;
	if (!boxes->is_open || !is_opaque(op) || (is_line && op->dash != WEFT_DASH_SOLID))
		return false;
	bool is_done = false;
	if (op->type == WEFT_CANVAS_RECT)
		is_done = op->x2 > op->x && op->y2 > op->y &&
				  fill_box(boxes, (double[]){op->x, op->y, op->x2, op->y2}, op->color);
	else if (op->type == WEFT_CANVAS_POLYLINE)
		is_done = fill_polyline(boxes, canvas, op);
	else if (op->type == WEFT_CANVAS_LINE)
		is_done = walk(boxes,
			&(struct weft_canvas_op){.count = 2, .width = op->width, .color = op->color},
			(float[]){op->x, op->y, op->x2, op->y2}, true);
	return is_done;
}

void weft__cairo_boxes_finish(const struct weft__cairo_boxes *boxes)
{
	if (boxes->pixels)
		cairo_surface_mark_dirty(boxes->surface);
}
