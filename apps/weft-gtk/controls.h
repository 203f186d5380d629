/* SPDX-License-Identifier: ISC
 *
 * The viewer's buttons and handles as widgets that are reached by Tab and read aloud. They lie over
 * what is drawn and show nothing but the keyboard's place; pointers go through them.
 */
#ifndef WEFT_GTK_CONTROLS_H
#define WEFT_GTK_CONTROLS_H

#include <gtk/gtk.h>

struct window;

#define CONTROLS_MAX 32

struct controls {
	struct window *window; /* borrowed */
	GtkWidget *widgets[CONTROLS_MAX];
	uint32_t count;
};

struct controls *controls_create(struct window *window);

/* What there is, or where, has changed. */
void controls_update(struct controls *controls);

/* False if the widget is none of them. */
bool controls_place(struct controls *controls, GtkWidget *widget, GdkRectangle *ret_place);

bool controls_have_focus(const struct controls *controls);

/* A key for the one that has the keyboard; false if it means nothing to it. */
bool controls_press(struct controls *controls, const char *key);

#endif
