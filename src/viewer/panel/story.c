/* SPDX-License-Identifier: ISC
 *
 * The panel of the selected task: its story, each line a link to its time and to the other task.
 */
#include <stdio.h>
#include <string.h>

#include "viewer/state.h"

static enum weft_viewer_role role_of(const struct weft_viewer *viewer, uint32_t edge)
{
	static const uint8_t roles[WEFT_EDGE_TYPES] = {
		[WEFT_EDGE_READ] = WEFT_VIEWER_ROLE_READ,
		[WEFT_EDGE_TRY_READ] = WEFT_VIEWER_ROLE_TRY_READ,
		[WEFT_EDGE_WAIT_ANY] = WEFT_VIEWER_ROLE_TRY_READ,
		[WEFT_EDGE_RESOLVE] = WEFT_VIEWER_ROLE_RESOLVE,
		[WEFT_EDGE_SIGNAL] = WEFT_VIEWER_ROLE_SIGNAL,
		[WEFT_EDGE_RECEIVE] = WEFT_VIEWER_ROLE_SIGNAL,
	};
	const struct weft_edges *edges = &viewer->model->edges;
	if (edge == WEFT_NONE)
		return WEFT_VIEWER_ROLE_NONE;
	/* Red marks the edge by which a task failed, and reads of a failed task. */
	bool is_end = edges->type[edge] == WEFT_EDGE_READ || edges->type[edge] == WEFT_EDGE_RESOLVE;
	if (is_end && (viewer->model->tasks.flags[edges->to[edge]] & WEFT_TASK_FAILED))
		return WEFT_VIEWER_ROLE_FAILED;
	return (enum weft_viewer_role)roles[edges->type[edge]];
}

/* The line's command selects the other task at the line's time; without one, it goes to the
 * time. */
static void write_command(
	const struct weft_viewer *viewer, const struct weft_story_line *line, char command[256])
{
	char name[64], time[32];
	command[0] = '\0';
	weft__viewer_write_duration(line->time - viewer->view.start, time);
	if (line->task != WEFT_NONE) {
		weft__viewer_write_task(viewer->model, line->task, name);
		snprintf(command, 256, line->has_time ? "select %s %s" : "select %s", name, time);
	} else if (line->has_time) {
		snprintf(command, 256, "goto %s", time);
	}
}

static void write_detail(
	const struct weft_viewer *viewer, const struct weft_story_line *line, char detail[256])
{
	char time[32], length[32];
	detail[0] = '\0';
	if (!line->has_time)
		return;
	weft_format_duration(line->time - viewer->view.start, 5, time);
	weft_format_duration(line->duration, 3, length);
	if (line->duration)
		snprintf(detail, 256, "%s, %s", time, length);
	else
		snprintf(detail, 256, "%s", time);
}

static void add_fact(struct weft_viewer *viewer, const struct weft_story_line *line)
{
	char command[256];
	write_command(viewer, line, command);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_FACT, line->title, line->text, command);
}

static void add_line(struct weft_viewer *viewer, const struct weft_story_line *line)
{
	char text[640], command[256], detail[256];
	write_command(viewer, line, command);
	write_detail(viewer, line, detail);
	snprintf(text, sizeof(text), "%s%s%s", line->title, line->title[0] && line->text[0] ? " " : "",
		line->text);
	weft__viewer_panel_add(
		viewer, command[0] ? WEFT_VIEWER_LINK : WEFT_VIEWER_TEXT, text, detail, command);
	struct weft_viewer_item *item = weft__viewer_panel_last(viewer);
	item->role = (uint8_t)role_of(viewer, line->edge);
	item->is_selected = line->edge != WEFT_NONE && line->edge == viewer->selection.edge;
	if (item->is_selected)
		viewer->panel.shown.selected = viewer->panel.shown.item_count - 1;
}

/* Adds the fold of the task. */
static void add_fold(struct weft_viewer *viewer)
{
	const struct weft_layout *layout = viewer->layout;
	uint32_t task = viewer->selection.task;
	uint32_t fold = layout->fold_of ? layout->fold_of[task] : WEFT_NONE;
	char text[256];
	if (fold == WEFT_NONE)
		return;
	weft__viewer_panel_add_command(viewer, "fold",
		weft__viewer_panel_format(text, "%s the %u alike tasks",
			layout->folds[fold].folded ? "Unfold" : "Fold", (unsigned)layout->folds[fold].count));
}

/* Adds the longest task of the fold, as a link to it. */
static void add_longest(struct weft_viewer *viewer)
{
	const uint32_t *fold_of = viewer->layout->fold_of;
	uint32_t fold = fold_of ? fold_of[viewer->selection.task] : WEFT_NONE;
	const struct weft_story_group *group =
		fold == WEFT_NONE ? NULL : weft__viewer_measure_fold(viewer, fold);
	char name[64], command[256], p50[32], most[32], text[256];
	if (!group || group->longest == WEFT_NONE)
		return;
	weft_format_duration(group->p50_ns, 3, p50);
	weft_format_duration(group->longest_ns, 3, most);
	weft__viewer_write_task(viewer->model, group->longest, name);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK, "Go to the longest of the fold",
		weft__viewer_panel_format(text, "p50 %s, max %s", p50, most),
		weft__viewer_panel_format(command, "select %s", name));
}

static void add_actions(struct weft_viewer *viewer)
{
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, "Go on", "", "");
	add_fold(viewer);
	add_longest(viewer);
	weft__viewer_panel_add_command(viewer, "stats alike", NULL);
	weft__viewer_panel_add_command(viewer, "wait", NULL);
	weft__viewer_panel_add_command(viewer, "chain", NULL);
	weft__viewer_panel_add_command(viewer, "waker", NULL);
	weft__viewer_panel_add_command(viewer, "creator", NULL);
	weft__viewer_panel_add_command(viewer, "related", NULL);
	weft__viewer_panel_add_command(viewer, "zoom selection", "Zoom to it");
	weft__viewer_panel_add_command(viewer, "measure", "Measure its life");
	weft__viewer_panel_last(viewer)->type = WEFT_VIEWER_LINK;
}

void weft__viewer_fill_story(struct weft_viewer *viewer)
{
	struct weft_story_lines *lines;
	char text[WEFT_SENTENCE_BYTES];
	uint32_t task = viewer->selection.task;
	if (task == WEFT_NONE || !weft__viewer_know_story(viewer) ||
		weft_story_lines_create(&viewer->story, task, &lines))
		return;
	weft_story_name(viewer->model, task, 60, text, sizeof(text));
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, text, "", "");
	weft_story_sentence(&viewer->story, task, viewer->selection.at, text, sizeof(text));
	weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT, text, "", "");
	uint32_t i = 0;
	for (; i < lines->count && lines->lines[i].type == WEFT_STORY_FACT; i++)
		add_fact(viewer, &lines->lines[i]);
	add_actions(viewer);
	if (i < lines->count)
		weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, "What happened", "", "");
	for (; i < lines->count; i++)
		add_line(viewer, &lines->lines[i]);
	weft_story_lines_destroy(lines);
}
