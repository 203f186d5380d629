/* SPDX-License-Identifier: ISC
 *
 * Passes raw input to the viewer. The viewer recognizes gestures itself, so GTK's gestures are not
 * used: events are only translated into the viewer's terms.
 */
#include "window.h"

#include "controls.h"
#include "panel.h"
#include "picture.h"

#define NOTCH 120.0 /* px of a wheel's notch, for weft_viewer_wheel */

static unsigned modifiers_of(GdkModifierType state)
{
	unsigned modifiers = 0;
	if (state & GDK_SHIFT_MASK)
		modifiers |= WEFT_VIEWER_SHIFT;
	if (state & GDK_CONTROL_MASK)
		modifiers |= WEFT_VIEWER_CONTROL;
	if (state & GDK_ALT_MASK)
		modifiers |= WEFT_VIEWER_ALT;
	return modifiers;
}

/* An event's position in the viewer's pixels. Wheel events have none: for them, the pointer's last
 * position. False if neither is known. */
static bool position(struct window *window, GdkEvent *event, double *ret_x, double *ret_y)
{
	GtkWidget *widget = window->picture->widget;
	GtkNative *native = gtk_widget_get_native(widget);
	double x, y, native_x, native_y;
	if (gdk_event_get_position(event, &x, &y)) {
		gtk_native_get_surface_transform(native, &native_x, &native_y);
		if (!gtk_widget_translate_coordinates(
				GTK_WIDGET(native), widget, x - native_x, y - native_y, &x, &y))
			return false;
		window->pointer_x = x / window->picture->zoom;
		window->pointer_y = y / window->picture->zoom;
	}
	*ret_x = window->pointer_x;
	*ret_y = window->pointer_y;
	return true;
}

static void point(struct window *window, GdkEvent *event, enum weft_viewer_action action)
{
	struct weft_viewer_pointer pointer = {
		.action = (uint8_t)action,
		.modifiers = modifiers_of(gdk_event_get_modifier_state(event)),
	};
	GdkEventType type = gdk_event_get_event_type(event);
	if (type == GDK_BUTTON_PRESS || type == GDK_BUTTON_RELEASE)
		pointer.button = (uint8_t)gdk_button_event_get_button(event);
	if (gdk_event_get_event_sequence(event)) {
		pointer.is_touch = true;
		pointer.button = action == WEFT_VIEWER_PRESS || action == WEFT_VIEWER_RELEASE;
		pointer.id = (uint32_t)(uintptr_t)gdk_event_get_event_sequence(event);
	}
	if (!position(window, event, &pointer.x, &pointer.y) && action != WEFT_VIEWER_LEAVE)
		return;
	weft_viewer_pointer(window->viewer, &pointer, window_now());
}

static void scroll(struct window *window, GdkEvent *event)
{
	double x, y, dx = 0, dy = 0;
	if (!position(window, event, &x, &y))
		return;
	switch (gdk_scroll_event_get_direction(event)) {
	case GDK_SCROLL_UP:
		dy = -NOTCH;
		break;
	case GDK_SCROLL_DOWN:
		dy = NOTCH;
		break;
	case GDK_SCROLL_LEFT:
		dx = -NOTCH;
		break;
	case GDK_SCROLL_RIGHT:
		dx = NOTCH;
		break;
	case GDK_SCROLL_SMOOTH:
		gdk_scroll_event_get_deltas(event, &dx, &dy);
		if (gdk_scroll_event_get_unit(event) == GDK_SCROLL_UNIT_WHEEL) {
			dx *= NOTCH;
			dy *= NOTCH;
		}
		break;
	}
	weft_viewer_wheel(window->viewer, x, y, dx, dy,
		modifiers_of(gdk_event_get_modifier_state(event)), window_now());
}

static void pinch(struct window *window, GdkEvent *event)
{
	double x, y, scale;
	GdkTouchpadGesturePhase phase = gdk_touchpad_event_get_gesture_phase(event);
	if (phase == GDK_TOUCHPAD_GESTURE_PHASE_BEGIN)
		window->pinch = 1;
	if (phase != GDK_TOUCHPAD_GESTURE_PHASE_UPDATE || !position(window, event, &x, &y))
		return;
	/* GTK's scale counts from the gesture's beginning. */
	scale = gdk_touchpad_event_get_pinch_scale(event);
	if (scale > 0 && window->pinch > 0)
		weft_viewer_pinch(window->viewer, x, y, scale / window->pinch, window_now());
	window->pinch = scale;
}

static gboolean take_event(GtkEventControllerLegacy *controller, GdkEvent *event, void *context)
{
	struct window *window = context;
	(void)controller;
	switch ((int)gdk_event_get_event_type(event)) {
	case GDK_ENTER_NOTIFY:
	case GDK_MOTION_NOTIFY:
	case GDK_TOUCH_UPDATE:
		point(window, event, WEFT_VIEWER_MOVE);
		break;
	case GDK_BUTTON_PRESS:
	case GDK_TOUCH_BEGIN:
		gtk_widget_grab_focus(window->picture->widget);
		point(window, event, WEFT_VIEWER_PRESS);
		break;
	case GDK_BUTTON_RELEASE:
	case GDK_TOUCH_END:
		point(window, event, WEFT_VIEWER_RELEASE);
		break;
	case GDK_TOUCH_CANCEL:
	case GDK_GRAB_BROKEN:
		point(window, event, WEFT_VIEWER_CANCEL);
		break;
	case GDK_LEAVE_NOTIFY:
		point(window, event, WEFT_VIEWER_LEAVE);
		break;
	case GDK_SCROLL:
		scroll(window, event);
		break;
	case GDK_TOUCHPAD_PINCH:
		pinch(window, event);
		break;
	default:
		return FALSE;
	}
	window_refresh(window);
	return TRUE;
}

