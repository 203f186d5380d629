/* SPDX-License-Identifier: ISC
 *
 * Panels of what can be done: the help, every line of which can be clicked, the menu of what has no
 * button, and export.
 */
#include <stdio.h>

#include "viewer/state.h"

void weft__fill_help(struct weft_viewer *viewer)
{
	for (unsigned i = 0; i < weft__key_count; i++) {
		const struct weft__key *key = &weft__keys[i];
		if (!key->name)
			continue;
		if (!key->command)
			weft__panel_add(viewer, WEFT_VIEWER_HEADING, key->name, "", "");
		else if (!key->command[0])
			weft__panel_add(viewer, WEFT_VIEWER_FACT, key->help, key->name, "");
		else
			weft__panel_add(viewer, WEFT_VIEWER_LINK, key->help, key->name, key->command);
	}
}

static void add_link(
	struct weft_viewer *viewer, const char *text, const char *key, const char *command)
{
	weft__panel_add(viewer, WEFT_VIEWER_LINK, text, key, command);
}

static void add_toggle(
	struct weft_viewer *viewer, const char *text, const char *key, const char *command, bool is_on)
{
	weft__panel_add(viewer, WEFT_VIEWER_TOGGLE, text, key, command);
	weft__panel_last(viewer)->is_selected = is_on;
}

void weft__fill_rows(struct weft_viewer *viewer)
{
	const struct weft__rows *rows = &viewer->rows;
	char text[256], command[256];
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "Height", "", "");
	add_toggle(
		viewer, "Through a lens: all rows are seen", "g", "rows lens", !viewer->view.is_plain);
	add_toggle(viewer, "Plain: rows that do not fit are scrolled", "g", "rows plain",
		viewer->view.is_plain);
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "Alike tasks", "", "");
	add_toggle(viewer, "Fold runs of them into one row", "F",
		rows->no_fold ? "fold all on" : "fold all off", !rows->no_fold);
	add_toggle(viewer, "Begin binds where they have a part", "",
		rows->no_simplify ? "simplify on" : "simplify off", !rows->no_simplify);
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "Groups", "G", "");
	add_toggle(viewer, "None", "", "group none", rows->group_by == WEFT_GROUP_BY_NONE);
	add_toggle(viewer, "By thread", "", "group thread", rows->group_by == WEFT_GROUP_BY_THREAD);
	add_toggle(viewer, "By process", "", "group process", rows->group_by == WEFT_GROUP_BY_PROCESS);
	for (uint32_t i = 0; i < viewer->layout->group_count; i++) {
		const struct weft_group *group = &viewer->layout->groups[i];
		char share[32];
		snprintf(share, sizeof(share), "%.0f %%", group->running * 100);
		weft__panel_add(viewer, WEFT_VIEWER_TOGGLE, group->name, share,
			weft__panel_format(command, "group %u", (unsigned)i + 1));
		weft__panel_last(viewer)->is_selected = !group->folded;
	}
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "Filter", "", "");
	weft__panel_add(viewer, WEFT_VIEWER_BUTTON,
		rows->filter[0] ? weft__panel_format(text, "%s", rows->filter) : "Show or hide\xe2\x80\xa6",
		"i", "filter");
	if (rows->filter[0])
		weft__panel_add(viewer, WEFT_VIEWER_BUTTON, "Show all", "", "filter off");
	add_link(viewer, "Hide the selected task's kind", "", "hide kind");
	add_link(viewer, "Pack the rows anew", "r", "repack");
}

static void add_themes(struct weft_viewer *viewer)
{
	static const char *const names[WEFT_THEMES] = {
		"Light", "Dark", "Light, for colour-blind eyes", "Dark, for colour-blind eyes"};
	char command[256];
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "Theme", "T", "");
	for (unsigned i = 0; i < WEFT_THEMES; i++) {
		weft__panel_add(viewer, WEFT_VIEWER_TOGGLE, names[i], "",
			weft__panel_format(command, "theme %s", weft_theme_name((enum weft_theme)i)));
		weft__panel_last(viewer)->is_selected = viewer->theme == (enum weft_theme)i;
	}
}

void weft__fill_menu(struct weft_viewer *viewer)
{
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "View", "", "");
	if (weft__viewer_bar_is_short(viewer)) {
		add_link(viewer, "Zoom in", "+", "zoom in");
		add_link(viewer, "Zoom out", "\xe2\x88\x92", "zoom out");
	}
	add_link(viewer, "The view after", "]", "forward");
	add_link(viewer, "Begin at an exact time\xe2\x80\xa6", "s", "start");
	add_link(viewer, "Show an exact length of time\xe2\x80\xa6", "d", "duration");
	weft__panel_add(viewer, WEFT_VIEWER_TOGGLE, "Plain rows instead of a lens", "g", "rows");
	weft__panel_last(viewer)->is_selected = viewer->view.is_plain;
	weft__panel_add(viewer, WEFT_VIEWER_TOGGLE, "Times of the day", "t", "times");
	weft__panel_last(viewer)->is_selected = viewer->clock_times;
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "Bookmarks", "", "");
	add_link(viewer, "Set a bookmark\xe2\x80\xa6", "m", "mark");
	add_link(viewer, "All bookmarks", "M", "marks");
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "Take along", "", "");
	add_link(viewer, "Copy a link to this view", "y", "copy link");
	add_link(viewer, "Copy a command line", "Y", "copy command");
	add_link(viewer, "Export\xe2\x80\xa6", "e", "panel export");
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "Trace", "", "");
	add_link(viewer, "Open another\xe2\x80\xa6", "Ctrl + O", "open trace");
	add_link(viewer, "Read it again", "F5", "reload");
	add_link(viewer, "Another window", "Ctrl + N", "window");
	if (viewer->is_live) {
		weft__panel_add(viewer, WEFT_VIEWER_TOGGLE, "Follow what is being recorded", "l", "follow");
		weft__panel_last(viewer)->is_selected = viewer->is_following;
	}
	add_themes(viewer);
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "Help", "", "");
	add_link(viewer, "All keys and gestures", "?", "panel help");
}

void weft__fill_export(struct weft_viewer *viewer)
{
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "The picture as it is", "", "");
	add_link(viewer, "SVG", "", "export svg");
	add_link(viewer, "PNG", "", "export png");
	weft__panel_add(viewer, WEFT_VIEWER_HEADING,
		viewer->range.is_set ? "The chosen range" : "The time in view", "", "");
	add_link(viewer, "A smaller trace", "", "export cut");
	weft__panel_add(viewer, WEFT_VIEWER_HEADING, "To the clipboard", "", "");
	add_link(viewer, "A link to this view", "y", "copy link");
	add_link(viewer, "A command line that draws it", "Y", "copy command");
	add_link(viewer, "A command line that opens it in a window", "", "copy window");
}
