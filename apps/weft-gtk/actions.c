/* SPDX-License-Identifier: ISC
 *
 * Actions of a window besides the viewer's commands: its keys, and opening files by dialog, by drop
 * or from the list of recent files.
 */
#include "window.h"

#include "menu.h"
#include "panel.h"
#include "picture.h"

/* ---- Opening ---- */

static void open_paths(struct window *window, char **paths)
{
	/* An empty window that is not loading is closed. */
	bool is_spare = !window->is_shown && !window->loading && !window->follower;
	window_open_like(window, paths, NULL);
	if (is_spare)
		gtk_window_destroy(GTK_WINDOW(window->widget));
}

/* Several files are one trace. */
void actions_open_files(struct window *window, GListModel *files)
{
	GStrvBuilder *builder = g_strv_builder_new();
	for (guint i = 0; i < g_list_model_get_n_items(files); i++) {
		GFile *file = g_list_model_get_item(files, i);
		if (g_file_peek_path(file))
			g_strv_builder_add(builder, g_file_peek_path(file));
		g_object_unref(file);
	}
	char **paths = g_strv_builder_end(builder);
	g_strv_builder_unref(builder);
	if (paths[0])
		open_paths(window, paths);
	g_strfreev(paths);
}

static gboolean drop(GtkDropTarget *target, const GValue *value, double x, double y, void *context)
{
	struct window *window = context;
	GSList *dropped = gdk_file_list_get_files(g_value_get_boxed(value));
	GListStore *files = g_list_store_new(G_TYPE_FILE);
	(void)target, (void)x, (void)y;
	for (GSList *file = dropped; file; file = file->next)
		g_list_store_append(files, file->data);
	g_slist_free(dropped);
	actions_open_files(window, G_LIST_MODEL(files));
	g_object_unref(files);
	return TRUE;
}

/* ---- Actions of a window ---- */

static void open_recent(GSimpleAction *action, GVariant *parameter, void *context)
{
	(void)action;
	char *path = g_variant_dup_string(parameter, NULL), *paths[] = {path, NULL};
	open_paths(context, paths);
	g_free(path);
}

static void fullscreen(GSimpleAction *action, GVariant *parameter, void *context)
{
	struct window *window = context;
	(void)action, (void)parameter;
	if (gtk_window_is_fullscreen(GTK_WINDOW(window->widget)))
		gtk_window_unfullscreen(GTK_WINDOW(window->widget));
	else
		gtk_window_fullscreen(GTK_WINDOW(window->widget));
}

static void other_part(GSimpleAction *action, GVariant *parameter, void *context)
{
	struct window *window = context;
	(void)action, (void)parameter;
	if (panel_has_focus(window->panel) || !panel_take_focus(window->panel))
		gtk_widget_grab_focus(window->picture->widget);
}

static void run_command(GSimpleAction *action, GVariant *parameter, void *context)
{
	(void)action;
	window_command(context, g_variant_get_string(parameter, NULL));
}

static void move_together(GSimpleAction *action, GVariant *state, void *context)
{
	g_simple_action_set_state(action, state);
	together_set(context, g_variant_get_boolean(state));
}

void actions_add(struct window *window)
{
	static const GActionEntry actions[] = {
		{.name = "recent", .activate = open_recent, .parameter_type = "s"},
		{.name = "fullscreen", .activate = fullscreen},
		{.name = "other-part", .activate = other_part},
		{.name = "command", .activate = run_command, .parameter_type = "s"},
		{.name = "together", .state = "false", .change_state = move_together},
	};
	g_action_map_add_action_entries(
		G_ACTION_MAP(window->widget), actions, G_N_ELEMENTS(actions), window);
	GtkDropTarget *target = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
	g_signal_connect(target, "drop", G_CALLBACK(drop), window);
	gtk_widget_add_controller(window->parts, GTK_EVENT_CONTROLLER(target));
}

static void quit(GSimpleAction *action, GVariant *parameter, void *application)
{
	(void)action, (void)parameter;
	g_application_quit(G_APPLICATION(application));
}

void actions_add_to_application(GtkApplication *application)
{
	static const GActionEntry actions[] = {{.name = "quit", .activate = quit}};
	static const struct {
		const char *action, *keys[2];
	} keys[] = {
		{"app.quit", {"<Control>q", NULL}},
		{"window.close", {"<Control>w", NULL}},
		{"win.fullscreen", {"F11", NULL}},
		{"win.other-part", {"F6", NULL}},
	};
	g_action_map_add_action_entries(
		G_ACTION_MAP(application), actions, G_N_ELEMENTS(actions), application);
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		gtk_application_set_accels_for_action(application, keys[i].action, keys[i].keys);
	menu_add_accelerators(application);
}
