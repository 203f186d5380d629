/* SPDX-License-Identifier: ISC
 *
 * Commands about the rest of the window: counters, times, themes, panels, copies and exports.
 */
#include <string.h>

#include "viewer/commands/commands.h"
#include "viewer/drawing/file_name.h"
#include "viewer/drawing/ordinal.h"
#include "viewer/state.h"

/* Cancels or closes the innermost thing that is open. */
void weft__run_escape(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (viewer->prompt.asked == WEFT__ASK_NOTHING &&
		(weft__viewer_end_rows(viewer) || weft__viewer_end_statistics(viewer) ||
			weft__viewer_end_flame(viewer)))
		return; /* its message stays */
	if (viewer->prompt.asked != WEFT__ASK_NOTHING)
		weft__viewer_close_prompt(viewer);
	else if (viewer->pointer.drag != WEFT__DRAG_NONE)
		weft__viewer_cancel_drag(viewer);
	else if (weft__viewer_flame_is_zoomed(viewer))
		weft__viewer_zoom_flame(viewer, 0);
	else if (viewer->flame.is_shown)
		weft__viewer_show_flame(viewer, false);
	else if (viewer->range.is_set || viewer->range.is_armed)
		viewer->range = (struct weft__range){.is_set = false};
	else if (viewer->selection.related_count)
		weft__viewer_forget_chain(viewer);
	else if (viewer->panel.kind != WEFT__PANEL_NONE && viewer->panel.kind != WEFT__PANEL_STORY)
		weft__viewer_open_panel(viewer, WEFT__PANEL_NONE);
	else if (viewer->search.found || viewer->search.maker)
		weft__viewer_end_search(viewer);
	else if (viewer->model)
		weft__viewer_select(viewer, WEFT_NONE, 0);
	viewer->status.message_until_ms = -1;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

void weft__run_counters(struct weft_viewer *viewer, const char *arguments)
{
	if (viewer->model->counter_count == 0) {
		weft__viewer_show_message(viewer, "This trace has no counters.");
		return;
	}
	if (strcmp(arguments, "all") == 0) {
		if (weft__viewer_has_all_counters(viewer))
			weft__viewer_forget_counters(viewer);
		else
			weft__viewer_take_all_counters(viewer);
		viewer->panel.is_stale = true;
		weft__viewer_arrange(viewer);
		return;
	}
	viewer->counters.are_hidden =
		arguments[0] ? strcmp(arguments, "off") == 0 : weft__viewer_has_counters(viewer);
	if (!viewer->counters.are_hidden && !weft__viewer_has_counters(viewer))
		weft__viewer_forget_counters(viewer); /* all had been hidden one by one */
	viewer->panel.is_stale = true;
	weft__viewer_arrange(viewer);
}

/* "overlay" draws them over the tasks, "overlay off" in lanes. */
void weft__run_overlay(struct weft_viewer *viewer, const char *arguments)
{
	struct weft__counter_choice *counters = &viewer->counters;
	counters->are_over = arguments[0] ? strcmp(arguments, "on") == 0 : !counters->are_over;
	counters->are_hidden = false;
	viewer->panel.is_stale = true;
	weft__viewer_arrange(viewer);
	weft__viewer_show_message(viewer, counters->are_over ? "Counters are drawn over the tasks."
														 : "Counters have lanes of their own.");
}

void weft__run_counter(struct weft_viewer *viewer, const char *arguments)
{
	uint32_t number = weft__viewer_parse_ordinal(arguments);
	if (number > 0 && number <= viewer->model->counter_count)
		weft__viewer_toggle_counter(viewer, number - 1);
}

void weft__run_rates(struct weft_viewer *viewer, const char *arguments)
{
	viewer->counters.are_rates =
		arguments[0] ? strcmp(arguments, "on") == 0 : !viewer->counters.are_rates;
	viewer->panel.is_stale = true;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	weft__viewer_show_message(viewer, viewer->counters.are_rates
										  ? "Counters show how fast they change per second."
										  : "Counters show their values.");
}

void weft__run_times(struct weft_viewer *viewer, const char *arguments)
{
	viewer->clock_times = arguments[0] ? strcmp(arguments, "clock") == 0 : !viewer->clock_times;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	viewer->panel.is_stale = true;
	weft__viewer_show_message(viewer, viewer->clock_times
										  ? "The ruler begins with the time of the day."
										  : "Times are from the trace's start.");
}

bool weft__viewer_set_theme(struct weft_viewer *viewer, const char *name, bool is_chosen)
{
	unsigned theme = 0;
	while (theme < WEFT_THEMES && strcmp(name, weft_theme_name((enum weft_theme)theme)) != 0)
		theme++;
	if (theme == WEFT_THEMES)
		return false;
	viewer->theme = (enum weft_theme)theme;
	weft__viewer_request(viewer, WEFT_VIEWER_THEME, weft_theme_name(viewer->theme), is_chosen, 0);
	viewer->changes |= WEFT_VIEWER_CANVAS;
	viewer->panel.is_stale = true;
	return true;
}

void weft__run_theme(struct weft_viewer *viewer, const char *arguments)
{
	enum weft_theme next = (enum weft_theme)((unsigned)(viewer->theme + 1) % WEFT_THEMES);
	weft__viewer_set_theme(viewer, arguments[0] ? arguments : weft_theme_name(next), true);
}

void weft__run_wasd(struct weft_viewer *viewer, const char *arguments)
{
	viewer->has_wasd = arguments[0] ? strcmp(arguments, "on") == 0 : !viewer->has_wasd;
	weft__viewer_request(viewer, WEFT_VIEWER_WASD, "", viewer->has_wasd, 0);
	viewer->panel.is_stale = true;
	weft__viewer_show_message(viewer, viewer->has_wasd
										  ? "W and S zoom, A and D move; Shift + W, A, S as before."
										  : "W A S D have their usual commands.");
}

void weft__run_panel(struct weft_viewer *viewer, const char *arguments)
{
	enum weft__panel_kind kind = weft__viewer_panel_named(arguments);
	weft__viewer_open_panel(viewer, viewer->panel.kind == kind ? WEFT__PANEL_NONE : kind);
}

void weft__run_close(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_open_panel(viewer, WEFT__PANEL_NONE);
}

void weft__run_help(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__run_panel(viewer, "help");
}

void weft__run_copy(struct weft_viewer *viewer, const char *arguments)
{
	if (strcmp(arguments, "command") == 0)
		weft__viewer_copy_command(viewer);
	else if (strcmp(arguments, "window") == 0)
		weft__viewer_copy_window(viewer);
	else
		weft__viewer_copy_link(viewer);
}

void weft__run_export(struct weft_viewer *viewer, const char *arguments)
{
	uint64_t start = weft__viewer_start(&viewer->view);
	uint64_t end = weft_view_time(&viewer->view, viewer->view.width - WEFT_VIEW_MARGIN);
	char name[WEFT__FILE_NAME_BYTES];
	if (strcmp(arguments, "svg") == 0) {
		weft__viewer_request(viewer, WEFT_VIEWER_SAVE_SVG,
			weft__viewer_file_name(viewer->title, ".svg", name), 0, 0);
	} else if (strcmp(arguments, "png") == 0) {
		weft__viewer_request(viewer, WEFT_VIEWER_SAVE_PNG,
			weft__viewer_file_name(viewer->title, ".png", name), 0, 0);
	} else {
		if (viewer->range.is_set)
			weft__viewer_order_range(viewer, &start, &end);
		weft__viewer_request(viewer, WEFT_VIEWER_SAVE_CUT,
			weft__viewer_file_name(viewer->title, "-cut.weft", name), start, end);
	}
}

static void run_request(struct weft_viewer *viewer, enum weft_viewer_request_type type)
{
	weft__viewer_request(viewer, type, "", 0, 0);
}

void weft__run_open_trace(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	run_request(viewer, WEFT_VIEWER_OPEN);
}

void weft__run_reload(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	run_request(viewer, WEFT_VIEWER_RELOAD);
}

void weft__run_window(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	run_request(viewer, WEFT_VIEWER_NEW_WINDOW);
}
