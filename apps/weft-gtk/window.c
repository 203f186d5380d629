/* SPDX-License-Identifier: ISC
 *
 * See window.h. After each input the window fetches what has changed in the viewer. The frame clock
 * runs only while the viewer wants to be called again.
 */
#include "window.h"

#include <math.h>
#include <string.h>

#include "controls.h"
#include "follower.h"
#include "header.h"
#include "opening.h"
#include "panel.h"
#include "picture.h"
#include "preferences.h"
#include "prompt.h"

#define WIDTH    1400
#define HEIGHT   860
#define FRAME_MS 17.0

double window_now(void)
{
	return (double)g_get_monotonic_time() / 1000;
}

struct window *window_of(GtkWidget *widget)
{
	return g_object_get_data(G_OBJECT(gtk_widget_get_root(widget)), "window");
}

/* ---- The viewer's output ---- */

static void show_status(struct window *window)
{
	gtk_accessible_update_property(GTK_ACCESSIBLE(window->picture->widget),
		GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, weft_viewer_status(window->viewer), -1);
}

static void show_cursor(struct window *window)
{
	static const char *const names[] = {
		[WEFT_VIEWER_CURSOR_DEFAULT] = "default",
		[WEFT_VIEWER_CURSOR_POINTER] = "pointer",
		[WEFT_VIEWER_CURSOR_GRABBING] = "grabbing",
		[WEFT_VIEWER_CURSOR_RESIZE] = "ew-resize",
		[WEFT_VIEWER_CURSOR_CROSSHAIR] = "crosshair",
		[WEFT_VIEWER_CURSOR_RESIZE_ROWS] = "ns-resize",
	};
	gtk_widget_set_cursor_from_name(
		window->picture->widget, names[weft_viewer_cursor(window->viewer)]);
}

static void show_controls(struct window *window)
{
	controls_update(window->controls);
	header_update(window->header);
}

static void fetch_changes(struct window *window)
{
	unsigned changes = weft_viewer_changes(window->viewer);
	if (changes & (WEFT_VIEWER_CANVAS | WEFT_VIEWER_BOXES))
		picture_redraw(window->picture);
	if (changes & WEFT_VIEWER_BOXES)
		gtk_widget_queue_resize(window->parts);
	if (changes & WEFT_VIEWER_CONTROLS)
		show_controls(window);
	if (changes & (WEFT_VIEWER_PANEL | WEFT_VIEWER_BOXES))
		panel_update(window->panel);
	if (changes & WEFT_VIEWER_PROMPT)
		prompt_update(window->prompt);
	if (changes & WEFT_VIEWER_STATUS)
		show_status(window);
	if (changes & WEFT_VIEWER_CURSOR)
		show_cursor(window);
	if (changes & WEFT_VIEWER_REQUEST)
		requests_execute(window);
}

/* ---- The viewer's time ---- */

static gboolean tick(GtkWidget *widget, GdkFrameClock *clock, void *context);

static void want_ticks(struct window *window)
{
	if (!window->tick)
		window->tick = gtk_widget_add_tick_callback(window->picture->widget, tick, window, NULL);
}

static gboolean end_pause(void *context)
{
	struct window *window = context;
	window->timer = 0;
	want_ticks(window);
	return G_SOURCE_REMOVE;
}

static gboolean tick(GtkWidget *widget, GdkFrameClock *clock, void *context)
{
	struct window *window = context;
	int64_t start = follower_used_us();
	double wait = weft_viewer_advance(window->viewer, window_now());
	(void)widget, (void)clock;
	window->busy_us += follower_used_us() - start + window->picture->drawn_us;
	window->picture->drawn_us = 0;
	fetch_changes(window);
	together_follow(window);
	if (wait < FRAME_MS)
		return G_SOURCE_CONTINUE;
	window->tick = 0;
	if (isfinite(wait) && !window->timer)
		window->timer = g_timeout_add((guint)fmin(wait, 1e6), end_pause, window);
	return G_SOURCE_REMOVE;
}

static void end_waiting(struct window *window)
{
	if (window->timer)
		g_source_remove(window->timer);
	window->timer = 0;
	want_ticks(window);
}

void window_refresh(struct window *window)
{
	end_waiting(window);
	fetch_changes(window);
}

void window_show_text(struct window *window, const char *words)
{
	weft_viewer_show_text(window->viewer, words, -1);
	window_refresh(window);
}

void window_command(struct window *window, const char *command)
{
	weft_viewer_command(window->viewer, command, window_now());
	window_refresh(window);
}

/* ---- The window's parts ---- */

