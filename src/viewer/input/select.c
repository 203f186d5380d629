/* SPDX-License-Identifier: ISC
 *
 * Hovering and selecting. A pointer has to rest on a task for 80 ms before the status describes it.
 * A click selects, another click at the same point selects the task below, a double click
 * highlights all related tasks, and a click on a fold unfolds it.
 */
#include <math.h>
#include <stdlib.h>

#include "viewer/state.h"

#define RELATED_MAX 100000
#define TOOTH_WIDTH 8.0 /* px; a click selects a tooth of a fold if it is wider */

static void stand_out(struct weft_viewer *viewer)
{
	bool is_shown = viewer->hover.task != WEFT_NONE || viewer->hover.edge != WEFT_NONE ||
					viewer->selection.task != WEFT_NONE;
	struct weft__fade *fade = &viewer->fade;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	if (is_shown == fade->is_shown)
		return;
	*fade = (struct weft__fade){is_shown, fade->strength, fade->strength, viewer->now_ms};
	if (viewer->reduced_motion)
		fade->strength = fade->from = is_shown;
}

static void want(struct weft__hover *h, uint32_t task, uint32_t fold, uint32_t edge)
{
	h->wanted = task;
	h->wanted_fold = fold;
	h->wanted_edge = edge;
}

static void take_wanted(struct weft__hover *h)
{
	h->task = h->wanted;
	h->fold = h->wanted_fold;
	h->edge = h->wanted_edge;
	h->due_ms = INFINITY;
}

/* The pointer has rested. */
static void hover(struct weft_viewer *viewer)
{
	take_wanted(&viewer->hover);
	if (weft__viewer_has_moved_since_message(viewer))
		viewer->status.message_until_ms = -INFINITY;
	stand_out(viewer);
}

void weft__viewer_hover_nothing(struct weft_viewer *viewer)
{
	viewer->hover.is_cell = viewer->hover.has_band = false;
	viewer->hover.handle = viewer->hover.max = viewer->hover.counter = WEFT_NONE;
	viewer->hover.sign.type = WEFT__SIGN_NONE;
	viewer->toolbar.hovered = WEFT__NO_BUTTON;
	viewer->flame.hovered = WEFT_NONE;
	want(&viewer->hover, WEFT_NONE, WEFT_NONE, WEFT_NONE);
	if (viewer->hover.task != WEFT_NONE || viewer->hover.edge != WEFT_NONE ||
		viewer->hover.due_ms < INFINITY)
		hover(viewer);
}

void weft__viewer_forget_hover(struct weft_viewer *viewer)
{
	struct weft__hover *h = &viewer->hover;
	want(h, WEFT_NONE, WEFT_NONE, WEFT_NONE);
	take_wanted(h);
	h->handle = h->max = h->counter = WEFT_NONE;
	h->sign.type = WEFT__SIGN_NONE;
	h->has_band = false;
}

void weft__viewer_hover_at(struct weft_viewer *viewer, double x, double y, double after_ms)
{
	struct weft__hit hit;
	struct weft__hover *h = &viewer->hover;
	viewer->flame.hovered = WEFT_NONE;
	if (weft__viewer_is_over_flame(viewer, x, y)) {
		weft__viewer_hover_nothing(viewer);
		weft__viewer_hover_flame(viewer, x, y);
		return;
	}
	weft__viewer_hit(viewer, x, y, &hit);
	bool is_one = hit.count && !hit.is_cell && hit.edge == WEFT_NONE;
	uint32_t task = is_one ? hit.tasks[0] : WEFT_NONE, fold = is_one ? hit.fold : WEFT_NONE;
	h->is_near_head = hit.is_near_head;
	h->is_cell = hit.is_cell;
	h->group = hit.group;
	h->has_band = hit.has_band;
	h->band = hit.band;
	h->counter = hit.counter != WEFT_NONE ? hit.counter : weft__viewer_counter_at(viewer, x, y);
	h->sign = weft__viewer_sign_at(viewer, x, y);
	bool is_folded = hit.handle == WEFT_NONE || viewer->layout->folds[hit.handle].folded;
	h->handle = is_folded ? WEFT_NONE : hit.handle;
	h->max = hit.max;
	viewer->toolbar.hovered = weft__viewer_button_at(viewer, x, y);
	bool is_one_fold =
		fold != WEFT_NONE && fold == h->fold; /* a fold has too many teeth to wait for each */
	bool is_other = task != h->wanted || hit.edge != h->wanted_edge;
	want(h, task, fold, hit.edge);
	if ((task == h->task && hit.edge == h->edge) || is_one_fold)
		take_wanted(h);
	else if (after_ms <= 0)
		hover(viewer);
	else if (is_other || h->due_ms == INFINITY)
		h->due_ms = viewer->now_ms + after_ms;
}

