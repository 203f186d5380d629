/* SPDX-License-Identifier: ISC
 *
 * The chosen range of time, to be measured, zoomed to or cut out. Its ends snap to times within six
 * pixels at which a task begins, ends, starts or stops running, or has an edge.
 */
#include <math.h>

#include "base/search.h"
#include "render/rows.h"
#include "viewer/state.h"

#define TASKS_MAX  64u /* tasks of a row that are tried */
#define SNAP_PX    6.0
#define SNAP_ROW   16.0 /* px from a row's line */
#define STRETCH_PX 8.0

void weft__viewer_begin_range(struct weft_viewer *viewer, uint64_t time)
{
	viewer->range.is_set = true;
	viewer->range.from = viewer->range.to = time;
	viewer->status.message_until_ms = -INFINITY; /* the status line says how to choose one */
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

void weft__viewer_choose_range(struct weft_viewer *viewer, uint64_t from, uint64_t to)
{
	weft__viewer_begin_range(viewer, from);
	viewer->range.to = to;
}

void weft__viewer_order_range(
	const struct weft_viewer *viewer, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct weft__range *range = &viewer->range;
	*ret_start = range->from < range->to ? range->from : range->to;
	*ret_end = range->from < range->to ? range->to : range->from;
}

void weft__viewer_stretch_range(struct weft_viewer *viewer, int step)
{
	double x = weft__viewer_canvas_x(viewer, viewer->range.to) - viewer->frame.picture.x;
	viewer->range.to = weft_view_time(&viewer->view, x + step * STRETCH_PX);
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

struct search {
	const struct weft_viewer *viewer;
	double x, best; /* px */
	uint64_t time;
};

static void try_time(struct search *search, uint64_t time)
{
	double away = fabs(weft__viewer_canvas_x(search->viewer, time) - search->x);
	if (away < search->best) {
		search->best = away;
		search->time = time;
	}
}

static uint64_t time_at(const struct search *search, double x)
{
	return weft_view_time(&search->viewer->view, x - search->viewer->frame.picture.x);
}

/* In a sorted list only the neighbours of the pointer's time can be near. */
static void try_activations(struct search *search, uint32_t task)
{
	const struct weft_model *model = search->viewer->model;
	uint32_t first = model->tasks.first_activation[task];
	uint32_t low = first, high = model->tasks.end_activation[task], last = high;
	uint64_t time = time_at(search, search->x);
	low = weft__search(model->activations.start, low, high, weft__is_less_u64, time);
	for (uint32_t i = low > first ? low - 1 : first; i < last && i <= low; i++) {
		try_time(search, model->activations.start[i]);
		try_time(search, model->activations.end[i]);
	}
}

struct edge_times {
	const uint64_t *time;
	const uint32_t *edges;
};

static bool is_before(const void *context, uint32_t row, uint64_t time)
{
	const struct edge_times *times = context;
	return times->time[times->edges[row]] < time;
}

static void try_edges(struct search *search, uint32_t task)
{
	const struct weft_model *model = search->viewer->model;
	const uint32_t *edges = model->edges.by_actor;
	uint32_t first = model->tasks.first_edge[task];
	uint32_t low = first, high = model->tasks.end_edge[task], last = high;
	uint64_t time = time_at(search, search->x);
	const struct edge_times times = {model->edges.time, edges};
	low = weft__search(&times, low, high, is_before, time);
	for (uint32_t i = low > first ? low - 1 : first; i < last && i <= low; i++)
		try_time(search, model->edges.time[edges[i]]);
}

static void try_row(struct search *search, uint32_t row)
{
	const struct weft_viewer *viewer = search->viewer;
	uint32_t tasks[TASKS_MAX];
	uint64_t from = time_at(search, search->x - SNAP_PX), to = time_at(search, search->x + SNAP_PX);
	uint32_t count = weft__render_row_tasks(viewer->scene, row, from, to, tasks, TASKS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		try_time(search, viewer->layout->start[tasks[i]]);
		try_time(search, viewer->model->tasks.end[tasks[i]]);
		try_activations(search, tasks[i]);
		try_edges(search, tasks[i]);
	}
}

uint64_t weft__viewer_snap(struct weft_viewer *viewer, double x, double y, bool is_free)
{
	const struct weft_box *box = &viewer->frame.picture;
	struct search search = {viewer, x, SNAP_PX, 0};
	viewer->snap.is_set = false;
	search.time = time_at(&search, x);
	if (is_free || !viewer->layout->row_count)
		return search.time;
	uint32_t row = (uint32_t)(weft_view_row(&viewer->view, y - box->y) + 0.5);
	double away = fabs(weft_view_y(&viewer->view, row) + box->y - y);
	if (row < viewer->layout->row_count && away <= SNAP_ROW)
		try_row(&search, row);
	viewer->snap = (struct weft__snap){search.best < SNAP_PX, search.time};
	return search.time;
}