/* GTK is giving widgets their sizes: what else has changed is shown by the next tick, as the header
 * may change its own. */
static void resize(GtkDrawingArea *area, int width, int height, void *context)
{
	struct window *window = context;
	double zoom = window->picture->zoom;
	(void)area;
	weft_viewer_resize(window->viewer, width / zoom, height / zoom, window_now());
	end_waiting(window);
}

static void change_text_scale(GObject *settings, GParamSpec *property, void *context)
{
	GtkWidget *area = context;
	struct window *window = gtk_widget_get_root(area) ? window_of(area) : NULL;
	(void)settings, (void)property;
	if (!window)
		return;
	window->picture->zoom = look_text_scale();
	resize(NULL, gtk_widget_get_width(area), gtk_widget_get_height(area), window);
}

/* The viewer decides where the panel is; the prompt is above the picture's middle. */
static gboolean place_child(
	GtkOverlay *overlay, GtkWidget *child, GdkRectangle *ret_box, void *context)
{
	struct window *window = context;
	struct weft_viewer_boxes boxes;
	double zoom = window->picture->zoom;
	(void)overlay;
	if (controls_place(window->controls, child, ret_box))
		return TRUE;
	if (child != window->panel->widget)
		return FALSE;
	weft_viewer_boxes(window->viewer, &boxes);
	int x = (int)lround(boxes.panel.x * zoom), y = (int)lround(boxes.panel.y * zoom);
	*ret_box = (GdkRectangle){x, y, (int)lround((boxes.panel.x + boxes.panel.width) * zoom) - x,
		(int)lround((boxes.panel.y + boxes.panel.height) * zoom) - y};
	return TRUE;
}

static void create_parts(struct window *window)
{
	window->parts = gtk_overlay_new();
	window->picture = picture_create(window->viewer, window->pango);
	window->picture->zoom = look_text_scale();
	g_signal_connect(window->picture->widget, "resize", G_CALLBACK(resize), window);
	gtk_overlay_set_child(GTK_OVERLAY(window->parts), window->picture->widget);
	window->controls = controls_create(window);
	window->panel = panel_create(window);
	gtk_overlay_add_overlay(GTK_OVERLAY(window->parts), window->panel->widget);
	window->prompt = prompt_create(window);
	gtk_overlay_add_overlay(GTK_OVERLAY(window->parts), window->prompt->widget);
	g_signal_connect(window->parts, "get-child-position", G_CALLBACK(place_child), window);
	g_signal_connect_object(gtk_settings_get_default(), "notify::gtk-xft-dpi",
		G_CALLBACK(change_text_scale), window->picture->widget, 0);
	gtk_widget_set_vexpand(window->parts, TRUE);
}

static void close_notice(GtkInfoBar *bar, int response, void *context)
{
	(void)response, (void)context;
	gtk_info_bar_set_revealed(bar, FALSE);
}

static void create_notice(struct window *window)
{
	window->notice = gtk_info_bar_new();
	window->notice_text = gtk_label_new("");
	gtk_label_set_wrap(GTK_LABEL(window->notice_text), TRUE);
	gtk_label_set_xalign(GTK_LABEL(window->notice_text), 0);
	gtk_label_set_selectable(GTK_LABEL(window->notice_text), TRUE);
	gtk_info_bar_add_child(GTK_INFO_BAR(window->notice), window->notice_text);
	gtk_info_bar_set_message_type(GTK_INFO_BAR(window->notice), GTK_MESSAGE_WARNING);
	gtk_info_bar_set_show_close_button(GTK_INFO_BAR(window->notice), TRUE);
	gtk_info_bar_set_revealed(GTK_INFO_BAR(window->notice), FALSE);
	g_signal_connect(window->notice, "response", G_CALLBACK(close_notice), NULL);
}

/* True for a tablet without a mouse. */
static bool is_touched(void)
{
	GdkSeat *seat = gdk_display_get_default_seat(gdk_display_get_default());
	GdkSeatCapabilities has = seat ? gdk_seat_get_capabilities(seat) : GDK_SEAT_CAPABILITY_NONE;
	return (has & GDK_SEAT_CAPABILITY_TOUCH) && !(has & GDK_SEAT_CAPABILITY_POINTER);
}

