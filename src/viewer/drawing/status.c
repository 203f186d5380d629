/* SPDX-License-Identifier: ISC
 *
 * The status line: the message of the last command, else a sentence about the task under the
 * pointer, the selection or the measured range; before the first input, how idle the trace is and
 * the number of problems.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profile/graph.h"
#include "viewer/state.h"

#define MESSAGE_MS 8000.0
#define STEADY_PX  4.0 /* a hand on the mouse moves less than this */

void weft__viewer_show_message(struct weft_viewer *viewer, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(viewer->status.message, sizeof(viewer->status.message), format, arguments);
	va_end(arguments);
	viewer->status.message_until_ms = viewer->now_ms + MESSAGE_MS;
	viewer->status.message_x = viewer->pointer.x;
	viewer->status.message_y = viewer->pointer.y;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

static uint64_t time_at(const struct weft_viewer *viewer)
{
	return weft_view_time(&viewer->view, viewer->pointer.x - viewer->frame.picture.x);
}

/* The pointer's time, limited to the task's life. */
static uint64_t pointed_time(const struct weft_viewer *viewer, uint32_t task)
{
	uint64_t start = viewer->layout->start[task], end = viewer->model->tasks.end[task];
	uint64_t at = time_at(viewer);
	return at < start ? start : at >= end && end > start ? end - 1 : at;
}

static void write_range(const struct weft_viewer *viewer, char *text, size_t size)
{
	uint64_t start, end;
	char from[32], to[32], length[32];
	weft__viewer_order_range(viewer, &start, &end);
	weft_format_duration(start - viewer->view.start, 6, from);
	weft_format_duration(end - viewer->view.start, 6, to);
	weft_format_duration(end - start, 4, length);
	snprintf(text, size, "%s, from %s to %s.", length, from, to);
}

/* Returns the length of the text. */
static size_t write_idle(const struct weft_viewer *viewer, char *text, size_t size)
{
	text[0] = '\0';
	if (viewer->squeezing.is_on || !viewer->squeezing.idle_percent)
		return 0;
	return (size_t)snprintf(text, size, "%u %% idle \xc2\xb7 %s squeezes",
		viewer->squeezing.idle_percent, viewer->is_touched ? "the menu" : "x");
}

static void write_problems(const struct weft_viewer *viewer, char *text, size_t size)
{
	unsigned count = viewer->problems.count;
	const char *first =
		"steps through them"; /* while the problems of a growing trace are not known */
	if (viewer->problems.found && viewer->problems.found->count)
		first = viewer->problems.found->list[viewer->problems.found->by_gravity[0]].sentence;
	size_t used = write_idle(viewer, text, size);
	if (count)
		snprintf(text + used, size - used, "%s%u problem%s \xc2\xb7 p: %s",
			used ? " \xc2\xb7 " : "", count, count == 1 ? "" : "s", first);
}

/* Computes the figures of a fold when they are first needed. */
const struct weft_story_group *weft__viewer_measure_fold(struct weft_viewer *viewer, uint32_t fold)
{
	const struct weft_fold *f = &viewer->layout->folds[fold];
	struct weft__measured_fold *measured = &viewer->measured_fold;
	if (measured->fold == fold)
		return &measured->group;
	measured->fold = WEFT_NONE;
	if (weft_story_group_tasks(
			&viewer->story, viewer->layout->fold_members + f->first, f->count, &measured->group))
		return NULL;
	measured->fold = fold;
	return &measured->group;
}

static void write_fold(
	struct weft_viewer *viewer, uint32_t task, uint32_t fold, char *text, size_t size)
{
	const struct weft_story_group *group = weft__viewer_measure_fold(viewer, fold);
	if (!group)
		return;
	size_t used = weft_story_fold_sentence(&viewer->story, task, group, text, size);
	if (used < size)
		snprintf(text + used, size - used, " Click: unfold.");
}

/* Desktops report moves when only the windows below the pointer have changed, and hands tremble. */
bool weft__viewer_has_moved_since_message(const struct weft_viewer *viewer)
{
	double dx = viewer->pointer.x - viewer->status.message_x;
	double dy = viewer->pointer.y - viewer->status.message_y;
	return hypot(dx, dy) >= STEADY_PX;
}

static void write_handle(const struct weft_viewer *viewer, char *text, size_t size)
{
	unsigned count = viewer->layout->folds[viewer->hover.handle].count;
	snprintf(
		text, size, "An unfolded group of %u alike tasks. Click: fold them into one row.", count);
}

static void write_band(const struct weft_viewer *viewer, char *text, size_t size)
{
	size_t used = weft_story_band_sentence(&viewer->story, &viewer->hover.band, text, size);
	if (used < size && viewer->selection.task == WEFT_NONE)
		snprintf(text + used, size - used, " Click: choose this range.");
}

/* The function under the pointer, otherwise the one that is zoomed to. */
static void write_flame(const struct weft_viewer *viewer, char *text, size_t size)
{
	const struct weft__flame_view *f = &viewer->flame;
	struct weft_text words = {0};
	if (!f->graph || !f->graph->tree.nodes[0].weight)
		return;
	const uint32_t node = f->hovered == WEFT_NONE ? f->graph->zoom : f->hovered;
	weft__profile_graph_describe(f->graph, node, &words);
	const size_t used =
		weft_canvas_clean_text(words.bytes, words.error ? 0 : words.size, text, size);
	if (node != f->graph->zoom)
		snprintf(text + used, size - used, ". Click: zoom.");
	weft_text_finish(&words);
}

/* A message about the past gives way to the thing that the pointer has moved to. */
static bool has_message(const struct weft_viewer *viewer)
{
	const struct weft__hover *hover = &viewer->hover;
	bool is_over = (hover->task != WEFT_NONE || hover->edge != WEFT_NONE ||
					   viewer->flame.hovered != WEFT_NONE) &&
				   weft__viewer_has_moved_since_message(viewer);
	return viewer->now_ms < viewer->status.message_until_ms && !is_over;
}

static void compose(struct weft_viewer *viewer, char *text, size_t size)
{
	const struct weft__hover *hover = &viewer->hover;
	text[0] = '\0';
	if (viewer->toolbar.hovered < viewer->toolbar.count)
		snprintf(text, size, "%s", viewer->toolbar.buttons[viewer->toolbar.hovered].tip);
	else if (hover->handle != WEFT_NONE && weft__viewer_has_moved_since_message(viewer))
		write_handle(viewer, text, size);
	else if (hover->sign.type != WEFT__SIGN_NONE && weft__viewer_has_moved_since_message(viewer))
		weft__viewer_write_sign(viewer, text, size);
	else if (hover->max != WEFT_NONE && weft__viewer_has_moved_since_message(viewer))
		snprintf(text, size, "The longest of %u alike tasks. Click: go to it.",
			(unsigned)viewer->layout->folds[hover->max].count);
	else if (has_message(viewer))
		snprintf(text, size, "%s", viewer->status.message);
	else if (!viewer->model || viewer->notice[0])
		snprintf(text, size, "%s", viewer->notice);
	else if (viewer->pointer.drag == WEFT__DRAG_RANGE)
		write_range(viewer, text, size);
	else if (viewer->flame.is_shown)
		write_flame(viewer, text, size);
	else if (hover->edge != WEFT_NONE)
		weft__viewer_write_edge(viewer, text, size);
	else if (hover->task != WEFT_NONE && hover->fold != WEFT_NONE)
		write_fold(viewer, hover->task, hover->fold, text, size);
	else if (hover->task != WEFT_NONE)
		weft_story_sentence(
			&viewer->story, hover->task, pointed_time(viewer, hover->task), text, size);
	else if (hover->counter != WEFT_NONE)
		weft_story_counter_sentence(&viewer->story, hover->counter, time_at(viewer), text, size);
	else if (hover->is_cell)
		weft_story_group_sentence(&hover->group, text, size);
	else if (viewer->range.is_set)
		write_range(viewer, text, size);
	else if (hover->has_band)
		write_band(viewer, text, size);
	else if (viewer->selection.task != WEFT_NONE)
		weft_story_sentence(
			&viewer->story, viewer->selection.task, viewer->selection.at, text, size);
	else
		write_problems(viewer, text, size);
}

void weft__viewer_write_status(struct weft_viewer *viewer)
{
	char text[sizeof(viewer->status.text)];
	compose(viewer, text, sizeof(text));
	if (strcmp(text, viewer->status.text) == 0)
		return;
	memcpy(viewer->status.text, text, sizeof(text));
	viewer->changes |= WEFT_VIEWER_STATUS | WEFT_VIEWER_CANVAS;
}
