/* SPDX-License-Identifier: ISC
 *
 * Sets the trace that is shown. If a later state of the same trace replaces it, view, selection and
 * search stay: tasks are found again by their ids.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "model/growth.h"
#include "render/things.h"
#include "viewer/state.h"

/* Two parts of one buffer that begin farther apart are two traces. */
#define SAME_START_NS 1000000

/* State that survives a change of the model in a form without numbers of tasks, because these may
 * change. */
struct memory {
	bool has_selection, has_chain, shows_all, follows_end, keeps_last;
	uint64_t id, at;
	uint32_t buffer;
	uint64_t chain_id, chain_at; /* the first task of the chain that is shown */
	uint32_t chain_buffer;
};

bool weft__viewer_shows_all(const struct weft_viewer *viewer)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	return weft__view_duration(view) >= (double)(view->end - view->start) * 0.9999;
}

static struct memory remember(const struct weft_viewer *viewer)
{
	const struct weft__selection *s = &viewer->selection;
	struct memory memory = {.has_selection = viewer->model && s->task != WEFT_NONE};
	if (!viewer->model)
		return memory;
	memory.shows_all = weft__viewer_shows_all(viewer);
	memory.follows_end = viewer->is_following;
	memory.keeps_last = weft__viewer_keeps_last(viewer);
	memory.has_chain = s->chain;
	if (s->chain) {
		uint32_t task = s->chain->hops[0].wait.task;
		memory.chain_id = viewer->model->tasks.id[task];
		memory.chain_buffer = viewer->model->tasks.buffer[task];
		bool is_at_end = s->chain->at >= viewer->model->summary.end;
		memory.chain_at = is_at_end ? WEFT_STORY_WHOLE : s->chain->at;
	}
	if (memory.has_selection) {
		memory.id = viewer->model->tasks.id[s->task];
		memory.buffer = viewer->model->tasks.buffer[s->task];
		memory.at = s->at;
	}
	return memory;
}

/* `goes_on`: the next model is a later state, in which tasks and edges have the same numbers. */
static void drop(struct weft_viewer *viewer, bool goes_on)
{
	weft__viewer_forget_related(viewer);
	weft__viewer_slide_stop(viewer);
	weft__render_things_clear(viewer->things);
	weft__viewer_forget_heights(viewer);
	weft_scene_destroy(viewer->scene);
	if (goes_on)
		weft__viewer_leave(viewer);
	else
		weft__viewer_forget(viewer);
	weft_layout_destroy(viewer->layout);
	weft_model_destroy(viewer->model);
	weft__viewer_forget_hover(viewer);
	viewer->selection.task = viewer->selection.edge = WEFT_NONE;
	viewer->measured_fold.fold = WEFT_NONE;
	viewer->was_drawn = false;
	if (goes_on)
		return;
	viewer->problems.current = WEFT_NONE;
	viewer->problems.is_marked = false;
}

/* True if the first buffers of both are one, also when one of them was read while it was written,
 * and the other when it was saved: the rate of its clock was known better then, so that the times
 * of its events differ a little. */
static bool has_same_buffer(const struct weft_model *a, const struct weft_model *b)
{
	static const uint8_t unknown[sizeof(a->buffers->uuid)];
	if (!a->buffer_count || !b->buffer_count)
		return false;
	const uint8_t *uuid = a->buffers[0].uuid;
	return memcmp(uuid, unknown, sizeof(unknown)) != 0 &&
		   memcmp(uuid, b->buffers[0].uuid, sizeof(unknown)) == 0;
}

static bool is_same_trace(const struct weft_viewer *viewer, const struct weft_model *model)
{
	if (!viewer->model)
		return false;
	uint64_t before = viewer->model->summary.start, now = model->summary.start;
	uint64_t distance = before > now ? before - now : now - before;
	return distance == 0 || (distance < SAME_START_NS && has_same_buffer(viewer->model, model));
}

/* True if both are the same part of a trace, so that counters and threads have the same numbers. */
static bool is_same_part(const struct weft_viewer *viewer, const struct weft_model *model)
{
	const struct weft_model_summary *old = &viewer->model->summary, *new = &model->summary;
	return old->read_start == new->read_start && old->read_end == new->read_end;
}

/* Forgets the choices that refer to tasks, threads and counters of another trace. */
static void forget_choices(struct weft_viewer *viewer)
{
	viewer->rows.exceptions.count = 0;
	viewer->rows.folded_groups.count = 0;
	viewer->counters.hidden_count = 0;  /* other counters may have these numbers */
	viewer->statistics.has_row = false; /* its key is the number of a label or thread */
	weft__viewer_forget_flame(viewer);
	viewer->problems.count = 0;
	viewer->problems.pulse_ms = -INFINITY;
	viewer->problems.took_ms = 0;
	weft__viewer_known_forget(viewer);
}

/* True if the new model has all tasks of the old one, with the same numbers. */
static bool is_continued(const struct weft_model *before, const struct weft_model *model)
{
	const struct weft_tasks *old = &before->tasks, *new = &model->tasks;
	if (weft__model_growth(model, before))
		return true;
	if (old->count > new->count || before->thread_count > model->thread_count)
		return false;
	return old->count == 0 ||
		   (memcmp(old->id, new->id, old->count * sizeof(*old->id)) == 0 &&
			   memcmp(old->buffer, new->buffer, old->count * sizeof(*old->buffer)) == 0);
}

