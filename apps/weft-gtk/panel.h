/* SPDX-License-Identifier: ISC
 *
 * The viewer's panel as widgets that can be reached by Tab and read aloud.
 */
#ifndef WEFT_GTK_PANEL_H
#define WEFT_GTK_PANEL_H

#include <gtk/gtk.h>

struct window;

struct panel {
	GtkWidget *widget, *title, *scroller, *list;
	struct window *window; /* borrowed */
	bool is_filled;        /* just now, so that no signal is the person's */
	guint scroll_idle;
};

struct panel *panel_create(struct window *window);

/* What is in it has changed, or whether it is there. */
void panel_update(struct panel *panel);

/* Does the keyboard work there? */
bool panel_has_focus(const struct panel *panel);

/* False if there is nothing to take it. */
bool panel_take_focus(struct panel *panel);

#endif
