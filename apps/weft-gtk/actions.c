/* SPDX-License-Identifier: ISC
 *
 * Actions of a window besides the viewer's commands: the header bar with its menu, keys, and
 * opening files by dialog, by drop or from the list of recent files.
 */
#include "window.h"

#include "panel.h"
#include "picture.h"

#define RECENT_MAX 10

/* ---- The viewer's commands ---- */

enum menu {
	MENU_NONE,
	MENU_NARROW,
	MENU_VIEW,
	MENU_BOOKMARKS,
	MENU_TAKE,
	MENU_TRACE,
	MENU_THEME,
	MENU_HELP,
};

static const struct {
	enum menu menu;
	const char *command, *keys, *text;
} commands[] = {
#define HEADING(text)
#define GESTURE(name, text)
#define COMMAND(command, function, needs, keys, menu, state, text) \
	{MENU_##menu, command, keys, text},
#include <weft/viewer_commands.def>
#undef COMMAND
#undef GESTURE
#undef HEADING
};

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

/* The viewer's commands of the menu whose keys work wherever the keyboard is. */
static void add_accelerators(GtkApplication *application)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		bool has_control = g_str_has_prefix(commands[i].keys, "Ctrl+");
		if (commands[i].menu != MENU_TRACE || !(has_control || commands[i].keys[0] == 'F'))
			continue;
		char *key = has_control ? g_strconcat("<Control>", commands[i].keys + 5, NULL)
								: g_strdup(commands[i].keys);
		char *action = g_strconcat("win.command::", commands[i].command, NULL);
		gtk_application_set_accels_for_action(application, action, (const char *[]){key, NULL});
		g_free(action);
		g_free(key);
	}
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
	add_accelerators(application);
}

/* ---- The header bar ---- */

static bool is_trace(GtkRecentInfo *info)
{
	return gtk_recent_info_has_application(info, "weft-gtk") && gtk_recent_info_is_local(info);
}

static int newest_first(const void *left, const void *right)
{
	return g_date_time_compare(gtk_recent_info_get_visited((GtkRecentInfo *)right),
		gtk_recent_info_get_visited((GtkRecentInfo *)left));
}

static GMenu *recent_menu(void)
{
	GMenu *menu = g_menu_new();
	GList *items =
		g_list_sort(gtk_recent_manager_get_items(gtk_recent_manager_get_default()), newest_first);
	int count = 0;
	for (GList *item = items; item; item = item->next) {
		if (count == RECENT_MAX || !is_trace(item->data))
			continue;
		char *path = g_filename_from_uri(gtk_recent_info_get_uri(item->data), NULL, NULL);
		GMenuItem *entry = g_menu_item_new(gtk_recent_info_get_display_name(item->data), NULL);
		if (path)
			g_menu_item_set_action_and_target(entry, "win.recent", "s", path);
		g_menu_append_item(menu, entry);
		g_object_unref(entry);
		g_free(path);
		count++;
	}
	g_list_free_full(items, (GDestroyNotify)gtk_recent_info_unref);
	return menu;
}

static void fill_recent(GtkMenuButton *button, void *context)
{
	GMenu *menu = recent_menu();
	(void)context;
	if (g_menu_model_get_n_items(G_MENU_MODEL(menu)) == 0)
		g_menu_append(menu, "No trace was opened yet", "win.none");
	gtk_menu_button_set_menu_model(button, G_MENU_MODEL(menu));
	g_object_unref(menu);
}

static void add_command(GMenu *menu, const char *label, const char *command)
{
	GMenuItem *item = g_menu_item_new(label, NULL);
	g_menu_item_set_action_and_target(item, "win.command", "s", command);
	g_menu_append_item(menu, item);
	g_object_unref(item);
}

static void add_section(GMenu *menu, enum menu section)
{
	GMenu *items = g_menu_new();
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (commands[i].menu == section)
			add_command(items, commands[i].text, commands[i].command);
	g_menu_append_section(menu, NULL, G_MENU_MODEL(items));
	g_object_unref(items);
}

/* Sections with many commands are a menu of their own. */
static void add_submenu(GMenu *menu, const char *label, enum menu section)
{
	GMenu *items = g_menu_new();
	add_section(items, section);
	g_menu_append_submenu(menu, label, G_MENU_MODEL(items));
	g_object_unref(items);
}

static GMenu *window_menu(void)
{
	GMenu *menu = g_menu_new(), *windows = g_menu_new(), *looks = g_menu_new();
	add_submenu(looks, "View", MENU_VIEW);
	add_submenu(looks, "Theme", MENU_THEME);
	g_menu_append_section(menu, NULL, G_MENU_MODEL(looks));
	add_section(menu, MENU_BOOKMARKS);
	add_section(menu, MENU_TAKE);
	add_section(menu, MENU_TRACE);
	g_menu_append(windows, "Windows move together", "win.together");
	g_menu_append(windows, "Full screen", "win.fullscreen");
	g_menu_append_section(menu, NULL, G_MENU_MODEL(windows));
	add_section(menu, MENU_HELP);
	g_object_unref(looks);
	g_object_unref(windows);
	return menu;
}

/* The focusable widget is the button inside. */
static void name_button(GtkWidget *button, const char *name)
{
	gtk_widget_set_tooltip_text(button, name);
	gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
	gtk_accessible_update_property(GTK_ACCESSIBLE(gtk_widget_get_first_child(button)),
		GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

GtkWidget *actions_header(void)
{
	GtkWidget *bar = gtk_header_bar_new();
	GtkWidget *open = gtk_button_new_with_label("Open");
	gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(open), "win.command::open trace");
	gtk_widget_set_tooltip_text(open, "Open a trace (Ctrl+O)");
	GtkWidget *recent = gtk_menu_button_new();
	name_button(recent, "Recent traces");
	gtk_menu_button_set_create_popup_func(GTK_MENU_BUTTON(recent), fill_recent, NULL, NULL);
	GtkWidget *both = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
	gtk_widget_add_css_class(both, "linked");
	gtk_box_append(GTK_BOX(both), open);
	gtk_box_append(GTK_BOX(both), recent);
	gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), both);
	GtkWidget *more = gtk_menu_button_new();
	name_button(more, "Menu (F10)");
	GMenu *menu = window_menu();
	gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(more), "open-menu-symbolic");
	gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(more), G_MENU_MODEL(menu));
	gtk_menu_button_set_primary(GTK_MENU_BUTTON(more), TRUE);
	g_object_unref(menu);
	gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), more);
	return bar;
}
