/* SPDX-License-Identifier: ISC
 *
 * See header.h. A button keeps its widget as long as its command stays at its position in the
 * viewer's list, so that keyboard focus stays on it.
 */
#include "header.h"

#include "menu.h"
#include "panel.h"
#include "picture.h"
#include "window.h"

#define ICON       16.0 /* px */
#define NAME_LEAST 12   /* characters */
#define FACTS_FROM 760  /* px: narrower windows show the name only */
#define INDEX      "weft-index"

/* The controls of the header are the first of the list. */
static uint32_t list_buttons(struct window *window, const struct weft_viewer_control **ret_list)
{
	uint32_t all, count = 0;
	const struct weft_viewer_control *list = weft_viewer_controls(window->viewer, &all);
	while (count < all && count < CONTROLS_MAX && list[count].position != WEFT_VIEWER_IN_CANVAS)
		count++;
	*ret_list = list;
	return count;
}

static const struct weft_viewer_control *control_of(struct window *window, GtkWidget *button)
{
	const struct weft_viewer_control *list;
	uint32_t index = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(button), INDEX));
	return index < list_buttons(window, &list) ? &list[index] : NULL;
}

/* ---- A button ---- */

static void draw_icon(GtkDrawingArea *area, cairo_t *cairo, int width, int height, void *context)
{
	struct window *window = context;
	GtkWidget *button = gtk_widget_get_ancestor(GTK_WIDGET(area), GTK_TYPE_BUTTON);
	const struct weft_viewer_control *control = control_of(window, button);
	struct weft_canvas *canvas;
	(void)width, (void)height;
	if (!control || weft_canvas_create(ICON, ICON, &canvas))
		return;
	weft_viewer_draw_icon(control, canvas);
	cairo_scale(cairo, window->picture->zoom, window->picture->zoom);
	weft_cairo_draw(canvas, window->pango, cairo);
	weft_canvas_destroy(canvas);
}

/* Focus moves to a panel that was opened by keyboard. */
static void click(GtkWidget *button, void *context)
{
	struct window *window = context;
	const struct weft_viewer_control *control = control_of(window, button);
	if (!control)
		return;
	char *command = g_strdup(control->command);
	window_command(window, command);
	if (gtk_widget_has_focus(button) && controls_open_panel(command))
		panel_take_focus(window->panel);
	g_free(command);
}

static GtkWidget *make_button(struct window *window, uint32_t index)
{
	GtkWidget *button = gtk_button_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
	GtkWidget *icon = gtk_drawing_area_new(), *text = gtk_label_new("");
	int size = (int)(ICON * window->picture->zoom);
	gtk_drawing_area_set_content_width(GTK_DRAWING_AREA(icon), size);
	gtk_drawing_area_set_content_height(GTK_DRAWING_AREA(icon), size);
	gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(icon), draw_icon, window, NULL);
	gtk_widget_set_valign(icon, GTK_ALIGN_CENTER);
	gtk_box_append(GTK_BOX(box), icon);
	gtk_box_append(GTK_BOX(box), text);
	gtk_widget_set_halign(box, GTK_ALIGN_CENTER);
	gtk_button_set_child(GTK_BUTTON(button), box);
	gtk_widget_add_css_class(button, "flat");
	gtk_widget_set_focus_on_click(button, FALSE); /* the keyboard stays with the picture */
	g_object_set_data(G_OBJECT(button), INDEX, GUINT_TO_POINTER(index));
	g_signal_connect(button, "clicked", G_CALLBACK(click), window);
	return button;
}

static void set_text(GtkWidget *button, const struct weft_viewer_control *control)
{
	GtkWidget *icon = gtk_widget_get_first_child(gtk_button_get_child(GTK_BUTTON(button)));
	GtkWidget *text = gtk_widget_get_next_sibling(icon);
	char *markup = g_markup_printf_escaped(
		"<span color=\"#%06x\">%s</span>", control->color >> 8, control->text);
	gtk_label_set_markup(GTK_LABEL(text), markup);
	gtk_widget_set_visible(text, control->text[0] != '\0');
	gtk_widget_set_visible(icon, control->icon != 0);
	gtk_widget_queue_draw(icon);
	g_free(markup);
}

