/* SPDX-License-Identifier: ISC
 *
 * Finds what woke a task: a signal to it, a message that it received, or the task that resolved
 * what it then read.
 */
#include "base/export.h"
#include "story/index.h"
#include "story/wake.h"

/* Reads of one activation that are examined. */
#define READS_MAX 64

/* The last edge to a task at or before `time` that wakes it, or that resolves it; or WEFT_NONE. */
static uint32_t last_to(const struct weft_story *story, uint32_t task, bool resolves, uint64_t time)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, task);
	uint32_t i = weft__story_edges_until(story->model, to, time);
	for (uint32_t looked = 0; i > 0 && looked < READS_MAX; i--, looked++)
		if (resolves ? e->type[to.edges[i - 1]] == WEFT_EDGE_RESOLVE
					 : weft__story_wakes(e->type[to.edges[i - 1]]))
			return to.edges[i - 1];
	return WEFT_NONE;
}

/* The activation with that index; before it, the task last ran until `since`. */
struct awakening {
	const struct weft_story *story;
	uint32_t task, index;
	uint64_t since;
};

static bool by_signal(const struct awakening *a, struct weft_story_wake *wake)
{
	const struct weft_model *model = a->story->model;
	uint64_t runs = model->activations.start[a->index];
	uint32_t edge = last_to(a->story, a->task, false, runs);
	if (edge == WEFT_NONE || model->edges.time[edge] < a->since ||
		model->edges.from[edge] == WEFT_NONE || model->edges.from[edge] == a->task)
		return false;
	*wake = (struct weft_story_wake){
		model->edges.from[edge], edge, WEFT_NONE, model->edges.time[edge], runs};
	return true;
}

/* Woken by the task that resolved last what `read` reads, unless that was before the task waited,
 * or when it ran already. */
static bool by_source(const struct awakening *a, uint32_t read, struct weft_story_wake *wake)
{
	const struct weft_model *model = a->story->model;
	const uint64_t *time = model->edges.time, runs = model->activations.start[a->index];
	uint32_t source = model->edges.to[read];
	uint32_t edge = last_to(a->story, source, true, time[read]);
	if (edge == WEFT_NONE || time[edge] < a->since || time[edge] > runs)
		return false;
	uint32_t from = model->edges.from[edge];
	if (from == WEFT_NONE || from == a->task)
		from = source;
	*wake = (struct weft_story_wake){from, edge, source, time[edge], runs};
	return true;
}

static bool by_read(const struct awakening *a, struct weft_story_wake *wake)
{
	const struct weft_model *model = a->story->model;
	const struct weft_edges *e = &model->edges;
	struct weft__edge_list by = weft__story_edges_by(model, a->task);
	uint64_t runs = model->activations.start[a->index];
	uint32_t i = runs ? weft__story_edges_until(model, by, runs - 1) : 0;
	for (uint32_t looked = 0; i < by.count && looked < READS_MAX; i++, looked++) {
		uint32_t edge = by.edges[i];
		if (e->time[edge] > model->activations.end[a->index])
			break;
		if (e->type[edge] == WEFT_EDGE_READ)
			return e->to[edge] != a->task && by_source(a, edge, wake);
	}
	return false;
}

bool weft__story_woken_for(const struct weft_story *story, uint32_t task, uint32_t activation,
	uint64_t since, struct weft_story_wake *ret_wake)
{
	struct awakening a = {story, task, activation, since};
	return by_signal(&a, ret_wake) || by_read(&a, ret_wake);
}

WEFT__EXPORT bool weft_story_woken_by(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft_story_wake *ret_wake)
{
	const struct weft_model *model = story->model;
	task = weft__story_become_at(model, task, at_ns == WEFT_STORY_WHOLE ? 0 : at_ns);
	uint32_t first = model->tasks.first_activation[task];
	uint32_t runs = weft__story_activations_until(model, task, at_ns);
	for (uint32_t looked = 0; runs > 0 && looked < READS_MAX; runs--, looked++) {
		uint32_t activation = first + runs - 1;
		uint64_t since =
			runs > 1 ? model->activations.end[activation - 1] : model->tasks.start[task];
		if (weft__story_woken_for(story, task, activation, since, ret_wake))
			return true;
	}
	return false;
}

WEFT__EXPORT uint32_t weft_story_creator(const struct weft_story *story, uint32_t task)
{
	return story->model->tasks.parent[task];
}
