/* SPDX-License-Identifier: ISC
 *
 * See panel.h. Rows whose kind stays keep their widgets, so that keyboard focus stays on them while
 * their text changes.
 */
#include "panel.h"

#include <math.h>

#include "window.h"

/* A row is a widget with labels for its texts, which it stores under these names. */
#define TEXT    "weft-text"
#define DETAIL  "weft-detail"
#define COMMAND "weft-command"
#define TYPE    "weft-type"
#define ROLE    "weft-role"

static GtkWidget *label(GtkWidget *row, const char *name, const char *class)
{
	GtkWidget *made = gtk_label_new("");
	gtk_label_set_wrap(GTK_LABEL(made), TRUE);
	gtk_label_set_wrap_mode(GTK_LABEL(made), PANGO_WRAP_WORD_CHAR);
	gtk_label_set_xalign(GTK_LABEL(made), 0);
	gtk_label_set_yalign(GTK_LABEL(made), 0);
	if (class)
		gtk_widget_add_css_class(made, class);
	g_object_set_data(G_OBJECT(row), name, made);
	return made;
}

/* Makes a label for the text at the left, and one for the detail at the right. */
static GtkWidget *two_labels(GtkWidget *row, const char *left_class, const char *right_class)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
	GtkWidget *left = label(row, TEXT, left_class), *right = label(row, DETAIL, right_class);
	gtk_widget_set_hexpand(left, TRUE);
	/* Times and keys are short and must not wrap. */
	gtk_label_set_wrap(GTK_LABEL(right), FALSE);
	gtk_label_set_ellipsize(GTK_LABEL(right), PANGO_ELLIPSIZE_NONE);
	gtk_widget_add_css_class(right, "weft-numbers");
	gtk_box_append(GTK_BOX(box), left);
	gtk_box_append(GTK_BOX(box), right);
	return box;
}

static void activate(GtkWidget *row, void *context)
{
	struct panel *panel = context;
	const char *command = g_object_get_data(G_OBJECT(row), COMMAND);
	/* Copied, because the command may change the panel and with it this row. */
	char *copy = g_strdup(command);
	if (copy && copy[0])
		window_command(panel->window, copy);
	g_free(copy);
}

static void toggle(GtkCheckButton *row, void *context)
{
	struct panel *panel = context;
	if (!panel->is_filled)
		activate(GTK_WIDGET(row), panel);
}

static GtkWidget *make_link(struct panel *panel)
{
	GtkWidget *row = gtk_button_new();
	gtk_button_set_child(GTK_BUTTON(row), two_labels(row, NULL, "weft-dim"));
	gtk_widget_add_css_class(row, "weft-link");
	g_signal_connect(row, "clicked", G_CALLBACK(activate), panel);
	return row;
}

static GtkWidget *make_fact(void)
{
	GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
	GtkWidget *both = two_labels(row, "weft-dim", "weft-value");
	GtkWidget *value = g_object_get_data(G_OBJECT(row), DETAIL);
	gtk_label_set_wrap(GTK_LABEL(value), TRUE);
	gtk_label_set_natural_wrap_mode(GTK_LABEL(value), GTK_NATURAL_WRAP_WORD);
	gtk_label_set_xalign(GTK_LABEL(value), 1);
	gtk_widget_set_hexpand(both, TRUE);
	gtk_box_append(GTK_BOX(row), both);
	gtk_widget_add_css_class(row, "weft-fact");
	return row;
}

static GtkWidget *make_toggle(struct panel *panel)
{
	GtkWidget *row = gtk_check_button_new();
	gtk_check_button_set_child(GTK_CHECK_BUTTON(row), two_labels(row, NULL, "weft-dim"));
	gtk_widget_add_css_class(row, "weft-toggle");
	g_signal_connect(row, "toggled", G_CALLBACK(toggle), panel);
	return row;
}

static GtkWidget *make_button(struct panel *panel)
{
	GtkWidget *row = gtk_button_new_with_label("");
	gtk_widget_add_css_class(row, "weft-button");
	gtk_widget_set_halign(row, GTK_ALIGN_START);
	g_signal_connect(row, "clicked", G_CALLBACK(activate), panel);
	return row;
}

