/* SPDX-License-Identifier: ISC
 *
 * See long_waits.h. Each pause between activations is asked about in its middle. The pauses do not
 * overlap, so fewer than WEFT__LONG_WAIT_PART of them are long.
 */
#include "story/long_waits.h"

#include "story/index.h"

/* Edges with one time that are examined. */
#define SAME_TIME_MAX 64

struct long_waits {
	const struct weft_story *story;
	uint32_t task, count;
	uint64_t least_ns;
	struct weft_story_wait *waits;
};

/* True if an edge of the task shows the beginning of the wait. */
static bool has_edge(const struct weft_story *story, const struct weft_story_wait *wait)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list by = weft__story_edges_by(story->model, wait->task);
	uint32_t i = weft__story_edges_until(story->model, by, wait->since), looked = 0;
	for (; i > 0 && e->time[by.edges[i - 1]] == wait->since && looked < SAME_TIME_MAX;
		 i--, looked++) {
		unsigned type = e->type[by.edges[i - 1]];
		if (type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_WAIT_ANY)
			return true;
	}
	return false;
}

/* Several pauses may lie in one wait: the task wakes, and waits on. */
static bool is_known(const struct long_waits *p, const struct weft_story_wait *wait)
{
	const struct weft_story_wait *last = &p->waits[p->count ? p->count - 1 : 0];
	return p->count && last->since == wait->since && last->source == wait->source;
}

static void look_at_stretch(struct long_waits *p, uint64_t from, uint64_t to)
{
	struct weft_story_wait wait;
	if (to <= from || to - from < p->least_ns || p->count + 1 == WEFT__LONG_WAIT_PART ||
		!weft_story_wait_at(p->story, p->task, from + (to - from) / 2, &wait))
		return;
	if (wait.source == WEFT_NONE || wait.until == UINT64_MAX || wait.until <= wait.since ||
		wait.task != p->task || is_known(p, &wait) || has_edge(p->story, &wait))
		return;
	p->waits[p->count++] = wait;
}

uint32_t weft__story_find_long_waits(const struct weft_story *story, uint32_t task,
	struct weft_story_wait ret_waits[WEFT__LONG_WAIT_PART])
{
	const struct weft_model *model = story->model;
	const struct weft_activations *a = &model->activations;
	uint64_t from = model->tasks.start[task], end = model->tasks.end[task];
	uint64_t least = end > from ? (end - from) / WEFT__LONG_WAIT_PART : 0;
	struct long_waits p = {story, task, 0, least + 1, ret_waits};
	for (uint32_t i = model->tasks.first_activation[task]; i < model->tasks.end_activation[task];
		 i++) {
		look_at_stretch(&p, from, a->start[i]);
		from = a->end[i];
	}
	look_at_stretch(&p, from, end);
	return p.count;
}
