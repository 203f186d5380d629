/* SPDX-License-Identifier: ISC
 *
 * Every action under its name: keys, buttons, links of the panel and copied links all end here.
 * What they do is in commands_view.c, commands_tasks.c and commands_window.c.
 */
#include "viewer/commands.h"

#include <string.h>

#include "base/export.h"
#include "viewer/state.h"

static const struct command {
	const char *name;
	void (*run)(struct weft_viewer *viewer, const char *arguments);
	bool needs_trace;
} commands[] = {
	{"fit", weft__run_fit, true},
	{"zoom", weft__run_zoom, true},
	{"zoom selection", weft__run_zoom_selection, true},
	{"pan", weft__run_pan, true},
	{"stretch", weft__run_stretch, true},
	{"back", weft__run_back, true},
	{"forward", weft__run_forward, true},
	{"start", weft__run_start, true},
	{"duration", weft__run_duration, true},
	{"rows", weft__run_rows, true},
	{"fold", weft__run_fold, true},
	{"fold all", weft__run_fold_all, true},
	{"simplify", weft__run_simplify, true},
	{"group", weft__run_group, true},
	{"filter", weft__run_filter, true},
	{"hide", weft__run_hide, true},
	{"repack", weft__run_repack, true},
	{"view", weft__run_view, true},
	{"select", weft__run_select, true},
	{"moment", weft__run_moment, true},
	{"task", weft__run_task, true},
	{"edge", weft__run_edge, true},
	{"open", weft__run_open, true},
	{"wait", weft__run_wait, true},
	{"waker", weft__run_waker, true},
	{"creator", weft__run_creator, true},
	{"related", weft__run_related, true},
	{"escape", weft__run_escape, false},
	{"problem", weft__run_problem, true},
	{"search", weft__run_search, true},
	{"expression", weft__run_expression, true},
	{"match", weft__run_match, true},
	{"measure", weft__run_measure, true},
	{"mark", weft__run_mark, true},
	{"note", weft__run_note, true},
	{"unmark", weft__run_unmark, true},
	{"marks", weft__run_marks, true},
	{"counters", weft__run_counters, true},
	{"counter", weft__run_counter, true},
	{"rates", weft__run_rates, true},
	{"follow", weft__run_follow, true},
	{"times", weft__run_times, true},
	{"theme", weft__run_theme, false},
	{"panel", weft__run_panel, false},
	{"close", weft__run_close, false},
	{"help", weft__run_help, false},
	{"copy", weft__run_copy, true},
	{"export", weft__run_export, true},
	{"open trace", weft__run_open_trace, false},
	{"reload", weft__run_reload, false},
	{"window", weft__run_window, false},
};

/* The longest name that the text begins with. */
static const struct command *find(const char *text)
{
	const struct command *found = NULL;
	size_t best = 0;
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		size_t size = strlen(commands[i].name);
		if (size > best && strncmp(text, commands[i].name, size) == 0 &&
			(text[size] == '\0' || text[size] == ' ')) {
			found = &commands[i];
			best = size;
		}
	}
	return found;
}

bool weft__viewer_run(struct weft_viewer *viewer, const char *command)
{
	const struct command *found = find(command);
	if (!found) {
		weft__viewer_tell(viewer, "There is no command \"%.100s\".", command);
		return false;
	}
	if (found->needs_trace && !viewer->model)
		return true; /* known, and of no use yet */
	const char *arguments = command + strlen(found->name);
	found->run(viewer, arguments + (arguments[0] == ' '));
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
