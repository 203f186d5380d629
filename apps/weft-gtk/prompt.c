/* SPDX-License-Identifier: ISC
 *
 * See prompt.h. The entry holds the text; the viewer is told of each change, and answers in words.
 */
#include "prompt.h"

#include "picture.h"
#include "window.h"

#define TOP_MARGIN 34 /* below the picture's title line */
#define WIDTH      34 /* letters */

static void tell(struct prompt *prompt, bool is_done)
{
	struct window *window = prompt->window;
	weft_viewer_prompt_text(
		window->viewer, gtk_editable_get_text(GTK_EDITABLE(prompt->entry)), is_done, window_now());
	window_refresh(window);
}

static void change(GtkEditable *entry, void *context)
{
	struct prompt *prompt = context;
	(void)entry;
	if (!prompt->is_filled)
		tell(prompt, false);
}

static void accept(GtkSearchEntry *entry, void *context)
{
	(void)entry;
	tell(context, true);
}

static void cancel(GtkSearchEntry *entry, void *context)
{
	struct prompt *prompt = context;
	(void)entry;
	weft_viewer_key(prompt->window->viewer, "Escape", 0, window_now());
	window_refresh(prompt->window);
}

static void open_prompt(struct prompt *prompt, const struct weft_viewer_prompt *shown)
{
	prompt->is_filled = true;
	gtk_editable_set_text(GTK_EDITABLE(prompt->entry), shown->text);
	prompt->is_filled = false;
	gtk_label_set_text(GTK_LABEL(prompt->label), shown->label);
	gtk_accessible_update_property(
		GTK_ACCESSIBLE(prompt->entry), GTK_ACCESSIBLE_PROPERTY_LABEL, shown->label, -1);
	gtk_widget_set_visible(prompt->widget, TRUE);
	gtk_widget_grab_focus(prompt->entry);
	gtk_editable_select_region(GTK_EDITABLE(prompt->entry), 0, -1);
}

static void show_message(struct prompt *prompt, const struct weft_viewer_prompt *shown)
{
	gtk_label_set_text(GTK_LABEL(prompt->message), shown->message);
	gtk_widget_set_visible(prompt->message, shown->message[0] != '\0');
	if (shown->is_error) {
		gtk_widget_remove_css_class(prompt->message, "weft-dim");
		gtk_widget_add_css_class(prompt->message, "weft-error");
	} else {
		gtk_widget_remove_css_class(prompt->message, "weft-error");
		gtk_widget_add_css_class(prompt->message, "weft-dim");
	}
	gtk_accessible_update_state(
		GTK_ACCESSIBLE(prompt->entry), GTK_ACCESSIBLE_STATE_INVALID, shown->is_error, -1);
	gtk_accessible_update_property(
		GTK_ACCESSIBLE(prompt->entry), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, shown->message, -1);
}

void prompt_update(struct prompt *prompt)
{
	const struct weft_viewer_prompt *shown = weft_viewer_prompt(prompt->window->viewer);
	bool was_open = prompt->is_open;
	prompt->is_open = shown->is_open;
	if (!shown->is_open) {
		if (was_open)
			gtk_widget_grab_focus(prompt->window->picture->widget);
		gtk_widget_set_visible(prompt->widget, FALSE);
		return;
	}
	/* Another question in the same line. */
	bool is_new = strcmp(gtk_label_get_text(GTK_LABEL(prompt->label)), shown->label) != 0;
	if (!was_open || is_new)
		open_prompt(prompt, shown);
	show_message(prompt, shown);
}

static void press_cancel(GtkButton *button, void *context)
{
	(void)button;
	cancel(NULL, context);
}

/* For those who have no keys. */
static GtkWidget *make_cancel(struct prompt *prompt)
{
	GtkWidget *button = gtk_button_new_from_icon_name("window-close-symbolic");
	gtk_widget_set_tooltip_text(button, "Cancel (Esc)");
	gtk_accessible_update_property(
		GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, "Cancel", -1);
	gtk_widget_add_css_class(button, "flat");
	g_signal_connect(button, "clicked", G_CALLBACK(press_cancel), prompt);
	return button;
}

struct prompt *prompt_create(struct window *window)
{
	struct prompt *prompt = g_new0(struct prompt, 1);
	prompt->window = window;
	prompt->label = gtk_label_new("");
	prompt->entry = gtk_search_entry_new();
	gtk_editable_set_width_chars(GTK_EDITABLE(prompt->entry), WIDTH);
	g_signal_connect(prompt->entry, "changed", G_CALLBACK(change), prompt);
	g_signal_connect(prompt->entry, "activate", G_CALLBACK(accept), prompt);
	g_signal_connect(prompt->entry, "stop-search", G_CALLBACK(cancel), prompt);
	prompt->message = gtk_label_new("");
	gtk_label_set_xalign(GTK_LABEL(prompt->message), 0);
	gtk_label_set_wrap(GTK_LABEL(prompt->message), TRUE);
	GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
	gtk_box_append(GTK_BOX(line), prompt->label);
	gtk_box_append(GTK_BOX(line), prompt->entry);
	gtk_box_append(GTK_BOX(line), make_cancel(prompt));
	prompt->widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
	gtk_box_append(GTK_BOX(prompt->widget), line);
	gtk_box_append(GTK_BOX(prompt->widget), prompt->message);
	gtk_widget_add_css_class(prompt->widget, "weft-prompt");
	gtk_widget_set_halign(prompt->widget, GTK_ALIGN_CENTER);
	gtk_widget_set_valign(prompt->widget, GTK_ALIGN_START);
	gtk_widget_set_margin_top(prompt->widget, TOP_MARGIN);
	gtk_widget_set_visible(prompt->widget, FALSE);
	return prompt;
}