void weft__viewer_advance_hover(struct weft_viewer *viewer)
{
	struct weft__fade *fade = &viewer->fade;
	if (viewer->now_ms >= viewer->hover.due_ms)
		hover(viewer);
	if (fade->strength == fade->is_shown)
		return;
	double done = fmin(fmax((viewer->now_ms - fade->begin_ms) / WEFT__FADE_MS, 0), 1);
	fade->strength = fade->from + (fade->is_shown - fade->from) * done;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

void weft__viewer_forget_related(struct weft_viewer *viewer)
{
	free(viewer->selection.related);
	weft_chain_destroy(viewer->selection.chain);
	viewer->selection.chain = NULL;
	viewer->selection.related = NULL;
	viewer->selection.related_count = 0;
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_STORY ||
							 viewer->panel.kind == WEFT__PANEL_CHAIN;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

void weft__viewer_forget_chain(struct weft_viewer *viewer)
{
	weft__viewer_forget_related(viewer);
	if (viewer->panel.kind == WEFT__PANEL_CHAIN)
		weft__viewer_open_panel(viewer, WEFT__PANEL_STORY);
}

void weft__viewer_show_related(struct weft_viewer *viewer, uint32_t task)
{
	struct weft__selection *s = &viewer->selection;
	uint32_t *related, count;
	bool more;
	if (!weft__viewer_know_story(viewer) ||
		weft_story_related(&viewer->story, task, RELATED_MAX, &related, &count, &more))
		return;
	weft__viewer_forget_related(viewer);
	s->related = related;
	s->related_count = count;
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_STORY;
	if (count < 2)
		weft__viewer_show_message(
			viewer, "No task is related to it: it waits for none, and none waits for it.");
	else
		weft__viewer_show_message(viewer,
			"%s%u tasks belong together: what they become and wait for. Esc ends it.",
			more ? "More than " : "", (unsigned)count);
}

void weft__viewer_select(struct weft_viewer *viewer, uint32_t task, uint64_t at)
{
	struct weft__selection *s = &viewer->selection;
	bool is_other = task != s->task;
	s->task = task;
	s->edge = WEFT_NONE;
	s->at = at;
	s->is_of_chain = false;
	viewer->status.message_until_ms = -INFINITY;
	viewer->problems.is_marked = false;
	if (is_other) {
		if (!weft__viewer_is_in_chain(viewer, task))
			weft__viewer_forget_chain(viewer);
		if (viewer->panel.kind == WEFT__PANEL_STORY && task == WEFT_NONE)
			weft__viewer_open_panel(viewer, WEFT__PANEL_NONE);
		viewer->panel.is_stale = true;
	}
	stand_out(viewer);
}

/* The next task below the selected one, if the click is at the same point. */
static uint32_t choose(const struct weft_viewer *viewer, const struct weft__hit *hit, bool is_again)
{
	for (unsigned i = 0; is_again && i < hit->count; i++)
		if (hit->tasks[i] == viewer->selection.task)
			return hit->tasks[(i + 1) % hit->count];
	return hit->tasks[0];
}

static void select_clicked(struct weft_viewer *viewer, uint32_t task, uint64_t at)
{
	weft__viewer_select(viewer, task, at);
	if (viewer->panel.kind == WEFT__PANEL_STORY || viewer->selection.chain)
		return;
	weft__viewer_open_panel(viewer, WEFT__PANEL_STORY);
	if (viewer->boxes.panel.y > 0) /* the panel takes height and may cover the task */
		weft__viewer_reveal(viewer, viewer->layout->row[task], at, at, false);
}

/* True if x is on a tooth that is wide enough to be clicked. */
static bool is_on_span(const struct weft_viewer *viewer, uint32_t task, double x)
{
	double from = weft__viewer_canvas_x(viewer, viewer->layout->start[task]);
	double to = weft__viewer_canvas_x(viewer, viewer->model->tasks.end[task]);
	return to - from >= TOOTH_WIDTH && x >= from - 2 && x <= to + 2;
}

/* A click on a fold, or on the handle of an unfolded one. */
static bool click_fold(struct weft_viewer *viewer, const struct weft__hit *hit, double x)
{
	uint64_t at = weft_view_time(&viewer->view, x - viewer->frame.picture.x);
	uint32_t task = hit->count ? hit->tasks[0] : WEFT_NONE;
	bool is_span = false;
	if (hit->handle != WEFT_NONE)
		task = hit->handle_task;
	else if (hit->fold != WEFT_NONE)
		is_span = is_on_span(viewer, task, x);
	else
		return false;
	weft__viewer_toggle_fold(viewer, task);
	if (is_span)
		select_clicked(viewer, task, at);
	return true;
}

/* A click on the longest life in a fold goes to the task that lived so long. */
static void click_max(struct weft_viewer *viewer, uint32_t fold)
{
	const struct weft_layout *layout = viewer->layout;
	const struct weft_fold *f = &layout->folds[fold];
	uint32_t task = layout->fold_members[f->first];
	for (uint32_t i = f->first; i < f->first + f->count; i++) {
		uint32_t member = layout->fold_members[i];
		uint64_t start = layout->start[member], end = viewer->model->tasks.end[member];
		if (end > start && end - start == f->life_max_ns) {
			task = member;
			break;
		}
	}
	select_clicked(viewer, task, layout->start[task]);
	weft__viewer_reveal(
		viewer, layout->row[task], layout->start[task], viewer->model->tasks.end[task], true);
}

void weft__viewer_click(
	struct weft_viewer *viewer, double x, double y, bool is_again, bool is_double)
{
	struct weft__hit hit;
	uint64_t at = weft_view_time(&viewer->view, x - viewer->frame.picture.x);
	bool has_folded = viewer->pointer.click_folded;
	viewer->pointer.click_folded = false;
	if (is_double && has_folded) /* a double click folds or unfolds once */
		return;
	weft__viewer_hit(viewer, x, y, &hit);
	if (hit.max != WEFT_NONE) {
		click_max(viewer, hit.max);
		return;
	}
	viewer->pointer.click_folded = click_fold(viewer, &hit, x);
	if (viewer->pointer.click_folded)
		return;
	if (is_double && viewer->selection.task != WEFT_NONE) {
		weft__viewer_show_related(viewer, viewer->selection.task);
		return;
	}
	if (hit.counter != WEFT_NONE) {
		weft__viewer_click_counter(viewer, hit.counter, x);
		return;
	}
	if (hit.edge != WEFT_NONE) {
		weft__viewer_click_edge(viewer, hit.edge, hit.is_near_head);
		return;
	}
	if (hit.has_band && viewer->selection.task == WEFT_NONE) {
		weft__viewer_choose_range(viewer, hit.band.start, hit.band.end);
		return;
	}
	if (hit.count == 0) {
		weft__viewer_select(viewer, WEFT_NONE, 0);
		return;
	}
	select_clicked(viewer, choose(viewer, &hit, is_again), at);
}
