/* SPDX-License-Identifier: ISC
 *
 * A window: one viewer, its picture, and the widgets around it.
 */
#ifndef WEFT_GTK_WINDOW_H
#define WEFT_GTK_WINDOW_H

#include <gtk/gtk.h>

#include <weft/viewer.h>

#include "loading.h"
#include "picture.h"

struct window {
	GtkApplication *application; /* borrowed */
	GtkWidget *widget;
	char *path;    /* of the trace; NULL: none yet */
	char *command; /* for the viewer once the trace is there; or NULL */
	struct weft_viewer *viewer;
	struct weft_cairo_font *pango;
	struct weft_font font; /* by pango; the viewer borrows it */
	struct picture *picture;
	struct loading *loading;          /* while it goes on */
	guint loading_timer, tick, timer; /* sources; 0 if there is none */
	double pointer_x, pointer_y;      /* where it was last seen */
	double pinch;                     /* of the gesture that goes on */
};

/* What a window begins with. */
struct window_options {
	enum weft_theme theme;
	const char *command;     /* for the viewer; or NULL */
	const char *path;        /* or NULL */
	struct loading *loading; /* of that path; becomes the window's; or NULL */
};

struct window *window_open(GtkApplication *application, const struct window_options *options);

/* Loads the window's file anew. */
void window_reload(struct window *window);

/* To be called when the viewer was given anything. */
void window_refresh(struct window *window);

/* Milliseconds of the clock that the viewer is told. */
double window_now(void);

/* Passes the pointer, wheel, touch and keys on. */
void input_attach(struct window *window, GtkWidget *keys);

#endif
