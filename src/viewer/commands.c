/* SPDX-License-Identifier: ISC
 *
 * Every action under its name: keys, buttons, links of the panel and copied links all end here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "viewer/state.h"

#define PAN_STEP  0.15 /* of the view */
#define ROW_STEP  3.0
#define ZOOM_STEP 1.6

typedef void run_command(struct weft_viewer *viewer, const char *arguments);

static void run_fit(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_fit(viewer);
}

/* Around what is selected, if that is in view: keys have no pointer. */
static double zoom_center(const struct weft_viewer *viewer)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	if (viewer->selection.task != WEFT_NONE) {
		double x = weft_view_x(view, viewer->selection.at);
		if (x > 0 && x < view->width)
			return x;
	}
	return view->width / 2;
}

static void run_zoom(struct weft_viewer *viewer, const char *arguments)
{
	double factor = strcmp(arguments, "out") == 0 ? 1 / ZOOM_STEP : ZOOM_STEP;
	weft__viewer_zoom(viewer, zoom_center(viewer), factor);
}

static void run_zoom_selection(struct weft_viewer *viewer, const char *arguments)
{
	const struct weft__selection *s = &viewer->selection;
	uint64_t start, end;
	(void)arguments;
	if (viewer->range.is_set) {
		weft__viewer_order_range(viewer, &start, &end);
		weft__viewer_show_range(viewer, start, (double)(end - start));
	} else if (s->task != WEFT_NONE) {
		start = viewer->layout->start[s->task];
		end = viewer->model->tasks.end[s->task];
		weft__viewer_show_range(viewer, start, (double)(end > start ? end - start : 1));
	} else {
		weft__viewer_tell(viewer, "Nothing is selected to zoom to: click a task, or Shift + drag.");
	}
}

static void run_pan(struct weft_viewer *viewer, const char *arguments)
{
	double step = weft__viewer_wanted(viewer)->width * PAN_STEP;
	double rows = weft__viewer_wanted(viewer)->rows.spacing * ROW_STEP;
	switch (arguments[0]) {
	case 'l':
		weft__viewer_pan(viewer, step, 0);
		break;
	case 'r':
		weft__viewer_pan(viewer, -step, 0);
		break;
	case 'u':
		weft__viewer_pan(viewer, 0, rows);
		break;
	default:
		weft__viewer_pan(viewer, 0, -rows);
	}
}

static void run_stretch(struct weft_viewer *viewer, const char *arguments)
{
	bool is_end = strncmp(arguments, "end", 3) == 0;
	weft__viewer_stretch_view(viewer, is_end, strstr(arguments, " left") ? -1 : 1);
}

static void run_back(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (!weft__viewer_recall(viewer, -1))
		weft__viewer_tell(viewer, "This was the first view.");
}

static void run_forward(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (!weft__viewer_recall(viewer, 1))
		weft__viewer_tell(viewer, "This is the latest view.");
}

static void run_start(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_ask(viewer, WEFT__ASK_START);
}

static void run_duration(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_ask(viewer, WEFT__ASK_DURATION);
}

static void run_rows(struct weft_viewer *viewer, const char *arguments)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	bool is_plain = arguments[0] ? strcmp(arguments, "plain") == 0 : !view.is_plain;
	weft_view_set_plain(&view, is_plain);
	viewer->panel.is_stale = true;
	weft__viewer_glide(viewer, &view);
	weft__viewer_tell(viewer, is_plain ? "Plain rows: those that do not fit are scrolled."
									   : "Rows through a lens: all are seen, near ones full size.");
}

static void run_fold(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	uint32_t task = viewer->hover.fold != WEFT_NONE ? viewer->hover.task : viewer->selection.task;
	weft__viewer_toggle_fold(viewer, task);
}

static void run_fold_all(struct weft_viewer *viewer, const char *arguments)
{
	bool is_folded = arguments[0] ? strcmp(arguments, "off") != 0
								  : viewer->rows.no_fold || viewer->rows.exceptions.count > 0;
	weft__viewer_fold_all(viewer, is_folded);
}

static void run_simplify(struct weft_viewer *viewer, const char *arguments)
{
	weft__viewer_simplify(
		viewer, arguments[0] ? strcmp(arguments, "off") != 0 : viewer->rows.no_simplify);
}

