/* SPDX-License-Identifier: ISC
 *
 * See window.h. After each input the viewer is asked what has changed; the frame clock runs only
 * while the viewer wants to be told the time.
 */
#include "window.h"

#include <inttypes.h>
#include <math.h>

#define WIDTH       1400
#define HEIGHT      860 /* with a header bar: a picture of 800 */
#define FRAME_MS    17.0
#define PROGRESS_MS 100

double window_now(void)
{
	return (double)g_get_monotonic_time() / 1000;
}

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
	};
	gtk_widget_set_cursor_from_name(
		window->picture->widget, names[weft_viewer_cursor(window->viewer)]);
}

static void fetch_changes(struct window *window)
{
	unsigned changes = weft_viewer_changes(window->viewer);
	if (changes & (WEFT_VIEWER_CANVAS | WEFT_VIEWER_BOXES))
		picture_redraw(window->picture);
	if (changes & WEFT_VIEWER_STATUS)
		show_status(window);
	if (changes & WEFT_VIEWER_CURSOR)
		show_cursor(window);
}

static gboolean tick(GtkWidget *widget, GdkFrameClock *clock, void *context)
{
	struct window *window = context;
	double wait = weft_viewer_advance(window->viewer, window_now());
	(void)widget, (void)clock;
	fetch_changes(window);
	if (wait < FRAME_MS)
		return G_SOURCE_CONTINUE;
	window->tick = 0;
	if (isfinite(wait) && !window->timer)
		window->timer = g_timeout_add((guint)fmin(wait, 1e6), end_pause, window);
	return G_SOURCE_REMOVE;
}

void window_refresh(struct window *window)
{
	if (window->timer)
		g_source_remove(window->timer);
	window->timer = 0;
	want_ticks(window);
	fetch_changes(window);
}

static void resize(GtkDrawingArea *area, int width, int height, void *context)
{
	struct window *window = context;
	(void)area;
	weft_viewer_resize(window->viewer, width / window->picture->zoom,
		height / window->picture->zoom, window_now());
	window_refresh(window);
}

static gboolean show_progress(void *context)
{
	struct window *window = context;
	uint64_t events = loading_events(window->loading);
	char *name = g_path_get_basename(window->path);
	char *text =
		events ? g_strdup_printf("Reading %s: %.1f million events", name, (double)events / 1e6)
			   : g_strdup_printf("Reading %s", name);
	weft_viewer_say(window->viewer, text, -1);
	g_free(text);
	g_free(name);
	window_refresh(window);
	return G_SOURCE_CONTINUE;
}

static void end_loading(struct window *window)
{
	if (window->loading_timer)
		g_source_remove(window->loading_timer);
	window->loading_timer = 0;
	loading_abandon(window->loading);
	window->loading = NULL;
}

static void show_trace(struct window *window, struct loading *loading)
{
	struct weft_model *model = loading_take_model(loading);
	int error = weft_viewer_show(window->viewer, model, false);
	if (error) {
		weft_model_destroy(model);
		weft_viewer_say(window->viewer, weft_error_text(error), -1);
		return;
	}
	weft_viewer_say(window->viewer, "", -1);
	if (window->command)
		weft_viewer_command(window->viewer, window->command, window_now());
	g_clear_pointer(&window->command, g_free);
}

static void take_trace(struct loading *loading, void *context)
{
	struct window *window = context;
	if (loading_error(loading))
		weft_viewer_say(window->viewer, loading_error(loading), -1);
	else
		show_trace(window, loading);
	end_loading(window);
	window_refresh(window);
}

static void await(struct window *window, struct loading *loading)
{
	end_loading(window);
	window->loading = loading;
	loading_notify(loading, take_trace, window);
	window->loading_timer = g_timeout_add(PROGRESS_MS, show_progress, window);
}

void window_reload(struct window *window)
{
	if (window->path)
		await(window, loading_start(window->path));
}

static void stop(GtkWidget *widget, void *context)
{
	struct window *window = context;
	(void)widget;
	end_loading(window);
	if (window->timer)
		g_source_remove(window->timer);
	window->timer = 0;
}

/* When the last widget is gone, which may still have sent signals. */
static void destroy(void *context)
{
	struct window *window = context;
	weft_viewer_destroy(window->viewer);
	weft_cairo_font_destroy(window->pango);
	g_free(window->path);
	g_free(window->command);
	g_free(window);
}

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
	char *title = options->path ? g_filename_display_basename(options->path) : g_strdup("weft");
	struct weft_viewer_options viewer = {
		.theme = options->theme,
		.title = title,
		.path = options->path,
		.font = &window->font,
		.reduced_motion = reduces_motion(),
	};
	if (weft_viewer_create(&viewer, &window->viewer))
		g_error("out of memory");
	g_free(title);
}

static void create_widgets(struct window *window)
{
	window->widget = gtk_application_window_new(window->application);
	char *title = window->path ? g_filename_display_basename(window->path) : g_strdup("weft");
	gtk_window_set_title(GTK_WINDOW(window->widget), title);
	g_free(title);
	gtk_window_set_default_size(GTK_WINDOW(window->widget), WIDTH, HEIGHT);
	window->picture = picture_create(window->viewer, window->pango);
	g_signal_connect(window->picture->widget, "resize", G_CALLBACK(resize), window);
	gtk_window_set_child(GTK_WINDOW(window->widget), window->picture->widget);
	input_attach(window, window->picture->widget);
	g_signal_connect(window->widget, "destroy", G_CALLBACK(stop), window);
	g_object_set_data_full(G_OBJECT(window->widget), "window", window, destroy);
}

struct window *window_open(GtkApplication *application, const struct window_options *options)
{
	struct window *window = g_new0(struct window, 1);
	window->application = application;
	window->path = g_strdup(options->path);
	window->command = g_strdup(options->command);
	create_viewer(window, options);
	create_widgets(window);
	if (options->loading)
		await(window, options->loading);
	else
		window_reload(window);
	gtk_window_present(GTK_WINDOW(window->widget));
	return window;
}