static GtkWidget *make_row(struct panel *panel, enum weft_viewer_item_type type)
{
	GtkWidget *row;
	switch (type) {
	case WEFT_VIEWER_LINK:
		return make_link(panel);
	case WEFT_VIEWER_FACT:
		return make_fact();
	case WEFT_VIEWER_TOGGLE:
		return make_toggle(panel);
	case WEFT_VIEWER_BUTTON:
		return make_button(panel);
	case WEFT_VIEWER_HEADING:
	case WEFT_VIEWER_TEXT:
	default:
		row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
		gtk_box_append(GTK_BOX(row), two_labels(row, NULL, "weft-dim"));
		gtk_widget_add_css_class(row, type == WEFT_VIEWER_HEADING ? "weft-heading" : "weft-text");
		return row;
	}
}

static void set_label(GtkWidget *row, const char *name, const char *text)
{
	GtkWidget *shown = g_object_get_data(G_OBJECT(row), name);
	if (!shown)
		return;
	gtk_label_set_text(GTK_LABEL(shown), text);
	gtk_widget_set_visible(shown, text[0] != '\0');
}

static void set_role(GtkWidget *row, unsigned role)
{
	unsigned before = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(row), ROLE));
	char class[32];
	if (before == role)
		return;
	g_snprintf(class, sizeof(class), "weft-role-%u", before);
	gtk_widget_remove_css_class(row, class);
	g_snprintf(class, sizeof(class), "weft-role-%u", role);
	if (role && role < LOOK_ROLES)
		gtk_widget_add_css_class(row, class);
	g_object_set_data(G_OBJECT(row), ROLE, GUINT_TO_POINTER(role));
}

/* Joins the texts into one for screen readers. */
static void set_name(GtkWidget *row, const struct weft_viewer_item *item)
{
	char *name = item->detail[0] ? g_strdup_printf("%s, %s", item->text, item->detail)
								 : g_strdup(item->text);
	gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
	g_free(name);
}

static void set_row(GtkWidget *row, const struct weft_viewer_item *item)
{
	set_label(row, TEXT, item->text);
	set_label(row, DETAIL, item->detail);
	set_role(row, item->role);
	g_object_set_data_full(G_OBJECT(row), COMMAND, g_strdup(item->command), g_free);
	if (item->is_selected && item->type == WEFT_VIEWER_LINK)
		gtk_widget_add_css_class(row, "weft-current");
	else
		gtk_widget_remove_css_class(row, "weft-current");
	if (item->type == WEFT_VIEWER_TOGGLE)
		gtk_check_button_set_active(GTK_CHECK_BUTTON(row), item->is_selected);
	if (item->type == WEFT_VIEWER_LINK || item->type == WEFT_VIEWER_TOGGLE)
		set_name(row, item);
	if (item->type == WEFT_VIEWER_BUTTON)
		gtk_button_set_label(GTK_BUTTON(row), item->text);
}

static GtkWidget *row_of_type(struct panel *panel, GtkWidget *row, unsigned type)
{
	if (row && GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(row), TYPE)) == type)
		return row;
	GtkWidget *made = make_row(panel, (enum weft_viewer_item_type)type);
	g_object_set_data(G_OBJECT(made), TYPE, GUINT_TO_POINTER(type));
	gtk_box_insert_child_after(GTK_BOX(panel->list), made, row);
	if (row)
		gtk_box_remove(GTK_BOX(panel->list), row);
	return made;
}

/* Runs after the rows were allocated. */
static gboolean scroll(void *context)
{
	struct panel *panel = context;
	const struct weft_viewer_panel *shown = weft_viewer_panel(panel->window->viewer);
	GtkWidget *row = gtk_widget_get_first_child(panel->list);
	graphene_rect_t box;
	panel->scroll_idle = 0;
	for (uint32_t i = 0; row && i < shown->selected; i++)
		row = gtk_widget_get_next_sibling(row);
	if (row && gtk_widget_compute_bounds(row, panel->list, &box))
		gtk_adjustment_clamp_page(
			gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(panel->scroller)), box.origin.y,
			box.origin.y + box.size.height);
	return G_SOURCE_REMOVE;
}

