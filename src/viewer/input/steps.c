/* SPDX-License-Identifier: ISC
 *
 * Steps from task to task by keys: along edges, to the task that woke it, to its creator, to its
 * neighbours in the picture. chain.c goes along waits.
 */
#include <math.h>

#include "base/search.h"
#include "render/rows.h"
#include "story/index.h"
#include "viewer/state.h"

bool weft__viewer_has_selection(struct weft_viewer *viewer)
{
	if (!viewer->model || viewer->selection.task == WEFT_NONE) {
		weft__viewer_show_message(
			viewer, "No task is selected: click one, or press Shift and an arrow.");
		return false;
	}
	return weft__viewer_know_story(viewer);
}

void weft__viewer_go(struct weft_viewer *viewer, uint32_t task, uint64_t at)
{
	weft__viewer_select(viewer, task, at);
	weft__viewer_reveal_task(viewer, task, at);
}

/* The first edge of a list from edge `from` on (step > 0), or the last one before it; edges are
 * numbered by time. */
static uint32_t next_of(struct weft__edge_list list, uint32_t from, int step)
{
	uint32_t low = weft__lower_bound_u32(list.edges, list.count, from);
	if (step > 0)
		return low < list.count ? list.edges[low] : WEFT_NONE;
	return low > 0 ? list.edges[low - 1] : WEFT_NONE;
}

static uint32_t first_edge_from(const struct weft_viewer *viewer, uint64_t time)
{
	const struct weft_edges *edges = &viewer->model->edges;
	return weft__lower_bound_u64(edges->time, edges->count, time);
}

static uint32_t nearest(uint32_t a, uint32_t b, int step)
{
	if (a == WEFT_NONE || b == WEFT_NONE)
		return a == WEFT_NONE ? b : a;
	return (step > 0) == (a < b) ? a : b;
}

/* The selected task's edge after the current one, or before it. */
static uint32_t next_edge(const struct weft_viewer *viewer, int step)
{
	const struct weft__selection *s = &viewer->selection;
	uint32_t from = s->edge == WEFT_NONE ? first_edge_from(viewer, viewer->layout->start[s->task])
										 : s->edge + (step > 0);
	const struct weft__edge_list lists[] = {weft__story_edges_by(viewer->model, s->task),
		weft__story_edges_to(&viewer->story, s->task),
		weft__story_edges_made(&viewer->story, s->task)};
	uint32_t edge = WEFT_NONE;
	for (unsigned i = 0; i < 3; i++)
		edge = nearest(edge, next_of(lists[i], from, step), step);
	return edge;
}

bool weft__viewer_leaves_edges(struct weft_viewer *viewer, int step)
{
	if (viewer->selection.task == WEFT_NONE || !weft__viewer_know_story(viewer))
		return true;
	if (next_edge(viewer, step) != WEFT_NONE)
		return false;
	viewer->selection.edge = WEFT_NONE;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	return true;
}

void weft__viewer_step_edge(struct weft_viewer *viewer, int step)
{
	struct weft__selection *s = &viewer->selection;
	char sentence[WEFT_SENTENCE_BYTES];
	if (!weft__viewer_has_selection(viewer))
		return;
	uint32_t edge = next_edge(viewer, step);
	if (edge == WEFT_NONE) {
		weft__viewer_show_message(
			viewer, "The task has no %s edge.", step > 0 ? "later" : "earlier");
		return;
	}
	s->edge = edge;
	s->at = viewer->model->edges.time[edge];
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_STORY;
	weft__viewer_reveal(viewer, viewer->layout->row[s->task], s->at, s->at, false);
	weft_story_edge_sentence(&viewer->story, edge, sentence, sizeof(sentence));
	weft__viewer_show_message(viewer, "%s", sentence);
}

void weft__viewer_go_waker(struct weft_viewer *viewer)
{
	struct weft_story_wake wake;
	if (!weft__viewer_has_selection(viewer))
		return;
	if (!weft_story_woken_by(&viewer->story, viewer->selection.task, viewer->selection.at, &wake) &&
		!weft_story_woken_by(&viewer->story, viewer->selection.task, WEFT_STORY_WHOLE, &wake)) {
		weft__viewer_show_message(viewer, "The trace does not show what woke it.");
		return;
	}
	weft__viewer_go(viewer, wake.task, wake.time);
	viewer->selection.edge = wake.edge;
}

void weft__viewer_go_creator(struct weft_viewer *viewer)
{
	if (!weft__viewer_has_selection(viewer))
		return;
	uint32_t task = viewer->selection.task, creator = weft_story_creator(&viewer->story, task);
	if (creator == WEFT_NONE)
		weft__viewer_show_message(viewer, "The trace does not show what created it.");
	else
		weft__viewer_go(viewer, creator, viewer->layout->start[task]);
}

/* The time from which steps start: that of the selection if it is in view, else the middle. */
static uint64_t time_of_steps(const struct weft_viewer *viewer)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	uint64_t left = weft_view_time(view, 0), right = weft_view_time(view, view->width);
	uint64_t at = viewer->selection.at;
	if (viewer->selection.task == WEFT_NONE || at < left || at > right)
		at = left + (right - left) / 2;
	return at;
}

/* Selects the task of a row at a time. If the row has none, tries the next rows. */
static void step_row(struct weft_viewer *viewer, uint32_t row, int down, uint64_t at)
{
	for (; row < viewer->layout->row_count; row += (uint32_t)down) {
		uint32_t task = weft__render_row_task_at(viewer->scene, row, at);
		if (task != WEFT_NONE) {
			weft__viewer_go(viewer, task, at);
			return;
		}
	}
	weft__viewer_show_message(viewer, "There is no row further %s.", down > 0 ? "down" : "up");
}

/* The row to step from if the selected task has no line: its fold's, or one in the upper part of
 * the view. */
static uint32_t row_without_line(const struct weft_viewer *viewer, uint32_t task)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	uint32_t rows = viewer->layout->row_count;
	uint32_t row = (uint32_t)(weft_view_row(view, view->height / 3) + 0.5);
	if (task != WEFT_NONE && viewer->layout->row[task] != WEFT_NONE)
		row = viewer->layout->row[task];
	return row < rows ? row : rows - 1;
}

static void step_across(struct weft_viewer *viewer, uint32_t task, int step)
{
	uint32_t next = weft__render_row_neighbour(viewer->scene, task, step);
	if (next == WEFT_NONE)
		weft__viewer_show_message(viewer, "This row has no task further on.");
	else
		weft__viewer_go(viewer, next, viewer->layout->start[next]);
}

/* Selects the neighbour in the row, or a task of the nearest row that has any. */
void weft__viewer_step_task(struct weft_viewer *viewer, int across, int down)
{
	uint32_t task = viewer->selection.task;
	if (!viewer->model || viewer->model->tasks.count == 0 || viewer->layout->row_count == 0)
		return;
	if (task != WEFT_NONE && viewer->layout->form[task] == WEFT_FORM_WAIT)
		task = viewer->layout->parent[task];
	uint64_t at = time_of_steps(viewer);
	if (task == WEFT_NONE || viewer->layout->form[task] != WEFT_FORM_LINE)
		step_row(viewer, row_without_line(viewer, task), down ? down : 1, at);
	else if (across)
		step_across(viewer, task, across);
	else
		step_row(viewer, viewer->layout->row[task] + (uint32_t)down, down, at);
}
