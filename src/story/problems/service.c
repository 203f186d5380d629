/* SPDX-License-Identifier: ISC
 *
 * See service.h. A loop of asyncio is a task, after which the main one is made by the same creator.
 * Lwt's loop is `main`, which waits for one promise first of all.
 */
#include "story/problems/service.h"

bool weft__story_is_unused(const struct weft_story *story, uint32_t task, uint64_t until)
{
	const struct weft_edges *e = &story->model->edges;
	const struct weft__edge_list to = weft__story_edges_to(story, task);
	for (uint32_t i = 0; i < to.count; i++)
		if (e->time[to.edges[i]] < until && e->type[to.edges[i]] != WEFT_EDGE_CREATE)
			return false;
	return true;
}

static bool listens(const struct weft_model *model, uint32_t task)
{
	for (uint32_t note = model->tasks.first_note[task]; note < model->tasks.end_note[task]; note++)
		if (weft__story_is_tag(model, note, WEFT_TAG_LISTENS))
			return true;
	return false;
}

/* The last task that the same creator made before, or WEFT_NONE. */
static uint32_t made_before(const struct weft_tasks *t, uint32_t task)
{
	for (uint32_t other = task; other > 0; other--)
		if (t->parent[other - 1] == t->parent[task])
			return other - 1;
	return WEFT_NONE;
}

/* The first thing for which the task waited, or WEFT_NONE. */
static uint32_t first_wait(const struct weft_model *model, uint32_t task)
{
	const struct weft_edges *e = &model->edges;
	const struct weft__edge_list by = weft__story_edges_by(model, task);
	for (uint32_t i = 0; i < by.count; i++)
		if (e->type[by.edges[i]] == WEFT_EDGE_TRY_READ)
			return e->to[by.edges[i]];
	return WEFT_NONE;
}

bool weft__story_is_main_of_service(const struct weft_story *story, uint32_t task)
{
	const struct weft_model *model = story->model;
	const uint32_t above = model->tasks.parent[task], before = made_before(&model->tasks, task);
	return listens(model, task) || (before != WEFT_NONE && listens(model, before)) ||
		   (above != WEFT_NONE && listens(model, above) && first_wait(model, above) == task);
}