static void run_group(struct weft_viewer *viewer, const char *arguments)
{
	static const char *const names[] = {"none", "thread", "process"};
	unsigned by = (viewer->rows.group_by + 1u) % 3;
	char *end;
	unsigned long number = strtoul(arguments, &end, 10);
	if (end != arguments && number > 0 && number <= viewer->layout->group_count) {
		weft__viewer_toggle_group(viewer, (uint32_t)number - 1);
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		if (strcmp(arguments, names[i]) == 0)
			by = i;
	weft__viewer_group_by(viewer, (enum weft_group_by)by);
}

static void run_filter(struct weft_viewer *viewer, const char *arguments)
{
	if (strcmp(arguments, "off") == 0)
		weft__viewer_set_filter(viewer, "");
	else if (arguments[0])
		weft__viewer_set_filter(viewer, arguments);
	else
		weft__viewer_ask(viewer, WEFT__ASK_FILTER);
}

/* Tasks of the selected one's kind. */
static void run_hide(struct weft_viewer *viewer, const char *arguments)
{
	uint32_t task = viewer->selection.task;
	unsigned kind = task != WEFT_NONE ? viewer->model->tasks.kind[task] : 0;
	const char *name = kind == WEFT_KIND_PREEXISTING ? "preexisting" : weft_kind_name(kind);
	char filter[WEFT__FILTER_BYTES + 64];
	(void)arguments;
	if (task == WEFT_NONE || !name) {
		weft__viewer_tell(viewer, "Select a task of the kind that shall be hidden.");
		return;
	}
	snprintf(filter, sizeof(filter), "%s%s-kind:%s", viewer->rows.filter,
		viewer->rows.filter[0] ? ", " : "", name);
	if (weft__viewer_set_filter(viewer, filter))
		weft__viewer_tell(viewer, "Tasks of the kind %s are hidden; the filter has it.", name);
}

static void run_repack(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_relayout(viewer);
}

static void run_view(struct weft_viewer *viewer, const char *arguments)
{
	if (!weft__viewer_run_view(viewer, arguments))
		weft__viewer_tell(viewer, "A part of this link means nothing here; the rest was followed.");
}

/* "task:12" or "task:12 12.5ms" */
static void run_select(struct weft_viewer *viewer, const char *arguments)
{
	char name[64] = "";
	size_t size = strcspn(arguments, " ");
	uint64_t at;
	if (size < sizeof(name))
		memcpy(name, arguments, size);
	uint32_t task = weft__parse_task(viewer->model, name);
	if (task == WEFT_NONE) {
		weft__viewer_tell(viewer, "There is no such task in this trace.");
		return;
	}
	if (!arguments[size] || weft__parse_time(arguments + size + 1, viewer->view.start, &at))
		at = viewer->layout->start[task];
	weft__viewer_select(viewer, task, at);
	weft__viewer_reveal_task(viewer, task, at);
}

static void run_moment(struct weft_viewer *viewer, const char *arguments)
{
	uint64_t at;
	if (weft__parse_time(arguments, viewer->view.start, &at)) {
		weft__viewer_tell(viewer, "That is no time.");
		return;
	}
	uint32_t task = viewer->selection.task;
	if (task != WEFT_NONE)
		weft__viewer_select(viewer, task, at);
	weft__viewer_reveal(
		viewer, task != WEFT_NONE ? viewer->layout->row[task] : WEFT_NONE, at, at, false);
}

/* For those who have no pointer; they move its end from there. */
static void begin_range_in_middle(struct weft_viewer *viewer)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	weft__viewer_begin_range(viewer, weft_view_time(view, view->width / 2));
	viewer->range.is_armed = false;
}

static void run_task(struct weft_viewer *viewer, const char *arguments)
{
	int across = arguments[0] == 'l' ? -1 : arguments[0] == 'r' ? 1 : 0;
	int down = arguments[0] == 'u' ? -1 : arguments[0] == 'd' ? 1 : 0;
	if (viewer->range.is_armed && across)
		begin_range_in_middle(viewer);
	if (viewer->range.is_set && across)
		weft__viewer_stretch_range(viewer, across);
	else
		weft__viewer_step_task(viewer, across, down);
}

static void run_edge(struct weft_viewer *viewer, const char *arguments)
{
	weft__viewer_step_edge(viewer, arguments[0] == 'p' ? -1 : 1);
}

