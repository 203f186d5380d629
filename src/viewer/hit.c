/* SPDX-License-Identifier: ISC
 *
 * What is under a point: the nearest tasks within 16 px. Of each row at most two can be, the one
 * that is alive at the point's time and its neighbour; so a hit costs as much as there are rows
 * within 16 px, however long they are.
 */
#include <math.h>

#include "render/handles.h"
#include "render/painter.h"
#include "viewer/state.h"

#define REACH    16.0 /* px */
#define ROWS_MAX 512u /* of a lens' edge */
#define HANDLE   9.0  /* px around its middle */
#define TOUCHED  20.0 /* likewise, by a finger */
#define CELL_PX  2.0  /* tasks below are drawn as densities */
#define CELL_MAX 4096 /* tasks that are looked at one by one */

struct aim {
	struct weft_viewer *viewer;
	double x, y;
	double away[WEFT__HITS_MAX]; /* px, of the hit's tasks */
	uint32_t folds[WEFT__HITS_MAX];
	struct weft__hit *hit;
};

static void add(struct aim *aim, uint32_t task, uint32_t fold, double away)
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

static void try_place(struct aim *aim, uint32_t place, double down)
{
	const struct weft_viewer *viewer = aim->viewer;
	double x = weft__canvas_x(viewer, weft__scene_start(viewer->scene, place));
	double x2 = weft__canvas_x(viewer, weft__scene_end(viewer->scene, place));
	double across = fmax(fmax(x - aim->x, aim->x - fmax(x2, x + 1)), 0);
	double away = fmax(across, down);
	if (away <= REACH)
		add(aim, viewer->scene->by_row[place], WEFT_NONE, away);
}

static uint64_t time_at(const struct weft_viewer *viewer, double x)
{
	return weft_view_time(&viewer->view, x - viewer->frame.picture.x);
}

/* Of a fold, the member that began last before the point. */
static void try_fold(struct aim *aim, uint32_t number, double down)
{
	const struct weft_layout *layout = aim->viewer->layout;
	const struct weft_fold *fold = &layout->folds[number];
	double x = weft__canvas_x(aim->viewer, fold->start),
		   x2 = weft__canvas_x(aim->viewer, fold->end);
	double away = fmax(fmax(fmax(x - aim->x, aim->x - fmax(x2, x + 1)), 0), down);
	uint64_t time = time_at(aim->viewer, aim->x);
	uint32_t low = fold->first, high = fold->first + fold->count;
	if (away > REACH || fold->count == 0)
		return;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (layout->start[layout->fold_members[middle]] <= time)
			low = middle;
		else
			high = middle;
	}
	add(aim, layout->fold_members[low], number, away);
}

static void try_piles(struct aim *aim, uint32_t row, double down)
{
	const struct weft__piles *piles = &aim->viewer->scene->piles;
	for (uint32_t i = piles->row_first[row]; i < piles->row_first[row + 1]; i++) {
		uint32_t fold = piles->list[piles->by_row[i]].fold;
		if (fold != WEFT_NONE)
			try_fold(aim, fold, down);
	}
}

static void try_row(struct aim *aim, uint32_t row, double down)
{
	const struct weft_scene *scene = aim->viewer->scene;
	uint32_t first = scene->row_first[row], last = scene->row_first[row + 1];
	uint32_t place = weft__scene_first_alive(scene, first, last, time_at(aim->viewer, aim->x));
	if (place < last)
		try_place(aim, place, down);
	if (place > first)
		try_place(aim, place - 1, down);
	if (aim->viewer->scene->piles.count)
		try_piles(aim, row, down);
}

/* The tasks of a pixel column of one row, from `list[count]` on. */
static uint32_t collect_column(
	const struct weft_viewer *viewer, uint32_t row, double x, uint32_t *list, uint32_t count)
{
	const struct weft_scene *scene = viewer->scene;
	uint32_t last = scene->row_first[row + 1];
	uint64_t from = time_at(viewer, floor(x)), to = time_at(viewer, floor(x) + 1);
	uint32_t place = weft__scene_first_alive(scene, scene->row_first[row], last, from);
	for (; place < last && count < CELL_MAX; place++) {
		if (weft__scene_start(scene, place) > to)
			break;
		list[count++] = scene->by_row[place];
	}
	return count;
}

/* A density, if the point is on one. */
static void find_cell(struct aim *aim, uint32_t first_row, uint32_t last_row)
{
	const struct weft_viewer *viewer = aim->viewer;
	uint32_t list[CELL_MAX], count = 0;
	for (uint32_t row = first_row; row < last_row && count < CELL_MAX; row++)
		count = collect_column(viewer, row, aim->x, list, count);
	bool is_one_row = last_row - first_row == 1;
	uint32_t narrow = 0;
	for (uint32_t i = 0; i < count; i++)
		narrow += (double)(viewer->model->tasks.end[list[i]] - viewer->layout->start[list[i]]) *
					  viewer->view.scale <
				  CELL_PX;
	if (count < 2 || (is_one_row && narrow < 2))
		return;
	aim->hit->is_cell = weft_story_group_tasks(&viewer->story, list, count, &aim->hit->group) == 0;
}

void weft__viewer_hit(struct weft_viewer *viewer, double x, double y, struct weft__hit *ret_hit)
{
	struct aim aim = {.viewer = viewer, .x = x, .y = y, .hit = ret_hit};
	const struct weft_view *view = &viewer->view;
	const struct weft_box *box = &viewer->frame.picture;
	uint32_t rows = viewer->layout->row_count;
	*ret_hit = (struct weft__hit){.fold = WEFT_NONE, .handle = WEFT_NONE};
	if (rows == 0 || !weft__inside(box, x, y))
		return;
	ret_hit->handle = weft__handle_at(
		viewer->scene, box, view, x, y, viewer->pointer.is_touch ? TOUCHED : HANDLE);
	double middle = weft_view_row(view, y - box->y);
	double first = fmax(weft_view_row(view, y - box->y - REACH), middle - ROWS_MAX / 2);
	double last = fmin(weft_view_row(view, y - box->y + REACH), middle + ROWS_MAX / 2);
	for (uint32_t row = (uint32_t)first; row < rows && row <= last + 1; row++) {
		double down = fabs(weft_view_y(view, row) + box->y - y);
		if (down <= REACH)
			try_row(&aim, row, down);
	}
	if (ret_hit->count)
		ret_hit->fold = aim.folds[0];
	uint32_t row = (uint32_t)(middle + 0.5), end = row + 1;
	if (weft_view_row_spacing(view, middle) < WEFT__LANE_HEIGHT) {
		row = (uint32_t)weft_view_row(view, y - box->y - WEFT__LANE_HEIGHT / 2);
		end = (uint32_t)weft_view_row(view, y - box->y + WEFT__LANE_HEIGHT / 2) + 1;
	}
	if (ret_hit->fold == WEFT_NONE && row < rows &&
		fabs(weft_view_y(view, row) + box->y - y) <= REACH / 2)
		find_cell(&aim, row, end < rows ? end : rows);
}
