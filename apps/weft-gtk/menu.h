/* SPDX-License-Identifier: ISC
 *
 * The window's menu, from the table of the viewer's commands.
 */
#ifndef WEFT_GTK_MENU_H
#define WEFT_GTK_MENU_H

#include <gtk/gtk.h>

/* The button that opens the menu, also by F10. */
GtkWidget *menu_button(void);

/* Adds the keys of the viewer's commands that work wherever the keyboard focus is. */
void menu_add_accelerators(GtkApplication *application);

#endif
