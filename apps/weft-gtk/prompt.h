/* SPDX-License-Identifier: ISC
 *
 * The line of text that the viewer asks for.
 */
#ifndef WEFT_GTK_PROMPT_H
#define WEFT_GTK_PROMPT_H

#include <gtk/gtk.h>

struct window;

struct prompt {
	GtkWidget *widget, *label, *entry, *message;
	struct window *window; /* borrowed */
	bool is_open;
	bool is_filled; /* just now, so that no signal is the person's */
};

struct prompt *prompt_create(struct window *window);
void prompt_update(struct prompt *prompt);

#endif
