/* SPDX-License-Identifier: ISC
 *
 * The choice of rows: folds, groups and the filter. When it changes, the trace is laid out again,
 * and the task in focus keeps its height on the screen. Each change is made in a copy, which
 * becomes the viewer's choice together with its rows: next_rows.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
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

struct weft_layout_options weft__viewer_rows_options(
	const struct weft__rows *rows, const uint8_t *hidden)
{
	return (struct weft_layout_options){
		.no_simplify = rows->no_simplify,
		.fold = !rows->no_fold,
		.group_by = rows->is_grouping_chosen ? rows->group_by : WEFT_GROUP_BY_AUTO,
		.fold_exceptions = rows->exceptions.list,
		.fold_exception_count = rows->exceptions.count,
		.folded_groups = rows->folded_groups.list,
		.folded_group_count = rows->folded_groups.count,
		.hidden = hidden,
	};
}

int weft__viewer_rows_lay_out(const struct weft__rows *rows, const struct weft_model *model,
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
	struct weft_layout_options options = weft__viewer_rows_options(rows, hidden);
	options.previous = former ? former->layout : NULL;
	options.progress = progress ? &of_layout : NULL;
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

enum weft_group_by weft__viewer_rows_group_by(const struct weft_viewer *viewer)
{
	const struct weft__rows *rows = weft__viewer_wanted_rows(viewer);
	return rows->is_grouping_chosen ? rows->group_by : viewer->layout->group_by;
}

bool weft__viewer_rows_are_as_at_first(const struct weft__rows *rows)
{
	return !rows->no_fold && !rows->no_simplify && !rows->is_grouping_chosen &&
		   rows->exceptions.count == 0 && rows->folded_groups.count == 0 && !rows->filter[0];
}

bool weft__viewer_numbers_add(struct weft__numbers *numbers, uint32_t number)
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

static bool copy_numbers(const struct weft__numbers *numbers, struct weft__numbers *ret_copy)
{
	for (uint32_t i = 0; i < numbers->count; i++)
		if (!weft__viewer_numbers_add(ret_copy, numbers->list[i]))
			return false;
	return true;
}

/* Copies the wanted choice, for a change. False without memory. */
static bool copy_rows(struct weft_viewer *viewer, struct weft__rows *ret_copy)
{
	const struct weft__rows *rows = weft__viewer_wanted_rows(viewer);
	struct weft__rows copy = *rows;
	copy.exceptions = copy.folded_groups = (struct weft__numbers){.count = 0};
	bool good = copy_numbers(&rows->exceptions, &copy.exceptions) &&
				copy_numbers(&rows->folded_groups, &copy.folded_groups);
	if (good) {
		*ret_copy = copy;
	} else {
		weft__viewer_rows_finish(&copy);
		weft__viewer_no_memory_for_rows(viewer);
	}
	return good;
}

void weft__viewer_relayout(struct weft_viewer *viewer)
{
	struct weft__rows rows;
	if (copy_rows(viewer, &rows))
		weft__viewer_lay_out(viewer, &rows, WEFT_NONE);
}

static bool toggle(struct weft__numbers *numbers, uint32_t number)
{
	for (uint32_t i = 0; i < numbers->count; i++)
		if (numbers->list[i] == number) {
			numbers->list[i] = numbers->list[--numbers->count];
			return true;
		}
	return weft__viewer_numbers_add(numbers, number);
}

/* The member that names an exception of the fold: another one if there is one already. */
static uint32_t exception_of(
	const struct weft_layout *layout, const struct weft__rows *rows, uint32_t fold)
{
	for (uint32_t i = 0; i < rows->exceptions.count; i++) {
		uint32_t task = rows->exceptions.list[i];
		if (task < layout->model->tasks.count && layout->fold_of[task] == fold)
			return task;
	}
	return layout->fold_members[layout->folds[fold].first];
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
	bool was_folded = layout->folds[fold].folded;
	struct weft__rows rows;
	if (!copy_rows(viewer, &rows))
		return;
	if (!toggle(&rows.exceptions, exception_of(layout, &rows, fold))) {
		weft__viewer_rows_finish(&rows);
		weft__viewer_no_memory_for_rows(viewer);
		return;
	}
	if (!weft__viewer_lay_out(viewer, &rows, task))
		return;
	if (was_folded)
		weft__viewer_show_message(
			viewer, "Unfolded; a click on \xe2\x96\xbe at its beginning folds it, or f.");
	else
		weft__viewer_show_message(viewer, "Folded.");
}

