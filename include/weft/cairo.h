/* SPDX-License-Identifier: ISC
 *
 * Draws canvases with cairo and pango: to PNG, to PDF, and into GTK.
 *
 * Built only where those libraries are installed; the rest of weft works without them. Nothing here
 * does I/O.
 */
#ifndef WEFT_CAIRO_H
#define WEFT_CAIRO_H

#include <stddef.h>

#include <weft/canvas.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _cairo; /* cairo's own cairo_t */
struct weft_cairo_font;

/* A font that measures text as cairo draws it. One thread at a time. */
int weft_cairo_font_create(struct weft_cairo_font **ret_font);
void weft_cairo_font_destroy(struct weft_cairo_font *font);
struct weft_font weft_cairo_font_interface(struct weft_cairo_font *font);

/* Draws a canvas. */
void weft_cairo_draw(
	const struct weft_canvas *canvas, struct weft_cairo_font *font, struct _cairo *cairo);

/* Makes the bytes of a PNG file. WEFT_ERROR_LIMIT if the canvas is larger than cairo can draw. The
 * caller frees them. */
int weft_cairo_write_png(const struct weft_canvas *canvas, struct weft_cairo_font *font,
	char **ret_bytes, size_t *ret_size);

/* Makes the bytes of a PDF file with one page. The caller frees them. */
int weft_cairo_write_pdf(const struct weft_canvas *canvas, struct weft_cairo_font *font,
	char **ret_bytes, size_t *ret_size);

#ifdef __cplusplus
}
#endif
#endif
