/* SPDX-License-Identifier: ISC
 *
 * Runs commands by name: keys, buttons, links of the panel and copied links all end here. The
 * commands are rows of include/weft/viewer_commands.def; commands/view.c, commands/tasks.c and
 * commands/window.c define the functions.
 */
#include "viewer/commands/commands.h"

#include <string.h>

#include "base/export.h"
#include "viewer/state.h"

#define HEADING(text)       {NULL, NULL, text, NULL, NULL, NULL, 0, 0, 0},
#define GESTURE(name, text) {NULL, name, text, NULL, NULL, NULL, 0, 0, 0},
#define weft__is_none       NULL
#define COMMAND(command, function, needs, keys, menu, state, text)                      \
	{command, keys, text, text " ( " keys " )", weft__run_##function, weft__is_##state, \
		sizeof(#function) - 1, WEFT__NEEDS_##needs, WEFT__MENU_##menu},
const struct weft__command weft__commands[] = {
#include <weft/viewer_commands.def>
};
#undef COMMAND
#undef weft__is_none
#undef GESTURE
#undef HEADING

const unsigned weft__command_count = sizeof(weft__commands) / sizeof(weft__commands[0]);

const struct weft__command *weft__viewer_command_row(const char *command)
{
	for (unsigned i = 0; i < weft__command_count; i++)
		if (weft__commands[i].command && strcmp(weft__commands[i].command, command) == 0)
			return &weft__commands[i];
	return NULL;
}

bool weft__viewer_command_is_on(const struct weft_viewer *viewer, const struct weft__command *row)
{
	const char *arguments = row->command + row->name_size;
	return row->is_on && row->is_on(viewer, arguments + (arguments[0] == ' '));
}

bool weft__viewer_command_is_of_use(struct weft_viewer *viewer, const struct weft__command *row)
{
	switch ((enum weft__command_needs)row->needs) {
	case WEFT__NEEDS_NOTHING:
		return true;
	case WEFT__NEEDS_TRACE:
		return viewer->model != NULL;
	case WEFT__NEEDS_LIVE:
		return viewer->model && viewer->is_live;
	case WEFT__NEEDS_TASK:
		return viewer->model && viewer->selection.task != WEFT_NONE;
	case WEFT__NEEDS_EARLIER_EDGE:
		return viewer->model && !weft__viewer_leaves_edges(viewer, -1);
	case WEFT__NEEDS_LATER_EDGE:
		return viewer->model && !weft__viewer_leaves_edges(viewer, 1);
	}
	return false;
}

static bool begins_with(const char *text, const char *words, size_t size)
{
	return strncmp(text, words, size) == 0 && (text[size] == '\0' || text[size] == ' ');
}

/* The row of the command in `text`: the one with the longest name that `text` begins with. If
 * several rows have that name, the one with the same arguments, else the first. */
static const struct weft__command *find_command(const char *text)
{
	const struct weft__command *found = NULL;
	for (unsigned i = 0; i < weft__command_count; i++) {
		const struct weft__command *row = &weft__commands[i];
		if (!row->command || !begins_with(text, row->command, row->name_size))
			continue;
		bool is_longer = !found || row->name_size > found->name_size;
		bool is_same = found && row->name_size == found->name_size;
		if (is_longer || (is_same && strcmp(row->command, text) == 0))
			found = row;
	}
	return found;
}

bool weft__viewer_run(struct weft_viewer *viewer, const char *command)
{
	const struct weft__command *row = find_command(command);
	if (!row) {
		weft__viewer_show_message(viewer, "There is no command \"%.100s\".", command);
		return false;
	}
	if (row->needs != WEFT__NEEDS_NOTHING && !viewer->model)
		return true; /* the command exists, but has no effect without a trace */
	const char *arguments = command + row->name_size;
	row->run(viewer, arguments + (arguments[0] == ' '));
	return true;
}

WEFT__EXPORT bool weft_viewer_command(
	struct weft_viewer *viewer, const char *command, double now_ms)
{
	weft__viewer_begin(viewer, now_ms);
	bool known = weft__viewer_run(viewer, command);
	weft__viewer_settle(viewer);
	return known;
}