void weft__viewer_fold_all(struct weft_viewer *viewer, bool is_folded)
{
	struct weft__rows rows;
	if (!copy_rows(viewer, &rows))
		return;
	rows.no_fold = !is_folded;
	rows.exceptions.count = 0;
	if (weft__viewer_lay_out(viewer, &rows, WEFT_NONE))
		weft__viewer_show_message(viewer, "%s",
			is_folded ? "Alike tasks are folded into one row."
					  : "Each task is in a row of its own.");
}

void weft__viewer_simplify(struct weft_viewer *viewer, bool is_simplified)
{
	struct weft__rows rows;
	if (!copy_rows(viewer, &rows))
		return;
	rows.no_simplify = !is_simplified;
	if (weft__viewer_lay_out(viewer, &rows, WEFT_NONE))
		weft__viewer_show_message(viewer, is_simplified
											  ? "Binds are drawn from their first read on."
											  : "Every task begins where it was created.");
}

void weft__viewer_group_by(struct weft_viewer *viewer, enum weft_group_by by)
{
	static const char *const words[] = {"Rows are not grouped.", "Rows are grouped by thread.",
		"Rows are grouped by process.", "Rows are grouped by host."};
	struct weft__rows rows;
	if (!copy_rows(viewer, &rows))
		return;
	rows.is_grouping_chosen = by != WEFT_GROUP_BY_AUTO;
	rows.group_by = by;
	rows.folded_groups.count = 0;
	if (!weft__viewer_lay_out(viewer, &rows, WEFT_NONE))
		return;
	by = weft__viewer_rows_group_by(viewer);
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
	struct weft__rows rows;
	if (group >= viewer->layout->group_count || !copy_rows(viewer, &rows))
		return;
	if (toggle(&rows.folded_groups, viewer->layout->groups[group].key))
		weft__viewer_lay_out(viewer, &rows, WEFT_NONE);
	else
		weft__viewer_rows_finish(&rows);
}

enum weft__filtered weft__viewer_set_filter(struct weft_viewer *viewer, const char *filter)
{
	struct weft__rows rows;
	if (strlen(filter) >= sizeof(rows.filter))
		return WEFT__FILTER_TOO_LONG;
	if (strcmp(weft__viewer_wanted_rows(viewer)->filter, filter) == 0)
		return WEFT__FILTER_DONE;
	if (!copy_rows(viewer, &rows))
		return WEFT__FILTER_LATER;
	memcpy(rows.filter, filter, strlen(filter) + 1);
	return weft__viewer_lay_out(viewer, &rows, WEFT_NONE) ? WEFT__FILTER_DONE : WEFT__FILTER_LATER;
}

static bool are_equal(const struct weft__numbers *a, const struct weft__numbers *b)
{
	return a->count == b->count &&
		   (a->count == 0 || memcmp(a->list, b->list, a->count * sizeof(*a->list)) == 0);
}

void weft__viewer_set_rows(struct weft_viewer *viewer, struct weft__rows *rows)
{
	const struct weft__rows *old = weft__viewer_wanted_rows(viewer);
	bool is_same = old->no_fold == rows->no_fold && old->no_simplify == rows->no_simplify &&
				   old->is_grouping_chosen == rows->is_grouping_chosen &&
				   old->group_by == rows->group_by && strcmp(old->filter, rows->filter) == 0 &&
				   are_equal(&old->exceptions, &rows->exceptions) &&
				   are_equal(&old->folded_groups, &rows->folded_groups);
	if (is_same)
		weft__viewer_rows_finish(rows);
	else
		weft__viewer_lay_out(viewer, rows, WEFT_NONE);
}

void weft__viewer_rows_finish(struct weft__rows *rows)
{
	free(rows->exceptions.list);
	free(rows->folded_groups.list);
}
