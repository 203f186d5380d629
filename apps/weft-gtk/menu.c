/* SPDX-License-Identifier: ISC
 *
 * See menu.h. The menu is made each time that it opens, because the list of recent traces is in it.
 */
#include "menu.h"

#define RECENT_MAX 10

enum section {
	MENU_NONE,
	MENU_NARROW,
	MENU_VIEW,
	MENU_BOOKMARKS,
	MENU_TAKE,
	MENU_TRACE,
	MENU_THEME,
	MENU_HELP,
};

static const struct command {
	enum section section;
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

/* ---- Keys ---- */

/* A command's first key as GTK writes it, "<Shift>y"; NULL if it has none. */
static char *accelerator(const char *keys)
{
	bool has_control = g_str_has_prefix(keys, "Ctrl+");
	const char *key = has_control ? keys + 5 : keys;
	GdkModifierType modifiers = has_control ? GDK_CONTROL_MASK : 0;
	size_t size = strcspn(key, " ");
	if (size > 1)
		return g_strndup(key, size);
	gunichar letter = g_utf8_get_char(key);
	if (g_unichar_isupper(letter))
		modifiers |= GDK_SHIFT_MASK;
	return size ? gtk_accelerator_name(gdk_unicode_to_keyval(g_unichar_tolower(letter)), modifiers)
				: NULL;
}

void menu_add_accelerators(GtkApplication *application)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		const char *keys = commands[i].keys;
		if (commands[i].section != MENU_TRACE ||
			!(g_str_has_prefix(keys, "Ctrl+") || keys[0] == 'F'))
			continue;
		char *key = accelerator(keys);
		char *action = g_strconcat("win.command::", commands[i].command, NULL);
		gtk_application_set_accels_for_action(application, action, (const char *[]){key, NULL});
		g_free(action);
		g_free(key);
	}
}

/* ---- Recent traces ---- */

static bool is_trace(GtkRecentInfo *info)
{
	return gtk_recent_info_has_application(info, "weft-gtk") && gtk_recent_info_is_local(info);
}

static int newest_first(const void *left, const void *right)
{
	return g_date_time_compare(gtk_recent_info_get_visited((GtkRecentInfo *)right),
		gtk_recent_info_get_visited((GtkRecentInfo *)left));
}

static void add_recent(GMenu *menu, GtkRecentInfo *info)
{
	char *path = g_filename_from_uri(gtk_recent_info_get_uri(info), NULL, NULL);
	GMenuItem *entry = g_menu_item_new(gtk_recent_info_get_display_name(info), NULL);
	if (path)
		g_menu_item_set_action_and_target(entry, "win.recent", "s", path);
	g_menu_append_item(menu, entry);
	g_object_unref(entry);
	g_free(path);
}

static GMenu *recent_menu(void)
{
	GMenu *menu = g_menu_new();
	GList *items =
		g_list_sort(gtk_recent_manager_get_items(gtk_recent_manager_get_default()), newest_first);
	int count = 0;
	for (GList *item = items; item; item = item->next)
		if (count < RECENT_MAX && is_trace(item->data)) {
			add_recent(menu, item->data);
			count++;
		}
	if (!count)
		g_menu_append(menu, "No trace was opened yet", "win.none");
	g_list_free_full(items, (GDestroyNotify)gtk_recent_info_unref);
	return menu;
}

/* ---- The menu ---- */

static void add_command(GMenu *menu, const struct command *command)
{
	GMenuItem *item = g_menu_item_new(command->text, NULL);
	char *key = accelerator(command->keys);
	g_menu_item_set_action_and_target(item, "win.command", "s", command->command);
	if (key)
		g_menu_item_set_attribute(item, "accel", "s", key);
	g_menu_append_item(menu, item);
	g_object_unref(item);
	g_free(key);
}

static void add_commands(GMenu *menu, enum section section)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (commands[i].section == section)
			add_command(menu, &commands[i]);
}

/* Takes ownership of `items`. */
static void add_submenu(GMenu *menu, const char *label, GMenu *items)
{
	g_menu_append_submenu(menu, label, G_MENU_MODEL(items));
	g_object_unref(items);
}

/* A new section at the end of the menu, which borrows it. */
static GMenu *begin_section(GMenu *menu)
{
	GMenu *section = g_menu_new();
	g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
	g_object_unref(section);
	return section;
}

static GMenu *window_menu(void)
{
	GMenu *menu = g_menu_new(), *view = g_menu_new(), *themes = g_menu_new();
	GMenu *trace = begin_section(menu), *looks = begin_section(menu);
	add_commands(trace, MENU_TRACE);
	add_submenu(trace, "Recent traces", recent_menu());
	add_commands(view, MENU_NARROW);
	add_commands(view, MENU_VIEW);
	add_commands(themes, MENU_THEME);
	add_submenu(looks, "View", view);
	add_submenu(looks, "Theme", themes);
	add_commands(begin_section(menu), MENU_BOOKMARKS);
	add_commands(begin_section(menu), MENU_TAKE);
	GMenu *windows = begin_section(menu);
	g_menu_append(windows, "Windows move together", "win.together");
	g_menu_append(windows, "Full screen", "win.fullscreen");
	add_commands(begin_section(menu), MENU_HELP);
	return menu;
}

static void fill(GtkMenuButton *button, void *context)
{
	GMenu *menu = window_menu();
	(void)context;
	gtk_menu_button_set_menu_model(button, G_MENU_MODEL(menu));
	g_object_unref(menu);
}

GtkWidget *menu_button(void)
{
	static const char name[] = "Menu (F10)";
	GtkWidget *button = gtk_menu_button_new();
	gtk_widget_set_tooltip_text(button, name);
	/* The focusable widget is the button inside. */
	gtk_accessible_update_property(GTK_ACCESSIBLE(gtk_widget_get_first_child(button)),
		GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
	gtk_menu_button_set_has_frame(GTK_MENU_BUTTON(button), FALSE);
	gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "open-menu-symbolic");
	gtk_menu_button_set_create_popup_func(GTK_MENU_BUTTON(button), fill, NULL, NULL);
	gtk_menu_button_set_primary(GTK_MENU_BUTTON(button), TRUE);
	return button;
}
