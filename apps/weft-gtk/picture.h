/* SPDX-License-Identifier: ISC
 *
 * The widget that shows the viewer's canvas.
 */
#ifndef WEFT_GTK_PICTURE_H
#define WEFT_GTK_PICTURE_H

#include <gtk/gtk.h>

#include <weft/cairo.h>
#include <weft/viewer.h>

/* Everything is drawn so much larger: the system's setting for the size of text. */
struct picture {
	GtkWidget *widget;
	struct weft_viewer *viewer;   /* borrowed */
	struct weft_cairo_font *font; /* borrowed */
	struct weft_canvas *canvas;
	cairo_surface_t *surfaces[2];
	unsigned current;
	double zoom;
	int64_t drawn_us; /* how long drawing took, until somebody sets it back */
	bool is_stale;    /* the canvas has changed */
};

/* Picture and widget end with the widget. */
struct picture *picture_create(struct weft_viewer *viewer, struct weft_cairo_font *font);

/* The viewer's canvas has changed. */
void picture_redraw(struct picture *picture);

#endif