static void fill(struct panel *panel, const struct weft_viewer_panel *shown)
{
	GtkWidget *row = gtk_widget_get_first_child(panel->list), *last = NULL;
	for (uint32_t i = 0; i < shown->item_count; i++) {
		const struct weft_viewer_item *item = &shown->items[i];
		if (row) {
			last = row_of_type(panel, row, item->type);
		} else {
			last = row_of_type(panel, NULL, item->type);
			gtk_box_reorder_child_after(
				GTK_BOX(panel->list), last, gtk_widget_get_last_child(panel->list));
		}
		set_row(last, item);
		row = gtk_widget_get_next_sibling(last);
	}
	while (row) {
		GtkWidget *next = gtk_widget_get_next_sibling(row);
		gtk_box_remove(GTK_BOX(panel->list), row);
		row = next;
	}
}

void panel_update(struct panel *panel)
{
	const struct weft_viewer_panel *shown = weft_viewer_panel(panel->window->viewer);
	struct weft_viewer_boxes boxes;
	weft_viewer_boxes(panel->window->viewer, &boxes);
	bool is_there = shown->title[0] && boxes.panel.width > 0;
	if (!is_there && panel_has_focus(panel))
		gtk_widget_grab_focus(gtk_overlay_get_child(GTK_OVERLAY(panel->window->parts)));
	gtk_widget_set_visible(panel->widget, is_there);
	if (!is_there)
		return;
	gtk_label_set_text(GTK_LABEL(panel->title), shown->title);
	panel->is_filled = true;
	fill(panel, shown);
	panel->is_filled = false;
	if (shown->selected != WEFT_NONE && !panel->scroll_idle)
		panel->scroll_idle = g_idle_add_full(G_PRIORITY_LOW, scroll, panel, NULL);
}

bool panel_has_focus(const struct panel *panel)
{
	return gtk_widget_get_focus_child(panel->widget) != NULL;
}

bool panel_take_focus(struct panel *panel)
{
	return gtk_widget_get_visible(panel->widget) &&
		   gtk_widget_child_focus(panel->list, GTK_DIR_TAB_FORWARD);
}

static void stop(GtkWidget *widget, void *context)
{
	struct panel *panel = context;
	(void)widget;
	if (panel->scroll_idle)
		g_source_remove(panel->scroll_idle);
	panel->scroll_idle = 0;
}

static void close_panel(GtkButton *button, void *context)
{
	struct panel *panel = context;
	(void)button;
	window_command(panel->window, "close");
}

/* The title, and a close button for users without a keyboard. */
static GtkWidget *make_header(struct panel *panel)
{
	GtkWidget *header = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
	GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");
	gtk_widget_set_tooltip_text(close, "Close the panel (Esc)");
	gtk_accessible_update_property(
		GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL, "Close the panel", -1);
	gtk_widget_add_css_class(close, "weft-close");
	gtk_widget_add_css_class(close, "flat");
	gtk_widget_set_valign(close, GTK_ALIGN_CENTER);
	g_signal_connect(close, "clicked", G_CALLBACK(close_panel), panel);
	gtk_widget_set_hexpand(panel->title, TRUE);
	gtk_box_append(GTK_BOX(header), panel->title);
	gtk_box_append(GTK_BOX(header), close);
	return header;
}

struct panel *panel_create(struct window *window)
{
	struct panel *panel = g_new0(struct panel, 1);
	panel->window = window;
	panel->widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	gtk_widget_add_css_class(panel->widget, "weft-panel");
	panel->title = gtk_label_new("");
	gtk_label_set_wrap(GTK_LABEL(panel->title), TRUE);
	gtk_label_set_wrap_mode(GTK_LABEL(panel->title), PANGO_WRAP_WORD_CHAR);
	gtk_label_set_xalign(GTK_LABEL(panel->title), 0);
	gtk_widget_add_css_class(panel->title, "weft-title");
	panel->list = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	panel->scroller = gtk_scrolled_window_new();
	gtk_scrolled_window_set_policy(
		GTK_SCROLLED_WINDOW(panel->scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
	gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(panel->scroller), panel->list);
	gtk_widget_set_vexpand(panel->scroller, TRUE);
	gtk_box_append(GTK_BOX(panel->widget), make_header(panel));
	gtk_box_append(GTK_BOX(panel->widget), panel->scroller);
	gtk_widget_set_overflow(panel->widget, GTK_OVERFLOW_HIDDEN);
	gtk_widget_set_visible(panel->widget, FALSE);
	g_signal_connect(panel->widget, "unrealize", G_CALLBACK(stop), panel);
	return panel;
}
