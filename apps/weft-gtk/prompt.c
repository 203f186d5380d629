/* SPDX-License-Identifier: ISC
 *
 * See prompt.h. The entry holds the text; each change is passed to the viewer, which replies with a
 * message.
 */
#include "prompt.h"

#include "picture.h"
#include "window.h"

/* Below overview and ruler, so that the matches in the overview stay visible. */
#define TOP_MARGIN 58
#define WIDTH      34  /* characters */
#define LEAST      6   /* characters, in a narrow window */
#define MESSAGE    40  /* characters of the message beside the line */
#define BESIDE     860 /* px: windows at least this wide have room for that */

static void pass_text(struct prompt *prompt, bool is_done)
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
		pass_text(prompt, false);
}

static void accept(GtkSearchEntry *entry, void *context)
{
	(void)entry;
	pass_text(context, true);
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
	struct weft_viewer_boxes boxes;
	weft_viewer_boxes(prompt->window->viewer, &boxes);
	int width = gtk_widget_get_width(prompt->window->parts);
	int panel = boxes.panel.x > 0 ? (int)(boxes.panel.width * prompt->window->picture->zoom) : 0;
	gtk_widget_set_margin_end(prompt->widget, panel);
	bool is_beside = width - panel >= BESIDE;
	gtk_orientable_set_orientation(GTK_ORIENTABLE(prompt->widget),
		is_beside ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL);
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
	/* The prompt may change its question while it is open. */
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

static void press_accept(GtkButton *button, void *context)
{
	(void)button;
	pass_text(context, true);
}

/* A button for users without a keyboard. */
static GtkWidget *make_button(const char *icon, const char *name, const char *key)
{
	GtkWidget *button = gtk_button_new_from_icon_name(icon);
	char *tip = g_strdup_printf("%s (%s)", name, key);
	gtk_widget_set_tooltip_text(button, tip);
	g_free(tip);
	gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
	gtk_widget_add_css_class(button, "flat");
	return button;
}

static GtkWidget *make_line(struct prompt *prompt)
{
	GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
	GtkWidget *accept_button = make_button("object-select-symbolic", "Accept", "Enter");
	GtkWidget *cancel_button = make_button("window-close-symbolic", "Cancel", "Esc");
	g_signal_connect(accept_button, "clicked", G_CALLBACK(press_accept), prompt);
	g_signal_connect(cancel_button, "clicked", G_CALLBACK(press_cancel), prompt);
	gtk_box_append(GTK_BOX(line), prompt->label);
	gtk_box_append(GTK_BOX(line), prompt->entry);
	gtk_box_append(GTK_BOX(line), accept_button);
	gtk_box_append(GTK_BOX(line), cancel_button);
	return line;
}

/* A plain entry instead of a search entry: the prompt asks for times and notes, too, and the label
 * says for what. */
static GtkWidget *make_entry(struct prompt *prompt)
{
	GtkWidget *entry = gtk_search_entry_new(), *icon = gtk_widget_get_first_child(entry);
	if (GTK_IS_IMAGE(icon))
		gtk_widget_set_visible(icon, FALSE);
	gtk_editable_set_width_chars(GTK_EDITABLE(entry), LEAST);
	gtk_editable_set_max_width_chars(GTK_EDITABLE(entry), WIDTH);
	gtk_widget_set_hexpand(entry, TRUE);
	g_signal_connect(entry, "changed", G_CALLBACK(change), prompt);
	g_signal_connect(entry, "activate", G_CALLBACK(accept), prompt);
	g_signal_connect(entry, "stop-search", G_CALLBACK(cancel), prompt);
	return entry;
}

struct prompt *prompt_create(struct window *window)
{
	struct prompt *prompt = g_new0(struct prompt, 1);
	prompt->window = window;
	prompt->label = gtk_label_new("");
	prompt->entry = make_entry(prompt);
	prompt->message = gtk_label_new("");
	gtk_label_set_xalign(GTK_LABEL(prompt->message), 0);
	gtk_label_set_wrap(GTK_LABEL(prompt->message), TRUE);
	gtk_label_set_natural_wrap_mode(GTK_LABEL(prompt->message), GTK_NATURAL_WRAP_NONE);
	gtk_label_set_max_width_chars(GTK_LABEL(prompt->message), MESSAGE);
	prompt->widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
	gtk_box_append(GTK_BOX(prompt->widget), make_line(prompt));
	gtk_box_append(GTK_BOX(prompt->widget), prompt->message);
	gtk_widget_add_css_class(prompt->widget, "weft-prompt");
	gtk_widget_set_halign(prompt->widget, GTK_ALIGN_CENTER);
	gtk_widget_set_valign(prompt->widget, GTK_ALIGN_START);
	gtk_widget_set_margin_top(prompt->widget, TOP_MARGIN);
	gtk_widget_set_visible(prompt->widget, FALSE);
	return prompt;
}
