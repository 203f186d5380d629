/* SPDX-License-Identifier: ISC
 *
 * Boxes of whole pixels in an image, without cairo's help: see boxes.c.
 */
#ifndef WEFT_CAIRO_BOXES_H
#define WEFT_CAIRO_BOXES_H

#include <stdbool.h>
#include <stdint.h>

#include <cairo.h>

#include <weft/canvas.h>

struct weft__cairo_boxes {
	cairo_t *cairo;
	cairo_surface_t *surface;
	bool is_open;                  /* boxes can be drawn here */
	uint32_t *pixels;              /* NULL unless it is an image that has some */
	int width, height, stride;     /* in pixels */
	int clip[4];                   /* x, y, x2, y2 in pixels */
	double scale_x, scale_y, x, y; /* from the canvas to pixels */
};

void weft__cairo_boxes_init(struct weft__cairo_boxes *boxes, cairo_t *cairo);

/* After the clip of the context has changed. */
void weft__cairo_boxes_clip(struct weft__cairo_boxes *boxes);

/* False if it is to be drawn by cairo. */
bool weft__cairo_boxes_draw(const struct weft__cairo_boxes *boxes, const struct weft_canvas *canvas,
	const struct weft_canvas_op *op);

/* Cairo may look at what is there now. */
void weft__cairo_boxes_finish(const struct weft__cairo_boxes *boxes);

#endif
