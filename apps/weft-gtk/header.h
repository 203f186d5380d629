/* SPDX-License-Identifier: ISC
 *
 * The header bar: the viewer's buttons before and behind the trace's name, and the menu. The
 * buttons have the viewer's icons, so that window and page look alike.
 */
#ifndef WEFT_GTK_HEADER_H
#define WEFT_GTK_HEADER_H

#include <gtk/gtk.h>

#include "controls.h"

struct window;

struct header {
	GtkWidget *widget, *name, *facts;
	GtkWidget *sides[2];   /* boxes before and behind name and facts */
	struct window *window; /* borrowed */
	GtkWidget *buttons[CONTROLS_MAX];
	uint32_t count;
};

struct header *header_create(struct window *window);

/* Call after the viewer's controls have changed. */
void header_update(struct header *header);

/* Shows the trace's name. */
void header_set_name(struct header *header, const char *name);

#endif
