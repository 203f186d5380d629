/* SPDX-License-Identifier: ISC
 *
 * Finds the drawn things within 16 px of a point, the nearest first.
 */
#include <math.h>

#include "layout/waits.h"
#include "render/things.h"
#include "viewer/state.h"

#define REACH    16.0 /* px */
#define HANDLE   9.0  /* px around its middle */
#define TOUCHED  20.0 /* the same for a finger */
#define ARROW    3.0  /* px beside an arrow … */
#define LINE     4.0  /* … unless the point is this near to a task's line */
#define CELL_MAX 4096 /* tasks of a cell that are counted */

struct aim {
	const struct weft_viewer *viewer;
	double x, y;
	double away[WEFT__HITS_MAX]; /* px to the hit's tasks */
	uint32_t folds[WEFT__HITS_MAX];
	struct weft__hit *hit;
};

static void add_candidate(struct aim *aim, uint32_t task, uint32_t fold, double away)
{
	struct weft__hit *hit = aim->hit;
	unsigned at = hit->count < WEFT__HITS_MAX ? hit->count++ : WEFT__HITS_MAX;
	for (; at > 0 && aim->away[at - 1] > away; at--)
		if (at < WEFT__HITS_MAX) {
			aim->away[at] = aim->away[at - 1];
			aim->folds[at] = aim->folds[at - 1];
			hit->tasks[at] = hit->tasks[at - 1];
		}
	if (at < WEFT__HITS_MAX) {
		aim->away[at] = away;
		aim->folds[at] = fold;
		hit->tasks[at] = task;
	}
}

static double distance(const struct weft_box *box, double x, double y)
{
	double across = fmax(box->x - x, x - (box->x + box->width));
	double down = fmax(box->y - y, y - (box->y + box->height));
	return fmax(fmax(across, down), 0);
}

/* The promise in whose wait the point is comes after the task that waits: with the second click. */
static void add_wait(struct aim *aim, uint32_t task, double away)
{
	const struct weft_viewer *viewer = aim->viewer;
	uint64_t at = weft_view_time(&viewer->view, aim->x - viewer->frame.picture.x);
	uint32_t wait = weft__layout_wait_at(viewer->layout, task, at);
	if (wait != WEFT_NONE)
		add_candidate(aim, wait, WEFT_NONE, away);
}

static void take_thing(void *context, const struct weft__thing *thing)
{
	struct aim *aim = context;
	if (thing->type == WEFT__THING_HANDLE) {
		aim->hit->handle = thing->fold;
		aim->hit->handle_task = thing->task;
		return;
	}
	if (thing->type == WEFT__THING_MAX) {
		aim->hit->max = thing->fold;
		return;
	}
	if (thing->type == WEFT__THING_BAND) {
		aim->hit->is_band_name = true;
		return;
	}
	double away = distance(&thing->box, aim->x, aim->y);
	if (away > REACH)
		return;
	add_candidate(aim, thing->task, thing->fold, away);
	if (thing->task != WEFT_NONE && thing->fold == WEFT_NONE)
		add_wait(aim, thing->task, away);
}

/* A band is below everything else; only its name is above. */
static void find_band(const struct weft_viewer *viewer, double x, struct weft__hit *hit)
{
	const struct weft_band_period *band = weft__render_things_band(viewer->things, x);
	if (!band || hit->count || hit->is_cell || hit->edge != WEFT_NONE || hit->max != WEFT_NONE ||
		hit->handle != WEFT_NONE)
		return;
	hit->has_band = true;
	hit->band = *band;
}

static void find_cell(
	const struct weft_viewer *viewer, const struct weft__point *point, struct weft__hit *hit)
{
	uint32_t list[CELL_MAX],
		count = weft__render_things_cell(viewer->things, point, list, CELL_MAX);
	if (count)
		hit->is_cell = weft_story_group_tasks(&viewer->story, list, count, &hit->group) == 0;
}