static void describe(
	struct window *window, GtkWidget *button, const struct weft_viewer_control *control)
{
	GtkAccessible *accessible = GTK_ACCESSIBLE(button);
	if (control->is_off && gtk_widget_has_focus(button))
		gtk_widget_grab_focus(window->picture->widget);
	gtk_widget_set_sensitive(button, !control->is_off);
	gtk_widget_set_tooltip_text(button, control->name);
	gtk_accessible_update_property(accessible, GTK_ACCESSIBLE_PROPERTY_LABEL, control->name, -1);
	gtk_accessible_update_state(accessible, GTK_ACCESSIBLE_STATE_PRESSED,
		control->is_on ? GTK_ACCESSIBLE_TRISTATE_TRUE : GTK_ACCESSIBLE_TRISTATE_FALSE, -1);
	if (control->is_on)
		gtk_widget_add_css_class(button, "weft-on");
	else
		gtk_widget_remove_css_class(button, "weft-on");
	set_text(button, control);
}

/* ---- The bar ---- */

static void remove_buttons(struct header *header)
{
	while (header->count > 0) {
		GtkWidget *button = header->buttons[--header->count];
		if (gtk_widget_has_focus(button))
			gtk_widget_grab_focus(header->window->picture->widget);
		gtk_box_remove(GTK_BOX(gtk_widget_get_parent(button)), button);
	}
}

static bool is_same(
	const struct header *header, const struct weft_viewer_control *list, uint32_t count)
{
	for (uint32_t i = 0; i < header->count && i < count; i++)
		if (strcmp(gtk_widget_get_name(header->buttons[i]), list[i].command) != 0)
			return false;
	return header->count == count;
}

static void make_buttons(
	struct header *header, const struct weft_viewer_control *list, uint32_t count)
{
	remove_buttons(header);
	for (; header->count < count; header->count++) {
		uint32_t i = header->count;
		header->buttons[i] = make_button(header->window, i);
		gtk_widget_set_name(header->buttons[i], list[i].command);
		gtk_box_append(GTK_BOX(header->sides[list[i].position == WEFT_VIEWER_AFTER_TITLE]),
			header->buttons[i]);
	}
}

void header_update(struct header *header)
{
	const struct weft_viewer_control *list;
	uint32_t count = list_buttons(header->window, &list);
	if (!is_same(header, list, count))
		make_buttons(header, list, count);
	for (uint32_t i = 0; i < count; i++)
		describe(header->window, header->buttons[i], &list[i]);
	gtk_widget_set_visible(
		header->facts, gtk_widget_get_width(header->window->parts) >= FACTS_FROM);
	gtk_label_set_text(GTK_LABEL(header->facts), weft_viewer_facts(header->window->viewer));
}

void header_set_name(struct header *header, const char *name)
{
	gtk_label_set_text(GTK_LABEL(header->name), name);
	gtk_label_set_width_chars(
		GTK_LABEL(header->name), (int)MIN(g_utf8_strlen(name, -1), NAME_LEAST));
}

static GtkWidget *make_label(const char *class, PangoEllipsizeMode mode)
{
	GtkWidget *label = gtk_label_new("");
	gtk_label_set_ellipsize(GTK_LABEL(label), mode);
	gtk_label_set_xalign(GTK_LABEL(label), 0);
	gtk_widget_add_css_class(label, class);
	return label;
}

static GtkWidget *make_title(struct header *header)
{
	GtkWidget *title = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 18);
	header->name = make_label("weft-name", PANGO_ELLIPSIZE_MIDDLE);
	header->facts = make_label("weft-dim", PANGO_ELLIPSIZE_END);
	gtk_box_append(GTK_BOX(title), header->name);
	gtk_box_append(GTK_BOX(title), header->facts);
	gtk_widget_set_hexpand(title, TRUE);
	gtk_widget_set_margin_start(title, 8);
	return title;
}

/* A bar of our own: GtkHeaderBar would centre the title and leave equal room at both of its sides.
 * The handle lets the user move the window by it. */
struct header *header_create(struct window *window)
{
	struct header *header = g_new0(struct header, 1);
	header->window = window;
	header->widget = gtk_window_handle_new();
	for (int i = 0; i < 2; i++)
		header->sides[i] = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 1);
	GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 1);
	GtkWidget *parts[] = {gtk_window_controls_new(GTK_PACK_START), header->sides[0],
		make_title(header), header->sides[1], menu_button(), gtk_window_controls_new(GTK_PACK_END)};
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		gtk_box_append(GTK_BOX(bar), parts[i]);
	gtk_window_handle_set_child(GTK_WINDOW_HANDLE(header->widget), bar);
	gtk_widget_add_css_class(header->widget, "weft-header");
	header_update(header);
	return header;
}