/* The view of the new model, unchanged if it is the same trace. */
static void set_view(struct weft_viewer *viewer, bool is_same, const struct memory *memory)
{
	struct weft_view old = *weft__viewer_wanted(viewer), view;
	weft_frame_view(viewer->layout, &viewer->frame, &view);
	weft_view_set_squeeze(&view, viewer->squeezing.squeeze);
	weft__viewer_halt(viewer);
	if (is_same) {
		view.scale = old.scale;
		view.left = old.left;
		view.focus = old.focus;
		view.is_plain = old.is_plain;
		weft_view_resize(&view, view.width, view.height);
		if (memory->keeps_last && viewer->is_following)
			weft__viewer_show_last(viewer, &view);
		else if (memory->shows_all)
			weft_view_fit(&view);
		else if (memory->follows_end) /* the right edge stays at the newest event */
			weft_view_pan(&view, -weft__view_px(&view, view.start, view.end));
	} else {
		viewer->history = (struct weft__history){.moved_ms = -INFINITY};
		viewer->range = (struct weft__range){.is_set = false};
	}
	viewer->view = view;
}

/* Replaces the model; its problems are found later. */
static void take_trace(
	struct weft_viewer *viewer, const struct weft_viewer_prepared *p, bool is_live, bool goes_on)
{
	bool is_same = is_same_trace(viewer, p->model);
	struct memory memory = remember(viewer);
	bool was_live = viewer->is_live;
	drop(viewer, goes_on);
	viewer->is_following = is_live && (viewer->is_following || !viewer->is_live);
	viewer->is_live = is_live;
	viewer->model = p->model;
	viewer->layout = p->layout;
	viewer->scene = p->scene;
	viewer->story = p->story;
	weft__viewer_pill_take(viewer, is_same, was_live);
	struct weft_squeeze *old = viewer->squeezing.squeeze;
	viewer->squeezing.squeeze = weft__viewer_make_squeeze(viewer);
	viewer->squeezing.idle_percent = is_live ? 0 : weft__viewer_find_idle(viewer);
	weft__viewer_use_counters(viewer);
	weft__viewer_arrange(viewer);
	set_view(viewer, is_same, &memory);
	weft_squeeze_destroy(old);
	if (is_same && memory.has_selection) {
		viewer->selection.task = weft_model_find_task(p->model, memory.buffer, memory.id);
		viewer->selection.at = memory.at;
	}
	if (is_same)
		weft__viewer_search_again(viewer);
	else
		weft__viewer_forget_search(viewer);
	viewer->search.has_before &= is_same;
	if (is_same && memory.has_chain)
		weft__viewer_renew_chain(viewer,
			weft_model_find_task(p->model, memory.chain_buffer, memory.chain_id), memory.chain_at);
	bool keeps_panel = goes_on && viewer->panel.kind == WEFT__PANEL_PROBLEMS;
	viewer->panel.is_stale = viewer->panel.kind != WEFT__PANEL_NONE && !keeps_panel;
	viewer->changes |= WEFT_VIEWER_CANVAS | WEFT_VIEWER_STATUS;
	if (viewer->has_header)
		viewer->changes |= WEFT_VIEWER_CONTROLS; /* for weft_viewer_facts() */
	if (!is_same)
		weft__viewer_open_at_alert(viewer);
	weft__viewer_settle(viewer);
}

WEFT__EXPORT int weft_viewer_show(
	struct weft_viewer *viewer, struct weft_model *model, bool is_live)
{
	struct weft_viewer_prepared made = {.model = model};
	bool is_same = is_same_trace(viewer, model);
	bool has_choice = viewer->next_rows != NULL; /* other than that of the layout */
	if (!is_same || !is_same_part(viewer, model)) {
		weft__viewer_settle_rows(viewer);
		forget_choices(viewer);
	}
	bool goes_on = is_same && is_live && is_continued(viewer->model, model);
	/* A trace that is complete is laid out as if it had been opened now. */
	bool grows = goes_on && !has_choice && model->summary.live;
	const struct weft__former former = {viewer->layout, viewer->scene};
	int error = weft__viewer_rows_lay_out(weft__viewer_wanted_rows(viewer), model,
		grows ? &former : NULL, NULL, &made.layout, &made.scene);
	if (error)
		return error;
	weft__viewer_settle_rows(viewer);
	made.story = (struct weft_story){.model = model, .layout = made.layout};
	take_trace(
		viewer, &made, is_live, goes_on && model->summary.live && viewer->model->summary.live);
	return 0;
}

WEFT__EXPORT int weft_viewer_show_prepared(
	struct weft_viewer *viewer, struct weft_viewer_prepared *prepared)
{
	weft__viewer_settle_rows(viewer);
	if (!is_same_trace(viewer, prepared->model) || !is_same_part(viewer, prepared->model))
		forget_choices(viewer);
	if (!weft__viewer_rows_are_as_at_first(&viewer->rows)) {
		int error = weft_viewer_show(viewer, prepared->model, false);
		if (error)
			return error;
		prepared->model = NULL;
		weft_viewer_prepared_destroy(prepared);
		return 0;
	}
	take_trace(viewer, prepared, false, false);
	free(prepared);
	return 0;
}
