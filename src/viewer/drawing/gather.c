/* SPDX-License-Identifier: ISC
 *
 * Collects the highlights of the next frame: the visible edges of the hovered task, of the selected
 * one and of related tasks, up to a limit; and the arrow under the pointer.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "story/index.h"
#include "viewer/state.h"

#define EDGES_MAX 4000

static void add_edge(struct weft_viewer *viewer, uint32_t edge)
{
	struct weft__standing *s = &viewer->standing;
	if (s->count == EDGES_MAX)
		return;
	if (s->count == s->capacity) {
		size_t capacity = weft__array_next_capacity(s->capacity, s->count + (size_t)1);
		if (weft__array_resize(&s->edges, capacity, sizeof(*s->edges)))
			return;
		s->capacity = capacity;
	}
	s->edges[s->count++] = edge;
}

/* Adds edges up to one width of the view before and behind it, because arrows are at most that
 * long. */
static void add_list(struct weft_viewer *viewer, struct weft__edge_list list)
{
	const struct weft_view *view = &viewer->view;
	uint64_t left = weft_view_time(view, -view->width);
	uint64_t right = weft_view_time(view, 2 * view->width);
	uint32_t first = left ? weft__story_edges_until(viewer->model, list, left - 1) : 0;
	for (uint32_t i = first; i < list.count && viewer->standing.count < EDGES_MAX; i++) {
		if (viewer->model->edges.time[list.edges[i]] > right)
			break;
		add_edge(viewer, list.edges[i]);
	}
}

static void add_task(struct weft_viewer *viewer, uint32_t task)
{
	add_list(viewer, weft__story_edges_by(viewer->model, task));
	add_list(viewer, weft__story_edges_to(&viewer->story, task));
}

static bool contains(const struct weft__selection *s, uint32_t task)
{
	return weft__contains_u32(s->related, s->related_count, task);
}

/* Edges between related tasks; each edge is found at its actor. */
static void add_related(struct weft_viewer *viewer)
{
	const struct weft__selection *s = &viewer->selection;
	const struct weft_edges *edges = &viewer->model->edges;
	uint64_t left = weft_view_time(&viewer->view, 0);
	uint64_t right = weft_view_time(&viewer->view, viewer->view.width);
	for (uint32_t i = 0; i < s->related_count && viewer->standing.count < EDGES_MAX; i++) {
		uint32_t task = s->related[i], before = viewer->standing.count, kept = before;
		if (viewer->layout->start[task] > right || viewer->model->tasks.end[task] < left)
			continue;
		add_list(viewer, weft__story_edges_by(viewer->model, task));
		for (uint32_t e = before; e < viewer->standing.count; e++)
			if (contains(s, edges->to[viewer->standing.edges[e]]))
				viewer->standing.edges[kept++] = viewer->standing.edges[e];
		viewer->standing.count = kept;
	}
}

/* The edge that explains the current problem; it often belongs to another task. */
static void add_problem(struct weft_viewer *viewer)
{
	const struct weft_problem *problem = weft__viewer_marked_problem(viewer);
	if (problem && problem->edge != WEFT_NONE)
		add_edge(viewer, problem->edge);
}

void weft__viewer_gather(struct weft_viewer *viewer, struct weft_highlight *ret_highlight)
{
	const struct weft__selection *s = &viewer->selection;
	uint32_t hovered = viewer->hover.task;
	viewer->standing.count = 0;
	if ((hovered != WEFT_NONE || s->task != WEFT_NONE) && weft__viewer_know_story(viewer)) {
		if (s->related_count)
			add_related(viewer);
		else if (s->task != WEFT_NONE)
			add_task(viewer, s->task);
		add_problem(viewer);
		if (hovered != WEFT_NONE && hovered != s->task)
			add_task(viewer, hovered);
	}
	if (viewer->hover.edge != WEFT_NONE)
		add_edge(viewer, viewer->hover.edge);
	*ret_highlight = (struct weft_highlight){
		.selected = s->task,
		.hovered = hovered,
		.strength = viewer->fade.strength,
		.edges = viewer->standing.edges,
		.edge_count = viewer->standing.count,
		.edge = s->edge,
		.related = s->related,
		.related_count = s->related_count,
		.found = viewer->search.found ? viewer->search.found->tasks : NULL,
		.found_count = viewer->search.found ? viewer->search.found->task_count : 0,
	};
}
