/* SPDX-License-Identifier: ISC
 *
 * Canvases through cairo and pango: PNG and PDF, and what draws in GTK.
 *
 * Built only where those libraries are; everything else does without. Nothing here does I/O.
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

/* Measures text as it will be drawn. One thread at a time. */
int weft_cairo_font_create(struct weft_cairo_font **ret_font);
void weft_cairo_font_destroy(struct weft_cairo_font *font);
struct weft_font weft_cairo_font_interface(struct weft_cairo_font *font);

/* Replays a canvas. */
void weft_cairo_draw(
	const struct weft_canvas *canvas, struct weft_cairo_font *font, struct _cairo *cairo);

/* A PNG file's bytes. WEFT_ERROR_LIMIT if the canvas is larger than cairo can draw. The caller
 * frees. */
int weft_cairo_write_png(const struct weft_canvas *canvas, struct weft_cairo_font *font,
	char **ret_bytes, size_t *ret_size);

/* A PDF file's bytes, one page. Likewise. */
int weft_cairo_write_pdf(const struct weft_canvas *canvas, struct weft_cairo_font *font,
	char **ret_bytes, size_t *ret_size);

#ifdef __cplusplus
}
#endif
#endif
