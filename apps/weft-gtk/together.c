/* SPDX-License-Identifier: ISC
 *
 * Synchronizes windows: they all show the same time range, so that two traces can be compared at
 * the same scale.
 */
#include "window.h"

static GList *windows;
static bool is_on;

void together_add(struct window *window)
{
	windows = g_list_prepend(windows, window);
}

void together_remove(struct window *window)
{
	windows = g_list_remove(windows, window);
}

bool together_is_on(void)
{
	return is_on;
}

/* The time part of "view start=… duration=… task=…": tasks differ between traces. */
static char *time_of(struct window *window)
{
	char **words = g_strsplit(weft_viewer_link(window->viewer), " ", -1);
	GString *time = g_string_new("view");
	for (char **word = words; *word; word++)
		if (g_str_has_prefix(*word, "start=") || g_str_has_prefix(*word, "duration="))
			g_string_append_printf(time, " %s", *word);
	g_strfreev(words);
	return g_string_free(time, FALSE);
}

void together_follow(struct window *window)
{
	if (!is_on || !gtk_window_is_active(GTK_WINDOW(window->widget)))
		return;
	char *time = time_of(window);
	bool has_moved = g_strcmp0(time, window->link) != 0;
	g_free(window->link);
	window->link = time;
	for (GList *other = windows; has_moved && other; other = other->next)
		if (other->data != window)
			window_command(other->data, time);
}

void together_set(struct window *window, bool want)
{
	is_on = want;
	g_clear_pointer(&window->link, g_free);
	together_follow(window);
}
