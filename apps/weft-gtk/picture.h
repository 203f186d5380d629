/* SPDX-License-Identifier: ISC
 *
 * The widget that shows the viewer's canvas.
 */
#ifndef WEFT_GTK_PICTURE_H
#define WEFT_GTK_PICTURE_H

#include <gtk/gtk.h>

#include <weft/cairo.h>
#include <weft/viewer.h>

/* Scales everything by the system's setting for text size. */
struct picture {
	GtkWidget *widget;
	struct weft_viewer *viewer;   /* borrowed */
	struct weft_cairo_font *font; /* borrowed */
	struct weft_canvas *canvas;
	cairo_surface_t *surfaces[2];
	unsigned current;
	double zoom;
	int64_t drawn_us; /* processor time of drawing since it was last reset */
	bool is_stale;    /* the canvas has changed */
};

/* Makes the picture and its widget; destroying the widget destroys both. */
struct picture *picture_create(struct weft_viewer *viewer, struct weft_cairo_font *font);

/* Call after the viewer's canvas has changed. */
void picture_redraw(struct picture *picture);

#endif
