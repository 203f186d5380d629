/* SPDX-License-Identifier: ISC
 *
 * The prompt: one line of text that the viewer asks for.
 */
#ifndef WEFT_GTK_PROMPT_H
#define WEFT_GTK_PROMPT_H

#include <gtk/gtk.h>

struct window;

struct prompt {
	GtkWidget *widget, *label, *entry, *message;
	struct window *window; /* borrowed */
	bool is_open;
	bool is_filled; /* being filled: ignore signals, which do not come from the user */
};

struct prompt *prompt_create(struct window *window);
void prompt_update(struct prompt *prompt);

#endif
