/* SPDX-License-Identifier: ISC
 *
 * Commands about the content of the trace: tasks and their edges, problems, matches, ranges and
 * bookmarks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/commands/commands.h"
#include "viewer/drawing/ordinal.h"
#include "viewer/state.h"

/* "task:12" or "task:12 12.5ms" */
void weft__run_select(struct weft_viewer *viewer, const char *arguments)
{
	char name[64] = "";
	size_t size = strcspn(arguments, " ");
	uint64_t at;
	if (size < sizeof(name))
		memcpy(name, arguments, size);
	uint32_t task = weft__viewer_parse_task(viewer->model, name);
	if (task == WEFT_NONE) {
		weft__viewer_show_message(viewer, "There is no such task in this trace.");
		return;
	}
	if (!arguments[size] || weft__viewer_parse_time(arguments + size + 1, viewer->view.start, &at))
		at = viewer->layout->start[task];
	weft__viewer_select(viewer, task, at);
	weft__viewer_reveal_task(viewer, task, at);
}

void weft__run_goto(struct weft_viewer *viewer, const char *arguments)
{
	uint64_t at;
	if (weft__viewer_parse_time(arguments, viewer->view.start, &at)) {
		weft__viewer_show_message(viewer, "This is not a time: write 12.5ms, 300us or @N.");
		return;
	}
	uint32_t task = viewer->selection.task;
	if (task != WEFT_NONE)
		weft__viewer_select(viewer, task, at);
	weft__viewer_reveal(
		viewer, task != WEFT_NONE ? viewer->layout->row[task] : WEFT_NONE, at, at, false);
}

/* For keyboard users: keys then move the end of the range. */
static void begin_range_in_middle(struct weft_viewer *viewer)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	weft__viewer_begin_range(viewer, weft_view_time(view, view->width / 2));
	viewer->range.is_armed = false;
}

void weft__run_task(struct weft_viewer *viewer, const char *arguments)
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

void weft__run_edge(struct weft_viewer *viewer, const char *arguments)
{
	weft__viewer_step_edge(viewer, arguments[0] == 'p' ? -1 : 1);
}

/* Follows the current edge; without one, opens the story panel. */
void weft__run_open(struct weft_viewer *viewer, const char *arguments)
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

void weft__run_wait(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_follow_wait(viewer);
}

void weft__run_chain(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (viewer->selection.chain)
		weft__viewer_forget_chain(viewer);
	else
		weft__viewer_show_chain(viewer);
}

void weft__run_waker(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_go_waker(viewer);
}

void weft__run_creator(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_go_creator(viewer);
}

void weft__run_related(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (viewer->selection.related_count)
		weft__viewer_forget_chain(viewer);
	else if (viewer->selection.task != WEFT_NONE)
		weft__viewer_show_related(viewer, viewer->selection.task);
	else
		weft__viewer_show_message(viewer, "No task is selected.");
}

void weft__run_problem(struct weft_viewer *viewer, const char *arguments)
{
	uint32_t number = weft__viewer_parse_ordinal(arguments);
	if (number > 0)
		weft__viewer_go_problem(viewer, number - 1);
	else
		weft__viewer_step_problem(viewer, arguments[0] == 'p' ? -1 : 1);
}

void weft__run_match(struct weft_viewer *viewer, const char *arguments)
{
	uint32_t number = weft__viewer_parse_ordinal(arguments);
	if (number > 0)
		weft__viewer_go_match(viewer, number - 1);
	else
		weft__viewer_step_match(viewer, arguments[0] == 'p' ? -1 : 1);
}

void weft__run_search(struct weft_viewer *viewer, const char *arguments)
{
	if (!arguments[0]) {
		weft__viewer_ask(viewer, WEFT__ASK_SEARCH);
		return;
	}
	weft__viewer_search(viewer, arguments);
	weft__viewer_open_panel(viewer, WEFT__PANEL_SEARCH);
}

void weft__run_expression(struct weft_viewer *viewer, const char *arguments)
{
	char text[256] = "";
	(void)arguments;
	viewer->search.is_expression = !viewer->search.is_expression;
	viewer->panel.is_stale = true;
	if (viewer->search.text && strlen(viewer->search.text) < sizeof(text))
		strcpy(text, viewer->search.text);
	weft__viewer_search(viewer, text);
	if (viewer->prompt.shown.is_error)
		weft__viewer_show_message(viewer, "%s", viewer->prompt.message);
}

void weft__run_measure(struct weft_viewer *viewer, const char *arguments)
{
	uint32_t task = viewer->selection.task;
	(void)arguments;
	if (viewer->range.is_set || viewer->range.is_armed) {
		viewer->range = (struct weft__range){.is_set = false};
	} else if (task != WEFT_NONE) {
		weft__viewer_begin_range(viewer, viewer->layout->start[task]);
		viewer->range.to = viewer->model->tasks.end[task];
		weft__viewer_show_message(
			viewer, "The life of the task; Shift + \xe2\x86\x90 \xe2\x86\x92 move its end.");
	} else {
		viewer->range.is_armed = true;
		weft__viewer_show_message(
			viewer, "Drag from one time to another; by keys: Shift + \xe2\x86\x90 \xe2\x86\x92.");
	}
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

void weft__run_mark(struct weft_viewer *viewer, const char *arguments)
{
	const struct weft__pointer *p = &viewer->pointer;
	size_t number = weft__viewer_parse_ordinal(arguments), pointed = WEFT__NO_MARK;
	if (p->is_inside && p->y >= viewer->frame.ruler.y)
		pointed = weft__viewer_mark_at(viewer, p->x);
	if (number > 0 && number <= viewer->marks.count)
		weft__viewer_go_mark(viewer, number - 1);
	else if (pointed != WEFT__NO_MARK)
		weft__viewer_edit_mark(viewer, pointed);
	else
		weft__viewer_add_mark(viewer);
}

/* The bookmark with that number, else the one under the pointer or the current one. */
static size_t mark_of(const struct weft_viewer *viewer, const char *arguments)
{
	size_t number = weft__viewer_parse_ordinal(arguments);
	return number > 0 ? number - 1 : weft__viewer_meant_mark(viewer);
}

void weft__run_note(struct weft_viewer *viewer, const char *arguments)
{
	weft__viewer_edit_mark(viewer, mark_of(viewer, arguments));
}

void weft__run_unmark(struct weft_viewer *viewer, const char *arguments)
{
	weft__viewer_remove_mark(viewer, mark_of(viewer, arguments));
}

void weft__run_marks(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_open_panel(viewer, WEFT__PANEL_MARKS);
}