static void create_widgets(struct window *window)
{
	window->widget = gtk_application_window_new(window->application);
	gtk_window_set_default_size(GTK_WINDOW(window->widget), WIDTH, HEIGHT);
	gtk_window_set_icon_name(GTK_WINDOW(window->widget), "org.weft.Viewer");
	create_parts(window);
	create_notice(window);
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	gtk_box_append(GTK_BOX(box), window->notice);
	gtk_box_append(GTK_BOX(box), window->parts);
	gtk_window_set_child(GTK_WINDOW(window->widget), box);
	actions_add(window);
	window->header = header_create(window);
	if (is_touched())
		gtk_widget_add_css_class(window->header->widget, "weft-touch");
	gtk_window_set_titlebar(GTK_WINDOW(window->widget), window->header->widget);
	input_attach(window);
	gtk_window_set_focus(GTK_WINDOW(window->widget), window->picture->widget);
}

/* "trace.weft", or "trace.weft and 2 more". */
static char *make_title(char **paths)
{
	if (!paths || !paths[0])
		return g_strdup("weft");
	char *name = g_filename_display_basename(paths[0]);
	guint more = g_strv_length(paths) - 1;
	if (!more)
		return name;
	char *title = g_strdup_printf("%s and %u more", name, more);
	g_free(name);
	return title;
}

static void name(struct window *window)
{
	char *title = make_title(window->paths);
	char *label = g_strdup_printf("Picture of %s", title);
	gtk_window_set_title(GTK_WINDOW(window->widget), title);
	header_set_name(window->header, title);
	gtk_accessible_update_property(
		GTK_ACCESSIBLE(window->picture->widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
	g_free(label);
	g_free(title);
}

/* ---- Creation and destruction ---- */

static bool reduces_motion(void)
{
	gboolean has_animations = TRUE;
	g_object_get(gtk_settings_get_default(), "gtk-enable-animations", &has_animations, NULL);
	return !has_animations;
}

static void create_viewer(struct window *window, const struct window_options *options)
{
	if (weft_cairo_font_create(&window->pango))
		g_error("out of memory");
	window->font = weft_cairo_font_interface(window->pango);
	char *title = make_title(options->paths);
	struct weft_viewer_options viewer = {
		.theme = options->theme,
		.title = title,
		.path = options->paths ? options->paths[0] : NULL,
		.font = &window->font,
		.reduced_motion = reduces_motion(),
		.is_touched = is_touched(),
		.has_wasd = preferences_have_wasd(),
		.has_header = true,
	};
	if (weft_viewer_create(&viewer, &window->viewer))
		g_error("out of memory");
	g_free(title);
}

static void stop(GtkWidget *widget, void *context)
{
	struct window *window = context;
	(void)widget;
	together_remove(window);
	trace_stop(window);
	if (window->timer)
		g_source_remove(window->timer);
	window->timer = 0;
}

/* Called after the last widget was destroyed, because widgets may send signals until then. */
static void destroy(void *context)
{
	struct window *window = context;
	weft_viewer_destroy(window->viewer);
	weft_cairo_font_destroy(window->pango);
	g_free(window->controls);
	g_free(window->header);
	g_free(window->panel);
	g_free(window->prompt);
	g_strfreev(window->paths);
	g_free(window->command);
	g_free(window->theme_class);
	g_free(window->link);
	g_free(window);
}

struct window *window_open(GtkApplication *application, const struct window_options *options)
{
	struct window *window = g_new0(struct window, 1);
	window->application = application;
	window->paths = g_strdupv(options->paths);
	window->path = window->paths ? window->paths[0] : NULL;
	window->pid = options->pid;
	window->command = g_strdup(options->command);
	window->is_followed = options->is_followed;
	create_viewer(window, options);
	create_widgets(window);
	g_signal_connect(window->widget, "destroy", G_CALLBACK(stop), window);
	g_object_set_data_full(G_OBJECT(window->widget), "window", window, destroy);
	look_apply(window, weft_theme_name(options->theme));
	together_add(window);
	name(window);
	if (window->path)
		trace_begin(window, options->loading);
	else
		window_show_text(window, "Open a trace, or drop one here.");
	gtk_window_present(GTK_WINDOW(window->widget));
	return window;
}

bool window_has_file(const struct window *window)
{
	return window->path && strcmp(window->path, "-") != 0 && !opening_is_several(window->paths);
}

struct window *window_open_like(const struct window *window, char **paths, const char *command)
{
	pid_t pid = paths == window->paths ? window->pid : 0;
	struct window_options options = {.paths = paths, .pid = pid, .command = command};
	for (int theme = 0; theme < WEFT_THEMES; theme++)
		if (g_str_has_suffix(window->theme_class, weft_theme_name((enum weft_theme)theme)))
			options.theme = (enum weft_theme)theme;
	return window_open(window->application, &options);
}
