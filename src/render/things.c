/* SPDX-License-Identifier: ISC
 *
 * See things.h. Of each row at most two tasks can be near, the one that is alive at the point's
 * time and the one before it.
 */
#include "render/things.h"

#include <math.h>

#include "base/search.h"
#include "render/tasks/handles.h"
#include "render/painter.h"

#define ROWS_MAX 512u /* of a lens' edge */

struct looking {
	const struct weft__point *point;
	void (*found)(void *context, const struct weft__thing *thing);
	void *context;
};

static double x_of(const struct weft__point *point, uint64_t time)
{
	return point->frame->picture.x + weft_view_x(point->view, time);
}

static uint64_t time_at(const struct weft__point *point, double x)
{
	return weft_view_time(point->view, x - point->frame->picture.x);
}

/* Nothing is narrower than a pixel. */
static struct weft_box line_box(
	const struct weft__point *point, uint64_t start, uint64_t end, double y)
{
	double x = x_of(point, start), x2 = x_of(point, end);
	return (struct weft_box){x, y, fmax(x2 - x, 1), 0};
}

static void report(const struct looking *l, const struct weft__thing *thing)
{
	const struct weft__point *point = l->point;
	double right = thing->box.x + thing->box.width;
	if (thing->box.x - point->x <= point->reach && point->x - right <= point->reach)
		l->found(l->context, thing);
}

static void find_task(const struct looking *l, uint32_t index, double y)
{
	const struct weft_scene *scene = l->point->scene;
	struct weft_box box =
		line_box(l->point, weft__scene_start(scene, index), weft__scene_end(scene, index), y);
	report(l, &(struct weft__thing){WEFT__THING_TASK, scene->by_row[index], WEFT_NONE, box});
}

static bool starts_by(const void *context, uint32_t member, uint64_t time)
{
	const struct weft_layout *layout = context;
	return layout->start[layout->fold_members[member]] <= time;
}

/* The member of a fold that began last before a time. */
static uint32_t member_at(
	const struct weft_layout *layout, const struct weft_fold *fold, uint64_t time)
{
	uint32_t end = fold->first + fold->count;
	uint32_t next = weft__search(layout, fold->first + 1, end, starts_by, time);
	return layout->fold_members[next - 1];
}

static void find_folds(const struct looking *l, uint32_t row, double y)
{
	const struct weft_layout *layout = l->point->scene->layout;
	const struct weft__piles *piles = &l->point->scene->piles;
	uint64_t time = time_at(l->point, l->point->x);
	for (uint32_t i = piles->row_first[row]; i < piles->row_first[row + 1]; i++) {
		uint32_t number = piles->list[piles->by_row[i]].fold;
		if (number == WEFT_NONE || layout->folds[number].count == 0)
			continue;
		const struct weft_fold *fold = &layout->folds[number];
		struct weft_box box = line_box(l->point, fold->start, fold->end, y);
		report(
			l, &(struct weft__thing){WEFT__THING_FOLD, member_at(layout, fold, time), number, box});
	}
}

static void look_in_row(const struct looking *l, uint32_t row, double y)
{
	const struct weft_scene *scene = l->point->scene;
	uint32_t first = scene->row_first[row], last = scene->row_first[row + 1];
	uint32_t index = weft__scene_first_alive(scene, first, last, time_at(l->point, l->point->x));
	if (index < last)
		find_task(l, index, y);
	if (index > first)
		find_task(l, index - 1, y);
	if (scene->piles.count)
		find_folds(l, row, y);
}

static void find_handle(const struct looking *l)
{
	const struct weft__point *point = l->point;
	const struct weft_box *picture = &point->frame->picture;
	const struct weft_layout *layout = point->scene->layout;
	double x, y, reach = point->handle_reach;
	uint32_t fold = weft__handle_at(point->scene, picture, point->view, point->x, point->y, reach);
	if (fold == WEFT_NONE || !weft__handle_point(layout, picture, point->view, fold, &x, &y))
		return;
	l->found(l->context, &(struct weft__thing){WEFT__THING_HANDLE,
							 weft__handle_task(layout, picture, point->view, fold), fold,
							 {x - reach, y - reach, 2 * reach, 2 * reach}});
}

void weft__things_near(const struct weft__point *point,
	void (*found)(void *context, const struct weft__thing *thing), void *context)
{
	const struct looking looking = {point, found, context};
	const struct weft_view *view = point->view;
	uint32_t rows = point->scene->layout->row_count;
	double top = point->frame->picture.y, y = point->y - top;
	double middle = weft_view_row(view, y);
	double first = fmax(weft_view_row(view, y - point->reach), middle - ROWS_MAX / 2);
	double last = fmin(weft_view_row(view, y + point->reach), middle + ROWS_MAX / 2);
	find_handle(&looking);
	for (uint32_t row = (uint32_t)first; row < rows && row <= last + 1; row++) {
		double row_y = weft_view_y(view, row) + top;
		if (fabs(row_y - point->y) <= point->reach)
			look_in_row(&looking, row, row_y);
	}
}

/* The tasks of a pixel column of one row, from `list[count]` on. */
static uint32_t collect_column(
	const struct weft__point *point, uint32_t row, uint32_t *list, uint32_t count, uint32_t room)
{
	const struct weft_scene *scene = point->scene;
	uint32_t last = scene->row_first[row + 1];
	uint64_t from = time_at(point, floor(point->x)), to = time_at(point, floor(point->x) + 1);
	uint32_t index = weft__scene_first_alive(scene, scene->row_first[row], last, from);
	for (; index < last && count < room && weft__scene_start(scene, index) <= to; index++)
		list[count++] = scene->by_row[index];
	return count;
}

static uint32_t count_narrow(const struct weft__point *point, const uint32_t *list, uint32_t count)
{
	const struct weft_layout *layout = point->scene->layout;
	uint32_t narrow = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t length = layout->model->tasks.end[list[i]] - layout->start[list[i]];
		narrow += (double)length * point->view->scale < WEFT__NARROW;
	}
	return narrow;
}

uint32_t weft__cell_near(const struct weft__point *point, uint32_t *ret_tasks, uint32_t room)
{
	const struct weft_view *view = point->view;
	uint32_t rows = point->scene->layout->row_count, count = 0;
	double y = point->y - point->frame->picture.y, middle = weft_view_row(view, y);
	uint32_t first = (uint32_t)(middle + 0.5), end = first + 1;
	if (weft_view_row_spacing(view, middle) < WEFT__LANE_HEIGHT) {
		first = (uint32_t)weft_view_row(view, y - WEFT__LANE_HEIGHT / 2);
		end = (uint32_t)weft_view_row(view, y + WEFT__LANE_HEIGHT / 2) + 1;
	}
	if (first >= rows || fabs(weft_view_y(view, first) - y) > point->reach / 2)
		return 0;
	end = end < rows ? end : rows;
	for (uint32_t row = first; row < end && count < room; row++)
		count = collect_column(point, row, ret_tasks, count, room);
	bool is_line = end - first == 1 && count_narrow(point, ret_tasks, count) < 2;
	return count < 2 || is_line ? 0 : count;
}
