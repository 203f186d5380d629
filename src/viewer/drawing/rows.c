/* SPDX-License-Identifier: ISC
 *
 * The choice of rows: folds, groups and the filter. When these change, the trace is laid out again,
 * and the task in focus keeps its height on the screen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "render/things.h"
#include "viewer/state.h"

/* Reports the progress of one half of an operation as that of the whole. */
struct half {
	const struct weft_progress *whole;
	double begin;
};

static bool step_half(void *context, double part)
{
	const struct half *half = context;
	return !half->whole->step || half->whole->step(half->whole->context, half->begin + part / 2);
}

int weft__rows_lay_out(const struct weft__rows *rows, const struct weft_model *model,
	const struct weft__former *former, const struct weft_progress *progress,
	struct weft_layout **ret_layout, struct weft_scene **ret_scene)
{
	const struct weft_help *help = progress ? progress->help : NULL;
	struct half halves[2] = {{progress, 0}, {progress, 0.5}};
	struct weft_progress of_layout = {step_half, &halves[0], help};
	struct weft_progress of_scene = {step_half, &halves[1], help};
	struct weft_layout *layout = NULL;
	uint8_t *hidden = NULL;
	int error = 0;
	if (rows->filter[0])
		error = weft_filter_tasks(model, rows->filter, &hidden);
	struct weft_layout_options options = {
		.no_simplify = rows->no_simplify,
		.fold = !rows->no_fold,
		.group_by = rows->is_grouping_chosen ? rows->group_by : WEFT_GROUP_BY_AUTO,
		.fold_exceptions = rows->exceptions.list,
		.fold_exception_count = rows->exceptions.count,
		.folded_groups = rows->folded_groups.list,
		.folded_group_count = rows->folded_groups.count,
		.hidden = hidden,
		.previous = former ? former->layout : NULL,
		.progress = progress ? &of_layout : NULL,
	};
	if (!error)
		error = weft_layout_create(model, &options, &layout);
	free(hidden);
	if (!error && former)
		error = weft_scene_create_from(model, layout, former->scene, ret_scene);
	else if (!error)
		error = weft_scene_create_watched(model, layout, progress ? &of_scene : NULL, ret_scene);
	if (error)
		weft_layout_destroy(layout);
	else
		*ret_layout = layout;
	return error;
}

enum weft_group_by weft__rows_group_by(const struct weft_viewer *viewer)
{
	return viewer->rows.is_grouping_chosen ? viewer->rows.group_by : viewer->layout->group_by;
}

bool weft__rows_are_as_at_first(const struct weft__rows *rows)
{
	return !rows->no_fold && !rows->no_simplify && !rows->is_grouping_chosen &&
		   rows->exceptions.count == 0 && rows->folded_groups.count == 0 && !rows->filter[0];
}

/* The task that keeps its height: the selected one, or one in the middle of the picture. */
static uint32_t anchor_of(struct weft_viewer *viewer)
{
	const struct weft_box *box = &viewer->frame.picture;
	uint32_t task = viewer->selection.task;
	struct weft__hit hit;
	if (task != WEFT_NONE && viewer->layout->row[task] != WEFT_NONE)
		return task;
	weft__viewer_hit(viewer, box->x + box->width / 2, box->y + box->height / 2, &hit);
	return hit.count ? hit.tasks[0] : WEFT_NONE;
}

static void take_layout(
	struct weft_viewer *viewer, struct weft_layout *layout, struct weft_scene *scene)
{
	weft__things_clear(viewer->things);
	weft__viewer_forget_heights(viewer);
	weft_scene_destroy(viewer->scene);
	weft_layout_destroy(viewer->layout);
	viewer->layout = layout;
	viewer->scene = scene;
	viewer->story.layout = layout;
	weft__survey_relayout(viewer);
	viewer->view.row_count = layout->row_count;
	viewer->hover.fold = viewer->hover.wanted_fold = viewer->hover.handle = WEFT_NONE;
	viewer->hover.max = WEFT_NONE;
	viewer->measured_fold.fold = WEFT_NONE;
	weft__viewer_forget_statistics(viewer); /* tasks may have other starts and parents */
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_STATISTICS;
}

