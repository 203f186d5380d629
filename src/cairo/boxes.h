/* SPDX-License-Identifier: ISC
 *
 * Boxes of whole pixels in an image, without cairo's help: see boxes.c.
 */
#ifndef WEFT_CAIRO_BOXES_H
#define WEFT_CAIRO_BOXES_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/canvas.h>

#include "cairo/library.h"

struct weft__cairo_boxes {
	cairo_t *cairo;
	cairo_surface_t *surface;
	bool is_open;                  /* the fast path can be used */
	uint32_t *pixels;              /* NULL if the target is not an image with pixels in memory */
	int width, height, stride;     /* in pixels */
	int clip[4];                   /* x, y, x2, y2 in pixels */
	double scale_x, scale_y, x, y; /* transformation from canvas to pixels */
};

void weft__cairo_boxes_init(struct weft__cairo_boxes *boxes, cairo_t *cairo);

/* Call after the context's clip has changed. */
void weft__cairo_boxes_clip(struct weft__cairo_boxes *boxes);

/* Draws an operation; false if cairo has to draw it. */
bool weft__cairo_boxes_draw(const struct weft__cairo_boxes *boxes, const struct weft_canvas *canvas,
	const struct weft_canvas_op *op);

/* Makes the drawn pixels visible to cairo. */
void weft__cairo_boxes_finish(const struct weft__cairo_boxes *boxes);

#endif