/* Curves are drawn above the tasks, but a task whose line is as near is meant. */
static void find_curve(
	const struct weft_viewer *viewer, const struct weft__point *point, struct aim *aim)
{
	struct weft__hit *hit = aim->hit;
	if (hit->handle != WEFT_NONE || hit->max != WEFT_NONE || (hit->count && aim->away[0] <= LINE))
		return;
	hit->counter = weft__render_things_curve(viewer->things, point, ARROW);
	if (hit->counter != WEFT_NONE)
		hit->count = 0;
}

/* Arrows end at the lines of tasks and cross them, so there the task is meant. */
static void find_edge(
	const struct weft_viewer *viewer, const struct weft__point *point, struct aim *aim)
{
	struct weft__hit *hit = aim->hit;
	double away;
	if (hit->handle != WEFT_NONE || hit->max != WEFT_NONE || (hit->count && aim->away[0] <= LINE))
		return;
	const struct weft__drawn_edge *edge =
		weft__render_things_edge(viewer->things, point, ARROW, &away);
	if (!edge)
		return;
	bool is_nearer =
		hypot(aim->x - edge->x2, aim->y - edge->y2) < hypot(aim->x - edge->x, aim->y - edge->y);
	hit->edge = edge->edge;
	hit->is_near_head = edge->end == WEFT__EDGE_BOTH ? is_nearer : edge->end == WEFT__EDGE_HEAD;
}

/* Input that arrives before the next frame is drawn needs that frame's record. */
static int draw_unseen(const struct weft_viewer *viewer, double row_shift)
{
	const struct weft_frame *frame = &viewer->frame;
	const struct weft_render_options options = {
		.font = viewer->font,
		.handles = true,
		.row_shifts = viewer->slide.is_running ? viewer->slide.shifts : NULL,
		.row_shift = row_shift,
		.no_counters = true,
	};
	struct weft_canvas *canvas;
	int error = weft_canvas_create(frame->width, frame->height, &canvas);
	if (error)
		return error;
	error = weft__render_things_render(
		viewer->things, viewer->scene, frame, &viewer->view, &options, canvas);
	weft_canvas_destroy(canvas);
	return error;
}

static bool is_recorded(const struct weft_viewer *viewer)
{
	double row_shift = viewer->slide.is_running ? viewer->slide.share : 0;
	return weft__render_things_show(
			   viewer->things, viewer->scene, &viewer->frame, &viewer->view, row_shift) ||
		   draw_unseen(viewer, row_shift) == 0;
}

void weft__viewer_hit(
	const struct weft_viewer *viewer, double x, double y, struct weft__hit *ret_hit)
{
	struct aim aim = {.viewer = viewer, .x = x, .y = y, .hit = ret_hit};
	double handle_reach = viewer->pointer.is_touch ? TOUCHED : HANDLE;
	const struct weft__point point = {x, y, REACH, handle_reach};
	*ret_hit = (struct weft__hit){.fold = WEFT_NONE,
		.handle = WEFT_NONE,
		.handle_task = WEFT_NONE,
		.max = WEFT_NONE,
		.edge = WEFT_NONE,
		.counter = WEFT_NONE};
	if (viewer->layout->row_count == 0 || !weft__viewer_inside(&viewer->frame.picture, x, y))
		return;
	if (!is_recorded(viewer))
		return;
	weft__render_things_near(viewer->things, &point, take_thing, &aim);
	if (ret_hit->is_band_name)
		ret_hit->count = 0;
	else
		find_curve(viewer, &point, &aim);
	if (ret_hit->counter != WEFT_NONE)
		return;
	if (ret_hit->count)
		ret_hit->fold = aim.folds[0];
	if (!ret_hit->is_band_name)
		find_edge(viewer, &point, &aim);
	if (!ret_hit->is_band_name && ret_hit->fold == WEFT_NONE && ret_hit->edge == WEFT_NONE)
		find_cell(viewer, &point, ret_hit);
	find_band(viewer, x, ret_hit);
}