static void take_leave(GtkEventControllerMotion *controller, void *context)
{
	struct window *window = context;
	struct weft_viewer_pointer pointer = {.action = WEFT_VIEWER_LEAVE, .x = -1, .y = -1};
	(void)controller;
	weft_viewer_pointer(window->viewer, &pointer, window_now());
	window_refresh(window);
}

/* A key's name as in browsers; `room` holds a letter. NULL for keys that the viewer does not use.
 */
static const char *key_name(guint key, char room[8])
{
	static const struct {
		guint key;
		const char *name;
	} names[] = {
		{GDK_KEY_Left, "ArrowLeft"},
		{GDK_KEY_KP_Left, "ArrowLeft"},
		{GDK_KEY_Right, "ArrowRight"},
		{GDK_KEY_KP_Right, "ArrowRight"},
		{GDK_KEY_Up, "ArrowUp"},
		{GDK_KEY_KP_Up, "ArrowUp"},
		{GDK_KEY_Down, "ArrowDown"},
		{GDK_KEY_KP_Down, "ArrowDown"},
		{GDK_KEY_Page_Up, "PageUp"},
		{GDK_KEY_KP_Page_Up, "PageUp"},
		{GDK_KEY_Page_Down, "PageDown"},
		{GDK_KEY_KP_Page_Down, "PageDown"},
		{GDK_KEY_Home, "Home"},
		{GDK_KEY_KP_Home, "Home"},
		{GDK_KEY_End, "End"},
		{GDK_KEY_KP_End, "End"},
		{GDK_KEY_Escape, "Escape"},
		{GDK_KEY_Return, "Enter"},
		{GDK_KEY_KP_Enter, "Enter"},
		{GDK_KEY_Tab, "Tab"},
		{GDK_KEY_ISO_Left_Tab, "Tab"},
		{GDK_KEY_BackSpace, "Backspace"},
		{GDK_KEY_Delete, "Delete"},
		{GDK_KEY_F5, "F5"},
	};
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].key == key)
			return names[i].name;
	gunichar letter = gdk_keyval_to_unicode(key);
	if (letter < ' ' || letter == 127)
		return NULL;
	room[g_unichar_to_utf8(letter, room)] = '\0';
	return room;
}

/* True for keys that move between the panel's rows, or activate a row. */
static bool is_for_widgets(const char *name)
{
	static const char *const names[] = {"ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp",
		"PageDown", "Home", "End", "Tab", "Enter", " "};
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* True for keys that a focused button uses itself. */
static bool is_for_buttons(const char *name)
{
	return strcmp(name, "Tab") == 0 || strcmp(name, "Enter") == 0 || strcmp(name, " ") == 0;
}

static gboolean press_key(
	GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, void *context)
{
	struct window *window = context;
	char room[8];
	const char *name = key_name(key, room);
	(void)controller, (void)code;
	if (!name || (panel_has_focus(window->panel) && is_for_widgets(name)))
		return FALSE;
	if (controls_have_focus(window->controls) && controls_press(window->controls, name))
		return TRUE;
	if (controls_have_focus(window->controls) && is_for_buttons(name))
		return FALSE;
	if (strcmp(name, "Escape") == 0 && trace_cancel(window))
		return TRUE;
	bool goes_back = strcmp(name, "Escape") == 0 && controls_have_focus(window->controls);
	bool is_used = weft_viewer_key(window->viewer, name, modifiers_of(state), window_now());
	window_refresh(window);
	if (goes_back)
		gtk_widget_grab_focus(window->picture->widget);
	return is_used;
}

/* While the header bar has focus, letters go to the viewer, too, and Escape returns to the picture.
 */
static gboolean press_key_outside(
	GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, void *context)
{
	struct window *window = context;
	GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(window->widget));
	char room[8];
	const char *name = key_name(key, room);
	(void)controller, (void)code;
	if (!name || !focus || gtk_widget_is_ancestor(focus, window->parts) ||
		gtk_widget_get_native(focus) != GTK_NATIVE(window->widget))
		return FALSE;
	if (strcmp(name, "Escape") == 0) {
		gtk_widget_grab_focus(window->picture->widget);
		return TRUE;
	}
	if (is_for_widgets(name))
		return FALSE;
	bool is_used = weft_viewer_key(window->viewer, name, modifiers_of(state), window_now());
	window_refresh(window);
	return is_used;
}

void input_attach(struct window *window)
{
	GtkEventController *raw = gtk_event_controller_legacy_new();
	g_signal_connect(raw, "event", G_CALLBACK(take_event), window);
	gtk_widget_add_controller(window->picture->widget, raw);
	GtkEventController *motion = gtk_event_controller_motion_new();
	g_signal_connect(motion, "leave", G_CALLBACK(take_leave), window);
	gtk_widget_add_controller(window->picture->widget, motion);
	GtkEventController *key = gtk_event_controller_key_new();
	g_signal_connect(key, "key-pressed", G_CALLBACK(press_key), window);
	gtk_widget_add_controller(window->parts, key);
	GtkEventController *outside = gtk_event_controller_key_new();
	g_signal_connect(outside, "key-pressed", G_CALLBACK(press_key_outside), window);
	gtk_widget_add_controller(window->widget, outside);
}
