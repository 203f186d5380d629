/* SPDX-License-Identifier: ISC
 *
 * Makes the flame graph: of a large trace in steps between inputs, of one that grows at most once a
 * second. What was zoomed to stays so in the next one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/graph.h"
#include "stats/maker.h"
#include "viewer/state.h"

#define LIVE_EVERY_MS 1000.0
#define FRAME_STEPS   8 /* of some milliseconds each */

static void find_part(const struct weft_viewer *viewer, struct weft__flame_part *part)
{
	const struct weft__flame_view *f = &viewer->flame;
	memset(part, 0, sizeof(*part));
	part->is_cpu = f->is_cpu;
	part->task = f->is_of_task ? viewer->selection.task : WEFT_NONE;
	if (viewer->range.is_set && viewer->range.from != viewer->range.to)
		weft__viewer_order_range(viewer, &part->from, &part->to);
	memcpy(part->filter, viewer->rows.filter, sizeof(part->filter));
}

static bool is_same(const struct weft__flame_part *a, const struct weft__flame_part *b)
{
	return a->is_cpu == b->is_cpu && a->task == b->task && a->from == b->from && a->to == b->to &&
		   strcmp(a->filter, b->filter) == 0;
}

static void renew_panel(struct weft_viewer *viewer)
{
	if (viewer->panel.kind == WEFT__PANEL_FLAME)
		viewer->panel.is_stale = true;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

static void give_up(struct weft__flame_view *f)
{
	weft__stats_maker_destroy(f->maker);
	free(f->hidden);
	f->maker = NULL;
	f->hidden = NULL;
	f->is_making = false;
}

void weft__viewer_leave_flame(struct weft_viewer *viewer)
{
	give_up(&viewer->flame);
	viewer->flame.is_made = viewer->flame.is_ended = false;
}

void weft__viewer_forget_flame(struct weft_viewer *viewer)
{
	struct weft__flame_view *f = &viewer->flame;
	weft__viewer_leave_flame(viewer);
	weft__profile_graph_destroy(f->graph);
	weft_profile_destroy(f->profile);
	f->graph = NULL;
	f->profile = NULL;
	f->hovered = WEFT_NONE;
}

/* ---- Making it ---- */

static int find_hidden(const struct weft_viewer *viewer, struct weft__flame_view *f)
{
	const uint32_t count = viewer->model->tasks.count;
	int error = 0;
	if (f->part.filter[0])
		error = weft_filter_tasks(viewer->model, f->part.filter, &f->hidden);
	if (error || f->part.task == WEFT_NONE)
		return error;
	if (!f->hidden && !(f->hidden = calloc(count, 1)))
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		f->hidden[i] = f->hidden[i] || i != f->part.task;
	return 0;
}

static int begin_stats(struct weft_viewer *viewer)
{
	struct weft__flame_view *f = &viewer->flame;
	const struct weft_stats_options options = {.by = WEFT_STATS_BY_STACK,
		.start_ns = f->part.from,
		.end_ns = f->part.to,
		.hidden = f->hidden};
	return weft__stats_maker_create(&viewer->story, &options, &f->maker);
}

static int make_samples(const struct weft_viewer *viewer, struct weft_profile **ret_profile)
{
	const struct weft__flame_view *f = &viewer->flame;
	const struct weft_stats_options options = {
		.start_ns = f->part.from, .end_ns = f->part.to, .hidden = f->hidden};
	return weft_profile_create_samples(viewer->model, &options, ret_profile);
}

static int step_waits(struct weft_viewer *viewer, struct weft_profile **ret_profile)
{
	struct weft_stats *stats = NULL;
	int status = weft__stats_maker_step(viewer->flame.maker, &stats);
	if (status)
		return status;
	status = weft_profile_create_waits(stats, ret_profile);
	weft_stats_destroy(stats);
	return status;
}

/* Replaces the graph; it owns the profile then. */
static int take_profile(struct weft__flame_view *f, struct weft_profile *profile)
{
	struct weft__profile_graph *graph = NULL;
	int error = weft__profile_graph_create(profile, &graph);
	if (error) {
		weft_profile_destroy(profile);
		return error;
	}
	if (f->graph)
		graph->zoom = weft__profile_graph_find(graph, f->graph, f->graph->zoom);
	weft__profile_graph_destroy(f->graph);
	weft_profile_destroy(f->profile);
	f->graph = graph;
	f->profile = profile;
	f->hovered = WEFT_NONE;
	f->is_made = true;
	return 0;
}

/* Makes some more of the story index, then of the statistics. */
static int step(struct weft_viewer *viewer)
{
	struct weft__flame_view *f = &viewer->flame;
	struct weft_profile *profile = NULL;
	int status;
	if (f->part.is_cpu) {
		status = make_samples(viewer, &profile);
	} else if (!viewer->story.index) {
		status = weft__viewer_step_story(viewer);
		return status ? status : WEFT_AGAIN;
	} else if (!f->maker) {
		status = begin_stats(viewer);
		return status ? status : WEFT_AGAIN;
	} else {
		status = step_waits(viewer, &profile);
	}
	return status ? status : take_profile(f, profile);
}

static void do_steps(struct weft_viewer *viewer)
{
	const bool is_whole = weft__viewer_is_small(viewer) || viewer->is_live;
	int status = WEFT_AGAIN;
	for (unsigned i = 0; status == WEFT_AGAIN && (is_whole || i < FRAME_STEPS); i++)
		status = step(viewer);
	if (status == WEFT_AGAIN)
		return;
	give_up(&viewer->flame);
	viewer->flame.is_ended = status != 0;
	if (status)
		weft__viewer_show_message(viewer, "Memory ran out: the flame graph was not made.");
	renew_panel(viewer);
}

static void begin(struct weft_viewer *viewer, const struct weft__flame_part *part)
{
	struct weft__flame_view *f = &viewer->flame;
	weft__viewer_leave_flame(viewer);
	f->part = *part;
	f->made_ms = viewer->now_ms;
	f->is_making = true;
	if (find_hidden(viewer, f)) {
		give_up(f);
		f->is_ended = true;
		weft__viewer_show_message(viewer, "Memory ran out: the flame graph was not made.");
		return;
	}
	do_steps(viewer);
	renew_panel(viewer);
}

double weft__viewer_flame_due(const struct weft_viewer *viewer)
{
	const struct weft__flame_view *f = &viewer->flame;
	const bool waits = f->is_shown && viewer->is_live && f->graph && !f->is_made && !f->is_ended;
	return waits ? f->made_ms + LIVE_EVERY_MS : -INFINITY;
}

void weft__viewer_settle_flame(struct weft_viewer *viewer)
{
	struct weft__flame_view *f = &viewer->flame;
	const enum weft__drag drag = viewer->pointer.drag;
	struct weft__flame_part part;
	if (!f->is_shown || !viewer->model)
		return;
	find_part(viewer, &part);
	const bool is_wanted = is_same(&part, &f->part);
	const bool may_wait = viewer->now_ms < weft__viewer_flame_due(viewer);
	const bool is_chosen = drag != WEFT__DRAG_RANGE && drag != WEFT__DRAG_STRIP_RANGE;
	if (is_wanted ? !f->is_made && !f->is_making && !f->is_ended && !may_wait : is_chosen)
		begin(viewer, &part);
	weft__viewer_scroll_flame(viewer, 0);
}

void weft__viewer_learn_flame(struct weft_viewer *viewer)
{
	if (viewer->flame.is_making)
		do_steps(viewer);
}

bool weft__viewer_end_flame(struct weft_viewer *viewer)
{
	if (!viewer->flame.is_making)
		return false;
	give_up(&viewer->flame);
	viewer->flame.is_ended = true;
	renew_panel(viewer);
	weft__viewer_show_message(viewer, "Ended: the flame graph was not made.");
	return true;
}

void weft__viewer_show_flame(struct weft_viewer *viewer, bool is_shown)
{
	struct weft__flame_view *f = &viewer->flame;
	f->is_shown = is_shown;
	f->is_ended = false;
	f->scroll = 0;
	weft__viewer_hover_nothing(viewer);
	if (is_shown && viewer->panel.kind != WEFT__PANEL_FLAME)
		weft__viewer_open_panel(viewer, WEFT__PANEL_FLAME);
	else if (!is_shown && viewer->panel.kind == WEFT__PANEL_FLAME)
		weft__viewer_open_panel(viewer, WEFT__PANEL_NONE);
	if (!is_shown)
		weft__viewer_forget_flame(viewer);
	renew_panel(viewer);
}