/* Lays out the rows again; `anchor`, if it is not WEFT_NONE, keeps its height. */
static void lay_out_around(struct weft_viewer *viewer, uint32_t anchor)
{
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_view view = *weft__viewer_wanted(viewer);
	double y = view.height / 2;
	if (weft__rows_lay_out(&viewer->rows, viewer->model, NULL, NULL, &layout, &scene))
		return;
	if (anchor != WEFT_NONE && viewer->layout->row[anchor] == WEFT_NONE)
		anchor = WEFT_NONE;
	if (anchor != WEFT_NONE)
		y = weft_view_y(&view, viewer->layout->row[anchor]);
	weft__slide_prepare(viewer, layout, scene);
	weft__viewer_halt(viewer);
	take_layout(viewer, layout, scene);
	view.row_count = layout->row_count;
	viewer->view = view;
	weft__viewer_arrange(viewer); /* groups need a gutter */
	weft__viewer_follow_view(viewer, &viewer->view);
	if (anchor != WEFT_NONE && layout->row[anchor] != WEFT_NONE)
		weft_view_drag_row(&viewer->view, layout->row[anchor], y);
	weft__slide_begin(viewer);
	weft__viewer_hover_nothing(viewer);
	viewer->panel.is_stale = true;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

void weft__viewer_relayout(struct weft_viewer *viewer)
{
	lay_out_around(viewer, anchor_of(viewer));
}

bool weft__numbers_add(struct weft__numbers *numbers, uint32_t number)
{
	if (numbers->count == numbers->capacity) {
		size_t capacity = weft__array_next_capacity(numbers->capacity, numbers->count + (size_t)1);
		if (weft__array_resize(&numbers->list, capacity, sizeof(*numbers->list)))
			return false;
		numbers->capacity = capacity;
	}
	numbers->list[numbers->count++] = number;
	return true;
}

static bool toggle(struct weft__numbers *numbers, uint32_t number)
{
	for (uint32_t i = 0; i < numbers->count; i++)
		if (numbers->list[i] == number) {
			numbers->list[i] = numbers->list[--numbers->count];
			return true;
		}
	return weft__numbers_add(numbers, number);
}

void weft__viewer_toggle_fold(struct weft_viewer *viewer, uint32_t task)
{
	const struct weft_layout *layout = viewer->layout;
	uint32_t fold = task != WEFT_NONE && layout->fold_of ? layout->fold_of[task] : WEFT_NONE;
	if (fold == WEFT_NONE) {
		weft__viewer_show_message(
			viewer, task == WEFT_NONE ? "No task is selected." : "This task is not in a fold.");
		return;
	}
	/* The exception may name another member of the fold. */
	const struct weft_fold *f = &layout->folds[fold];
	uint32_t name = layout->fold_members[f->first];
	for (uint32_t i = 0; i < viewer->rows.exceptions.count; i++) {
		uint32_t exception = viewer->rows.exceptions.list[i];
		if (exception < viewer->model->tasks.count && layout->fold_of[exception] == fold)
			name = exception;
	}
	bool was_folded = f->folded;
	if (!toggle(&viewer->rows.exceptions, name))
		return;
	lay_out_around(viewer, task);
	if (was_folded)
		weft__viewer_show_message(
			viewer, "Unfolded; a click on \xe2\x96\xbe at its beginning folds it, or f.");
	else
		weft__viewer_show_message(viewer, "Folded.");
}

void weft__viewer_fold_all(struct weft_viewer *viewer, bool is_folded)
{
	viewer->rows.no_fold = !is_folded;
	viewer->rows.exceptions.count = 0;
	weft__viewer_relayout(viewer);
	weft__viewer_show_message(viewer, "%s",
		is_folded ? "Alike tasks are folded into one row." : "Each task is in a row of its own.");
}

void weft__viewer_simplify(struct weft_viewer *viewer, bool is_simplified)
{
	viewer->rows.no_simplify = !is_simplified;
	weft__viewer_relayout(viewer);
	weft__viewer_show_message(viewer, is_simplified ? "Binds are drawn from their first read on."
													: "Every task begins where it was created.");
}

void weft__viewer_group_by(struct weft_viewer *viewer, enum weft_group_by by)
{
	static const char *const words[] = {"Rows are not grouped.", "Rows are grouped by thread.",
		"Rows are grouped by process.", "Rows are grouped by host."};
	viewer->rows.is_grouping_chosen = by != WEFT_GROUP_BY_AUTO;
	viewer->rows.group_by = by;
	viewer->rows.folded_groups.count = 0;
	weft__viewer_relayout(viewer);
	by = weft__rows_group_by(viewer);
	weft__viewer_show_message(viewer, "%s%s", words[by],
		by && viewer->layout->group_count == 0 ? " There is only one." : "");
}

/* The group at a height of the canvas, or WEFT_NONE. */
uint32_t weft__viewer_group_at(const struct weft_viewer *viewer, double y)
{
	const struct weft_layout *layout = viewer->layout;
	double row = weft_view_row(&viewer->view, y - viewer->frame.picture.y) + 0.5;
	for (uint32_t i = 0; i < layout->group_count; i++)
		if (row >= layout->groups[i].first_row &&
			row < layout->groups[i].first_row + layout->groups[i].row_count)
			return i;
	return WEFT_NONE;
}

void weft__viewer_toggle_group(struct weft_viewer *viewer, uint32_t group)
{
	if (group < viewer->layout->group_count &&
		toggle(&viewer->rows.folded_groups, viewer->layout->groups[group].key))
		weft__viewer_relayout(viewer);
}

bool weft__viewer_set_filter(struct weft_viewer *viewer, const char *filter)
{
	if (strlen(filter) >= sizeof(viewer->rows.filter))
		return false;
	if (strcmp(viewer->rows.filter, filter) == 0)
		return true;
	memmove(viewer->rows.filter, filter, strlen(filter) + 1);
	weft__viewer_relayout(viewer);
	return true;
}

static bool are_equal(const struct weft__numbers *a, const struct weft__numbers *b)
{
	return a->count == b->count &&
		   (a->count == 0 || memcmp(a->list, b->list, a->count * sizeof(*a->list)) == 0);
}

void weft__viewer_set_rows(struct weft_viewer *viewer, const struct weft__rows *rows)
{
	struct weft__rows *old = &viewer->rows;
	bool is_same = old->no_fold == rows->no_fold && old->no_simplify == rows->no_simplify &&
				   old->is_grouping_chosen == rows->is_grouping_chosen &&
				   old->group_by == rows->group_by && strcmp(old->filter, rows->filter) == 0 &&
				   are_equal(&old->exceptions, &rows->exceptions) &&
				   are_equal(&old->folded_groups, &rows->folded_groups);
	weft__rows_finish(old);
	*old = *rows;
	if (!is_same)
		weft__viewer_relayout(viewer);
}

void weft__rows_finish(struct weft__rows *rows)
{
	free(rows->exceptions.list);
	free(rows->folded_groups.list);
}
