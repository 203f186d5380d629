/* SPDX-License-Identifier: ISC
 *
 * The viewer's buttons and handles as widgets that can be reached by Tab and read by screen
 * readers. They lie over the drawing and show only the keyboard focus; pointer input passes through
 * them.
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

/* Call after the viewer's controls have changed. */
void controls_update(struct controls *controls);

/* True if a control's command opens a panel: keyboard focus then moves there. */
bool controls_open_panel(const char *command);

/* Where a control's widget is; false if the widget is not a control. */
bool controls_place(struct controls *controls, GtkWidget *widget, GdkRectangle *ret_box);

bool controls_have_focus(const struct controls *controls);

/* Passes a key to the focused control; false if the control does not use it. */
bool controls_press(struct controls *controls, const char *key);

#endif