/* Along the edge that Tab is at; else the panel. */
static void run_open(struct weft_viewer *viewer, const char *arguments)
{
	struct weft__selection *s = &viewer->selection;
	const struct weft_edges *edges = &viewer->model->edges;
	(void)arguments;
	if (s->edge != WEFT_NONE && edges->from[s->edge] != WEFT_NONE) {
		uint32_t from = edges->from[s->edge], to = edges->to[s->edge];
		uint32_t other = from == s->task ? to : from;
		uint64_t at = s->at;
		weft__viewer_select(viewer, other, at);
		weft__viewer_reveal_task(viewer, other, at);
	} else if (s->task != WEFT_NONE) {
		weft__viewer_open_panel(viewer, WEFT__PANEL_STORY);
	}
}

static void run_wait(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_follow_wait(viewer);
}

static void run_waker(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_go_waker(viewer);
}

static void run_creator(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_go_creator(viewer);
}

static void run_related(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (viewer->selection.related_count)
		weft__viewer_forget_related(viewer);
	else if (viewer->selection.task != WEFT_NONE)
		weft__viewer_show_related(viewer, viewer->selection.task);
	else
		weft__viewer_tell(viewer, "No task is selected.");
}

/* One step back out, the innermost first. */
static void run_escape(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (viewer->asked != WEFT__ASK_NOTHING)
		weft__viewer_close_prompt(viewer);
	else if (viewer->pointer.drag != WEFT__DRAG_NONE)
		weft__viewer_cancel_drag(viewer);
	else if (viewer->range.is_set || viewer->range.is_armed)
		viewer->range = (struct weft__range){.is_set = false};
	else if (viewer->selection.related_count)
		weft__viewer_forget_related(viewer);
	else if (viewer->panel.kind != WEFT__PANEL_NONE && viewer->panel.kind != WEFT__PANEL_STORY)
		weft__viewer_open_panel(viewer, WEFT__PANEL_NONE);
	else if (viewer->search)
		weft__viewer_forget_search(viewer);
	else if (viewer->model)
		weft__viewer_select(viewer, WEFT_NONE, 0);
	viewer->told_until_ms = -1;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

static void run_problem(struct weft_viewer *viewer, const char *arguments)
{
	char *end;
	unsigned long number = strtoul(arguments, &end, 10);
	if (end != arguments && number > 0 && number < UINT32_MAX)
		weft__viewer_go_problem(viewer, (uint32_t)number - 1);
	else
		weft__viewer_step_problem(viewer, arguments[0] == 'p' ? -1 : 1);
}

static void run_match(struct weft_viewer *viewer, const char *arguments)
{
	char *end;
	unsigned long number = strtoul(arguments, &end, 10);
	if (end != arguments && number > 0 && number < UINT32_MAX)
		weft__viewer_go_match(viewer, (uint32_t)number - 1);
	else
		weft__viewer_step_match(viewer, arguments[0] == 'p' ? -1 : 1);
}

static void run_search(struct weft_viewer *viewer, const char *arguments)
{
	if (!arguments[0]) {
		weft__viewer_ask(viewer, WEFT__ASK_SEARCH);
		return;
	}
	weft__viewer_search(viewer, arguments);
	weft__viewer_open_panel(viewer, WEFT__PANEL_SEARCH);
}

static void run_expression(struct weft_viewer *viewer, const char *arguments)
{
	char text[256] = "";
	(void)arguments;
	viewer->is_expression = !viewer->is_expression;
	viewer->panel.is_stale = true;
	if (viewer->search_text && strlen(viewer->search_text) < sizeof(text))
		strcpy(text, viewer->search_text);
	weft__viewer_search(viewer, text);
	if (viewer->prompt.is_error)
		weft__viewer_tell(viewer, "%s", viewer->prompt_message);
}

static void run_measure(struct weft_viewer *viewer, const char *arguments)
{
	uint32_t task = viewer->selection.task;
	(void)arguments;
	if (viewer->range.is_set || viewer->range.is_armed) {
		viewer->range = (struct weft__range){.is_set = false};
	} else if (task != WEFT_NONE) {
		weft__viewer_begin_range(viewer, viewer->layout->start[task]);
		viewer->range.to = viewer->model->tasks.end[task];
		weft__viewer_tell(
			viewer, "The life of the task; Shift + \xe2\x86\x90 \xe2\x86\x92 move its end.");
	} else {
		viewer->range.is_armed = true;
		weft__viewer_tell(
			viewer, "Drag from one moment to another; by keys: Shift + \xe2\x86\x90 \xe2\x86\x92.");
	}
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

static void run_mark(struct weft_viewer *viewer, const char *arguments)
{
	const struct weft__pointer *p = &viewer->pointer;
	size_t number = strtoul(arguments, NULL, 10), pointed = WEFT__NO_MARK;
	if (p->is_inside && p->y >= viewer->frame.ruler.y)
		pointed = weft__viewer_mark_at(viewer, p->x);
	if (number > 0 && number <= viewer->mark_count)
		weft__viewer_go_mark(viewer, number - 1);
	else if (pointed != WEFT__NO_MARK)
		weft__viewer_edit_mark(viewer, pointed);
	else
		weft__viewer_add_mark(viewer);
}

/* The one with that number, or the one that is meant. */
static size_t mark_of(const struct weft_viewer *viewer, const char *arguments)
{
	size_t number = strtoul(arguments, NULL, 10);
	return number > 0 ? number - 1 : weft__viewer_meant_mark(viewer);
}

static void run_note(struct weft_viewer *viewer, const char *arguments)
{
	weft__viewer_edit_mark(viewer, mark_of(viewer, arguments));
}

static void run_unmark(struct weft_viewer *viewer, const char *arguments)
{
	weft__viewer_remove_mark(viewer, mark_of(viewer, arguments));
}

static void run_marks(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_open_panel(viewer, WEFT__PANEL_MARKS);
}

static void run_counters(struct weft_viewer *viewer, const char *arguments)
{
	if (viewer->model->counter_count == 0) {
		weft__viewer_tell(viewer, "This trace has no counters.");
		return;
	}
	viewer->counters_hidden =
		arguments[0] ? strcmp(arguments, "off") == 0 : weft__viewer_has_counters(viewer);
	if (!viewer->counters_hidden && viewer->hidden_count && !weft__viewer_has_counters(viewer))
		memset(viewer->hidden_counters, 0, viewer->hidden_count); /* each had been hidden */
	viewer->panel.is_stale = true;
	weft__viewer_place(viewer);
}

static void run_counter(struct weft_viewer *viewer, const char *arguments)
{
	unsigned long number = strtoul(arguments, NULL, 10);
	if (number > 0 && number <= viewer->model->counter_count)
		weft__viewer_toggle_counter(viewer, (uint32_t)number - 1);
}

static void run_rates(struct weft_viewer *viewer, const char *arguments)
{
	viewer->counter_rates = arguments[0] ? strcmp(arguments, "on") == 0 : !viewer->counter_rates;
	viewer->panel.is_stale = true;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	weft__viewer_tell(viewer, viewer->counter_rates
								  ? "Counters show how fast they change, a second."
								  : "Counters show their values.");
}

static void run_follow(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (!viewer->is_live) {
		weft__viewer_tell(viewer, "This trace is not being recorded: there is nothing to follow.");
		return;
	}
	viewer->is_following = !viewer->is_following;
	weft__viewer_request(viewer, WEFT_VIEWER_FOLLOW, "", viewer->is_following, 0);
	weft__viewer_tell(viewer, viewer->is_following ? "Following." : "Paused.");
	weft__viewer_place_buttons(viewer);
}

static void run_times(struct weft_viewer *viewer, const char *arguments)
{
	viewer->clock_times = arguments[0] ? strcmp(arguments, "clock") == 0 : !viewer->clock_times;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	viewer->panel.is_stale = true;
	weft__viewer_tell(viewer, viewer->clock_times ? "The ruler begins with the time of the day."
												  : "Times are from the trace's start.");
}

bool weft__viewer_set_theme(struct weft_viewer *viewer, const char *name)
{
	unsigned theme = 0;
	while (theme < WEFT_THEMES && strcmp(name, weft_theme_name((enum weft_theme)theme)) != 0)
		theme++;
	if (theme == WEFT_THEMES)
		return false;
	viewer->theme = (enum weft_theme)theme;
	weft__viewer_request(viewer, WEFT_VIEWER_THEME, weft_theme_name(viewer->theme), 0, 0);
	viewer->changes |= WEFT_VIEWER_CANVAS;
	viewer->panel.is_stale = true;
	return true;
}

static void run_theme(struct weft_viewer *viewer, const char *arguments)
{
	enum weft_theme next = (enum weft_theme)((unsigned)(viewer->theme + 1) % WEFT_THEMES);
	weft__viewer_set_theme(viewer, arguments[0] ? arguments : weft_theme_name(next));
}

static void run_panel(struct weft_viewer *viewer, const char *arguments)
{
	static const char *const names[WEFT__PANELS] = {
		[WEFT__PANEL_STORY] = "story",
		[WEFT__PANEL_PROBLEMS] = "problems",
		[WEFT__PANEL_SEARCH] = "search",
		[WEFT__PANEL_COUNTERS] = "counters",
		[WEFT__PANEL_ROWS] = "rows",
		[WEFT__PANEL_MARKS] = "marks",
		[WEFT__PANEL_HELP] = "help",
		[WEFT__PANEL_MENU] = "menu",
		[WEFT__PANEL_EXPORT] = "export",
	};
	enum weft__panel_kind kind = WEFT__PANEL_NONE;
	for (unsigned i = 1; i < WEFT__PANELS; i++)
		if (names[i] && strcmp(names[i], arguments) == 0)
			kind = (enum weft__panel_kind)i;
	weft__viewer_open_panel(viewer, viewer->panel.kind == kind ? WEFT__PANEL_NONE : kind);
}

static void run_close(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_open_panel(viewer, WEFT__PANEL_NONE);
}

static void run_help(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	run_panel(viewer, "help");
}

static void run_copy(struct weft_viewer *viewer, const char *arguments)
{
	if (strcmp(arguments, "command") == 0)
		weft__viewer_copy_command(viewer);
	else if (strcmp(arguments, "window") == 0)
		weft__viewer_copy_window(viewer);
	else
		weft__viewer_copy_link(viewer);
}

static void run_export(struct weft_viewer *viewer, const char *arguments)
{
	uint64_t start = weft__viewer_start(&viewer->view);
	uint64_t end = weft_view_time(&viewer->view, viewer->view.width - WEFT_VIEW_MARGIN);
	if (strcmp(arguments, "svg") == 0) {
		weft__viewer_request(viewer, WEFT_VIEWER_SAVE_SVG, "view.svg", 0, 0);
	} else if (strcmp(arguments, "png") == 0) {
		weft__viewer_request(viewer, WEFT_VIEWER_SAVE_PNG, "view.png", 0, 0);
	} else {
		if (viewer->range.is_set)
			weft__viewer_order_range(viewer, &start, &end);
		weft__viewer_request(viewer, WEFT_VIEWER_SAVE_CUT, "cut.weft", start, end);
	}
}

static void run_request(struct weft_viewer *viewer, enum weft_viewer_request_type type)
{
	weft__viewer_request(viewer, type, "", 0, 0);
}

static void run_open_trace(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	run_request(viewer, WEFT_VIEWER_OPEN);
}

static void run_reload(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	run_request(viewer, WEFT_VIEWER_RELOAD);
}

static void run_window(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	run_request(viewer, WEFT_VIEWER_NEW_WINDOW);
}

static const struct command {
	const char *name;
	run_command *run;
	bool needs_trace;
} commands[] = {
	{"fit", run_fit, true},
	{"zoom", run_zoom, true},
	{"zoom selection", run_zoom_selection, true},
	{"pan", run_pan, true},
	{"stretch", run_stretch, true},
	{"back", run_back, true},
	{"forward", run_forward, true},
	{"start", run_start, true},
	{"duration", run_duration, true},
	{"rows", run_rows, true},
	{"fold", run_fold, true},
	{"fold all", run_fold_all, true},
	{"simplify", run_simplify, true},
	{"group", run_group, true},
	{"filter", run_filter, true},
	{"hide", run_hide, true},
	{"repack", run_repack, true},
	{"view", run_view, true},
	{"select", run_select, true},
	{"moment", run_moment, true},
	{"task", run_task, true},
	{"edge", run_edge, true},
	{"open", run_open, true},
	{"wait", run_wait, true},
	{"waker", run_waker, true},
	{"creator", run_creator, true},
	{"related", run_related, true},
	{"escape", run_escape, false},
	{"problem", run_problem, true},
	{"search", run_search, true},
	{"expression", run_expression, true},
	{"match", run_match, true},
	{"measure", run_measure, true},
	{"mark", run_mark, true},
	{"note", run_note, true},
	{"unmark", run_unmark, true},
	{"marks", run_marks, true},
	{"counters", run_counters, true},
	{"counter", run_counter, true},
	{"rates", run_rates, true},
	{"follow", run_follow, true},
	{"times", run_times, true},
	{"theme", run_theme, false},
	{"panel", run_panel, false},
	{"close", run_close, false},
	{"help", run_help, false},
	{"copy", run_copy, true},
	{"export", run_export, true},
	{"open trace", run_open_trace, false},
	{"reload", run_reload, false},
	{"window", run_window, false},
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
