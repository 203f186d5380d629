/* SPDX-License-Identifier: ISC
 *
 * See runs.h.
 */
#include "story/runs.h"

#include "base/search.h"
#include "model/state.h"

/* Activations that are examined on each side of the time. */
#define LOOK_AT_MAX 4096

/* Bands or edges with one time that are examined. */
#define SAME_TIME_MAX 64

/* True if the activation begins because another task becomes this one. Without an index, only the
 * task's creator is examined, which is the usual one. */
static bool begins_by_become(const struct weft_story *story, uint32_t task, uint64_t start)
{
	const struct weft_model *model = story->model;
	const struct weft_edges *e = &model->edges;
	uint32_t parent = model->tasks.parent[task];
	if (parent != WEFT_NONE && model->tasks.becomes[parent] == task &&
		model->tasks.end[parent] == start)
		return true;
	struct weft__edge_list to = weft__story_edges_to(story, task);
	uint32_t i = weft__story_edges_until(model, to, start), looked = 0;
	for (; i > 0 && e->time[to.edges[i - 1]] == start && looked < SAME_TIME_MAX; i--, looked++)
		if (e->type[to.edges[i - 1]] == WEFT_EDGE_BECOME)
			return true;
	return false;
}

static bool is_band_before(const void *bands, uint32_t row, uint64_t time)
{
	return ((const struct weft_band_period *)bands)[row].start < time;
}

/* The idle band of the thread that begins at a time, or NULL. */
static const struct weft_band_period *idle_from(
	const struct weft_model *model, uint32_t thread, uint64_t start)
{
	uint32_t row = weft__search(model->bands, 0, model->band_count, is_band_before, start);
	for (uint32_t looked = 0; row < model->band_count && looked < SAME_TIME_MAX; row++, looked++) {
		const struct weft_band_period *band = &model->bands[row];
		if (band->start != start)
			return NULL;
		if (band->kind == WEFT_BAND_IDLE && band->thread == thread)
			return band;
	}
	return NULL;
}

/* True if an idle band interrupts the task at the end of the activation: the task goes on after it,
 * or the trace ends before that. A band without a reason may be a switch to no task. */
static bool is_interrupted(const struct weft_model *model, uint32_t task, uint32_t activation)
{
	const struct weft_activations *a = &model->activations;
	uint32_t thread = a->thread[activation], next = activation + 1;
	const struct weft_band_period *band = idle_from(model, thread, a->end[activation]);
	if (!band)
		return false;
	if (next < model->tasks.end_activation[task])
		return a->start[next] == band->end && a->thread[next] == thread;
	return band->end >= model->summary.end && band->reason != WEFT_NONE;
}

static bool has_edge_in(
	const struct weft_model *model, struct weft__edge_list list, uint64_t start, uint64_t end)
{
	return weft__story_edges_until(model, list, end) !=
		   (start ? weft__story_edges_until(model, list, start - 1) : 0);
}

/* A message that the task sends is no act: others receive it at a time that is theirs. */
static bool creates_in(const struct weft_story *story, uint32_t task, uint64_t start, uint64_t end)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list made = weft__story_edges_made(story, task);
	uint32_t i = start ? weft__story_edges_until(story->model, made, start - 1) : 0;
	for (uint32_t looked = 0; i < made.count && looked < SAME_TIME_MAX; i++, looked++) {
		if (e->time[made.edges[i]] > end)
			break;
		if (e->type[made.edges[i]] == WEFT_EDGE_CREATE)
			return true;
	}
	return false;
}

/* True if the task began a wait in the activation that was answered since: the model keeps only the
 * read. Shown by calls that were noted, or by what it reads next, if that did not exist before the
 * activation. */
static bool began_answered_wait(
	const struct weft_story *story, uint32_t task, uint32_t activation, uint64_t end)
{
	const struct weft_model *model = story->model;
	struct weft__edge_list by = weft__story_edges_by(model, task);
	uint32_t next = weft__story_edges_until(model, by, end);
	if (weft_model_stack_at(model, task, end).size)
		return true;
	if (next == by.count || model->edges.type[by.edges[next]] != WEFT_EDGE_READ)
		return false;
	bool is_read_next =
		activation + 1 < model->tasks.end_activation[task] &&
		model->edges.time[by.edges[next]] <= model->activations.start[activation + 1];
	uint64_t start = model->tasks.start[model->edges.to[by.edges[next]]];
	return is_read_next && start <= end && start > model->activations.end[activation - 1];
}

/* True if the task does nothing in the activation, right before or after an idle band that
 * interrupts it. A task's first activation is never without effect. */
static bool goes_on_idly(const struct weft_story *story, uint32_t task, uint32_t activation)
{
	const struct weft_model *model = story->model;
	uint64_t start = model->activations.start[activation], end = model->activations.end[activation];
	if (activation == model->tasks.first_activation[task] || end - start > WEFT__GOES_ON_NS)
		return false;
	if (!is_interrupted(model, task, activation - 1) && !is_interrupted(model, task, activation))
		return false;
	return !has_edge_in(model, weft__story_edges_by(model, task), start, end) &&
		   !creates_in(story, task, start, end) &&
		   !began_answered_wait(story, task, activation, end);
}

static void look_back(
	const struct weft_story *story, uint32_t task, uint32_t runs, struct weft__runs *result)
{
	const struct weft_activations *a = &story->model->activations;
	uint32_t first = story->model->tasks.first_activation[task];
	bool has_run = false;
	for (uint32_t looked = 0; runs > 0 && looked < LOOK_AT_MAX; runs--, looked++) {
		uint32_t activation = first + runs - 1;
		if (goes_on_idly(story, task, activation))
			continue;
		if (!has_run)
			result->idle_since = a->end[activation];
		has_run = true;
		if (begins_by_become(story, task, a->start[activation]))
			continue;
		result->has_woken = true;
		result->woken = a->start[activation];
		return;
	}
}

static void look_ahead(
	const struct weft_story *story, uint32_t task, uint32_t runs, struct weft__runs *result)
{
	const struct weft_activations *a = &story->model->activations;
	uint32_t next = story->model->tasks.first_activation[task] + runs;
	uint32_t end = story->model->tasks.end_activation[task];
	for (uint32_t looked = 0; next < end && looked < LOOK_AT_MAX; next++, looked++) {
		if (goes_on_idly(story, task, next) || begins_by_become(story, task, a->start[next]))
			continue;
		result->next = a->start[next];
		return;
	}
}

void weft__story_runs_at(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__runs *ret_runs)
{
	const struct weft_model *model = story->model;
	struct weft__runs result = {.idle_since = model->tasks.start[task], .next = UINT64_MAX};
	uint32_t runs = weft__story_activations_until(model, task, at_ns);
	look_back(story, task, runs, &result);
	look_ahead(story, task, runs, &result);
	result.is_running = result.idle_since > at_ns;
	*ret_runs = result;
}
