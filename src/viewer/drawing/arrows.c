/* SPDX-License-Identifier: ISC
 *
 * Arrows and links under the pointer: the status says what happened there, and a click goes to the
 * end that is further away, which is often out of the view.
 */
#include <stdio.h>

#include "viewer/state.h"

#define NAME_LETTERS 28

/* A read's arrow leads from the task that is read to its reader, as the value does. */
static uint32_t head_of_edge(const struct weft_model *model, uint32_t edge)
{
	const struct weft_edges *edges = &model->edges;
	return edges->type[edge] == WEFT_EDGE_READ ? edges->from[edge] : edges->to[edge];
}

static uint32_t tail_of_edge(const struct weft_model *model, uint32_t edge)
{
	const struct weft_edges *edges = &model->edges;
	return edges->type[edge] == WEFT_EDGE_READ ? edges->to[edge] : edges->from[edge];
}

static uint32_t choose_end(const struct weft_viewer *viewer, uint32_t edge, bool is_near_head)
{
	const struct weft__selection *s = &viewer->selection;
	uint32_t head = head_of_edge(viewer->model, edge);
	uint32_t tail = tail_of_edge(viewer->model, edge);
	uint32_t far = is_near_head ? tail : head, near = is_near_head ? head : tail;
	return s->edge == edge && s->task == far ? near : far;
}

/* The edge's time within the life of a task at its end: a task may have ended before it is read. */
static uint64_t time_at_end(const struct weft_viewer *viewer, uint32_t edge, uint32_t task)
{
	uint64_t start = viewer->layout->start[task], end = viewer->model->tasks.end[task];
	uint64_t time = viewer->model->edges.time[edge];
	return time < start ? start : time > end ? end : time;
}

void weft__viewer_click_edge(struct weft_viewer *viewer, uint32_t edge, bool is_near_head)
{
	uint32_t task = choose_end(viewer, edge, is_near_head);
	uint64_t at = time_at_end(viewer, edge, task);
	weft__viewer_select(viewer, task, at);
	viewer->selection.edge = edge;
	if (viewer->panel.kind != WEFT__PANEL_STORY && !viewer->selection.chain)
		weft__viewer_open_panel(viewer, WEFT__PANEL_STORY);
	weft__viewer_hover_nothing(viewer); /* another thing may be there now */
	weft__viewer_reveal_task(viewer, task, at);
}

void weft__viewer_write_edge(struct weft_viewer *viewer, char *text, size_t size)
{
	const struct weft__hover *h = &viewer->hover;
	char name[WEFT_SENTENCE_BYTES];
	uint32_t task = choose_end(viewer, h->edge, h->is_near_head);
	weft_story_name(viewer->model, task, NAME_LETTERS, name, sizeof(name));
	size_t used = weft_story_edge_sentence(&viewer->story, h->edge, text, size);
	if (used < size)
		snprintf(text + used, size - used, " Click: go to %s.", name);
}
