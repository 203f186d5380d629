/* SPDX-License-Identifier: ISC
 *
 * Panels of commands: the help, the menu, rows and export. Texts and keys are those of
 * include/weft/viewer_commands.def.
 */
#include <stdio.h>

#include "viewer/commands/commands.h"
#include "viewer/state.h"

static void add_heading(struct weft_viewer *viewer, const char *text)
{
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, text, "", "");
}

static void add_key(struct weft_viewer *viewer, const struct weft__command *row)
{
	char key[WEFT__KEY_BYTES];
	if (weft__viewer_key_name(viewer, row, key)[0])
		weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK, row->text, key, row->command);
}

/* Each line of the help runs its command. The keys with which a question is answered come first. */
void weft__viewer_fill_help(struct weft_viewer *viewer)
{
	static const char *const first[] = {
		"problem next", "open", "wait", "waker", "search", "zoom selection", "back", "fit"};
	add_heading(viewer, "Begin with these");
	for (unsigned i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		add_key(viewer, weft__viewer_command_row(first[i]));
	for (unsigned i = 0; i < weft__command_count; i++) {
		const struct weft__command *row = &weft__commands[i];
		if (!row->keys)
			add_heading(viewer, row->text);
		else if (!row->command)
			weft__viewer_panel_add(viewer, WEFT_VIEWER_FACT, row->text, row->keys, "");
		else
			add_key(viewer, row);
	}
}

/* Adds a toggle whose command takes "on" or "off". */
static void add_switch(struct weft_viewer *viewer, const char *command)
{
	char text[256];
	weft__viewer_panel_add_command(viewer, command, NULL);
	bool is_on = weft__viewer_panel_last(viewer)->is_selected;
	weft__viewer_panel_set_command(
		viewer, weft__viewer_panel_format(text, "%s %s", command, is_on ? "off" : "on"));
}

static bool have_several_hosts(const struct weft_model *model)
{
	for (uint32_t i = 1; i < model->buffer_count; i++)
		if (weft_trace_first_of_host(model->buffers, model->buffer_count, i))
			return true;
	return false;
}

static void add_groups(struct weft_viewer *viewer)
{
	char command[256], share[32];
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, "Groups", "G", "");
	weft__viewer_panel_add_command(viewer, "group none", NULL);
	weft__viewer_panel_add_command(viewer, "group thread", NULL);
	weft__viewer_panel_add_command(viewer, "group process", NULL);
	if (have_several_hosts(viewer->model))
		weft__viewer_panel_add_command(viewer, "group host", NULL);
	for (uint32_t i = 0; i < viewer->layout->group_count; i++) {
		const struct weft_group *group = &viewer->layout->groups[i];
		snprintf(share, sizeof(share), "%.0f %%", group->running * 100);
		weft__viewer_panel_add(viewer, WEFT_VIEWER_TOGGLE, group->name, share,
			weft__viewer_panel_format(command, "group %u", (unsigned)i + 1));
		weft__viewer_panel_last(viewer)->is_selected = !group->folded;
	}
}

void weft__viewer_fill_rows(struct weft_viewer *viewer)
{
	const char *filter = viewer->rows.filter;
	char text[256];
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, "Height", "g", "");
	weft__viewer_panel_add_command(viewer, "rows lens", NULL);
	weft__viewer_panel_add_command(viewer, "rows plain", NULL);
	add_heading(viewer, "Alike tasks");
	add_switch(viewer, "fold all");
	add_switch(viewer, "simplify");
	add_groups(viewer);
	add_heading(viewer, "Filter");
	weft__viewer_panel_add_command(
		viewer, "filter", filter[0] ? weft__viewer_panel_format(text, "%s", filter) : NULL);
	weft__viewer_panel_last(viewer)->type = WEFT_VIEWER_BUTTON;
	if (filter[0]) {
		weft__viewer_panel_add_command(viewer, "filter off", NULL);
		weft__viewer_panel_last(viewer)->type = WEFT_VIEWER_BUTTON;
	}
	weft__viewer_panel_add_command(viewer, "hide kind", NULL);
	weft__viewer_panel_add_command(viewer, "repack", NULL);
}

static void add_section(struct weft_viewer *viewer, enum weft__menu menu)
{
	for (unsigned i = 0; i < weft__command_count; i++) {
		const struct weft__command *row = &weft__commands[i];
		bool is_idle = row->needs == WEFT__NEEDS_LIVE && !viewer->is_live;
		if (row->command && row->menu == menu && !is_idle)
			weft__viewer_panel_add_command(viewer, row->command, NULL);
	}
}

void weft__viewer_fill_menu(struct weft_viewer *viewer)
{
	static const struct {
		enum weft__menu menu;
		const char *heading;
	} sections[] = {{WEFT__MENU_VIEW, "View"}, {WEFT__MENU_BOOKMARKS, "Bookmarks"},
		{WEFT__MENU_TAKE, "Copy and export"}, {WEFT__MENU_TRACE, "Trace"},
		{WEFT__MENU_THEME, "Theme"}, {WEFT__MENU_HELP, "Help"}};
	for (unsigned i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		add_heading(viewer, sections[i].heading);
		if (sections[i].menu == WEFT__MENU_VIEW && viewer->toolbar.is_short)
			add_section(viewer, WEFT__MENU_NARROW);
		add_section(viewer, sections[i].menu);
	}
}

void weft__viewer_fill_export(struct weft_viewer *viewer)
{
	add_heading(viewer, "To a file");
	weft__viewer_panel_add_command(viewer, "export svg", NULL);
	weft__viewer_panel_add_command(viewer, "export png", NULL);
	weft__viewer_panel_add_command(viewer, "export cut",
		viewer->range.is_set ? "Save the range as a smaller trace"
							 : "Save the time in view as a smaller trace");
	add_heading(viewer, "To the clipboard");
	weft__viewer_panel_add_command(viewer, "copy link", NULL);
	weft__viewer_panel_add_command(viewer, "copy command", NULL);
	weft__viewer_panel_add_command(viewer, "copy window", NULL);
}
