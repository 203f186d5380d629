/* SPDX-License-Identifier: ISC
 *
 * See controls.h. A control keeps its widget as long as its kind and its position in the list stay,
 * so that keyboard focus stays on it.
 */
#include "controls.h"

#include <math.h>

#include "panel.h"
#include "picture.h"
#include "window.h"

#define TYPE "weft-type"

/* Those in the canvas; the header's come before them in the viewer's list. */
static const struct weft_viewer_control *list_controls(
	const struct controls *controls, uint32_t *ret_count)
{
	const struct weft_viewer_control *list =
		weft_viewer_controls(controls->window->viewer, ret_count);
	while (*ret_count > 0 && list->position != WEFT_VIEWER_IN_CANVAS) {
		list++;
		--*ret_count;
	}
	return list;
}

static const struct weft_viewer_control *control_of(
	const struct controls *controls, const GtkWidget *widget)
{
	uint32_t count;
	const struct weft_viewer_control *list = list_controls(controls, &count);
	for (uint32_t i = 0; i < controls->count && i < count; i++)
		if (controls->widgets[i] == widget)
			return &list[i];
	return NULL;
}

bool controls_open_panel(const char *command)
{
	return strncmp(command, "panel ", 6) == 0 || strcmp(command, "help") == 0;
}

static void activate(GtkWidget *widget, void *context)
{
	struct controls *controls = context;
	const struct weft_viewer_control *control = control_of(controls, widget);
	if (!control || control->is_off || control->type != WEFT_VIEWER_PUSH)
		return;
	bool opens = controls_open_panel(control->command);
	window_command(controls->window, control->command);
	if (opens)
		panel_take_focus(controls->window->panel);
}

static GtkWidget *make(struct controls *controls, const struct weft_viewer_control *control)
{
	bool is_handle = control->type == WEFT_VIEWER_HANDLE;
	GtkWidget *widget = g_object_new(GTK_TYPE_BUTTON, "accessible-role",
		is_handle ? GTK_ACCESSIBLE_ROLE_SLIDER : GTK_ACCESSIBLE_ROLE_BUTTON, "can-target", FALSE,
		NULL);
	gtk_widget_add_css_class(widget, "weft-control");
	g_object_set_data(G_OBJECT(widget), TYPE, GUINT_TO_POINTER(control->type));
	g_signal_connect(widget, "clicked", G_CALLBACK(activate), controls);
	gtk_overlay_add_overlay(GTK_OVERLAY(controls->window->parts), widget);
	return widget;
}

static void drop(struct controls *controls, uint32_t at)
{
	GtkWidget *widget = controls->widgets[at];
	if (gtk_widget_has_focus(widget))
		gtk_widget_grab_focus(controls->window->picture->widget);
	gtk_overlay_remove_overlay(GTK_OVERLAY(controls->window->parts), widget);
}

static void describe(GtkWidget *widget, const struct weft_viewer_control *control)
{
	GtkAccessible *accessible = GTK_ACCESSIBLE(widget);
	gtk_accessible_update_property(accessible, GTK_ACCESSIBLE_PROPERTY_LABEL, control->name, -1);
	gtk_accessible_update_state(accessible, GTK_ACCESSIBLE_STATE_DISABLED, control->is_off, -1);
	if (control->type == WEFT_VIEWER_HANDLE)
		gtk_accessible_update_property(
			accessible, GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, control->value, -1);
	else
		gtk_accessible_update_state(accessible, GTK_ACCESSIBLE_STATE_PRESSED,
			control->is_on ? GTK_ACCESSIBLE_TRISTATE_TRUE : GTK_ACCESSIBLE_TRISTATE_FALSE, -1);
}

void controls_update(struct controls *controls)
{
	uint32_t count;
	const struct weft_viewer_control *list = list_controls(controls, &count);
	count = MIN(count, CONTROLS_MAX);
	/* From the first one whose kind has changed on, all are made anew, which keeps them in order.
	 */
	uint32_t kept = 0;
	while (kept < count && kept < controls->count &&
		   GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(controls->widgets[kept]), TYPE)) ==
			   list[kept].type)
		kept++;
	while (controls->count > kept)
		drop(controls, --controls->count);
	while (controls->count < count) {
		controls->widgets[controls->count] = make(controls, &list[controls->count]);
		controls->count++;
	}
	for (uint32_t i = 0; i < count; i++)
		describe(controls->widgets[i], &list[i]);
	gtk_widget_queue_allocate(controls->window->parts);
}

bool controls_place(struct controls *controls, GtkWidget *widget, GdkRectangle *ret_box)
{
	const struct weft_viewer_control *control = control_of(controls, widget);
	double zoom = controls->window->picture->zoom;
	if (!control)
		return false;
	*ret_box =
		(GdkRectangle){(int)lround(control->box.x * zoom), (int)lround(control->box.y * zoom),
			(int)lround(control->box.width * zoom), (int)lround(control->box.height * zoom)};
	return true;
}

bool controls_have_focus(const struct controls *controls)
{
	for (uint32_t i = 0; i < controls->count; i++)
		if (gtk_widget_has_focus(controls->widgets[i]))
			return true;
	return false;
}

bool controls_press(struct controls *controls, const char *key)
{
	bool is_left = strcmp(key, "ArrowLeft") == 0, is_right = strcmp(key, "ArrowRight") == 0;
	for (uint32_t i = 0; i < controls->count && (is_left || is_right); i++) {
		const struct weft_viewer_control *control = control_of(controls, controls->widgets[i]);
		if (!gtk_widget_has_focus(controls->widgets[i]) || !control ||
			control->type != WEFT_VIEWER_HANDLE)
			continue;
		char *command = g_strdup_printf("%s %s", control->command, is_left ? "left" : "right");
		window_command(controls->window, command);
		g_free(command);
		return true;
	}
	return false;
}

struct controls *controls_create(struct window *window)
{
	struct controls *controls = g_new0(struct controls, 1);
	controls->window = window;
	return controls;
}
