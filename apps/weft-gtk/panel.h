/* SPDX-License-Identifier: ISC
 *
 * The viewer's panel as widgets that can be reached by Tab and read by screen readers.
 */
#ifndef WEFT_GTK_PANEL_H
#define WEFT_GTK_PANEL_H

#include <gtk/gtk.h>

struct window;

struct panel {
	GtkWidget *widget, *title, *scroller, *list;
	struct window *window; /* borrowed */
	bool is_filled;        /* being filled: ignore signals, which do not come from the user */
	guint scroll_idle;
};

struct panel *panel_create(struct window *window);

/* Call after the panel's content or visibility has changed. */
void panel_update(struct panel *panel);

/* True if keyboard focus is in the panel. */
bool panel_has_focus(const struct panel *panel);

/* Moves focus to the panel; false if no row can take it. */
bool panel_take_focus(struct panel *panel);

#endif
