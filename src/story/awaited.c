/* SPDX-License-Identifier: ISC
 *
 * See awaited.h.
 */
#include "story/awaited.h"

#include <weft/chain.h>

#include "base/export.h"

#define SOON_PART 8 /* part of a gap: a task that ends that soon after it was waited for */

/* True if the task has run from a time on until it ended: it did not end the gap, but went on after
 * it. A timer runs when it is due. */
static bool goes_on(const struct weft_model *model, uint32_t task, uint64_t from)
{
	uint32_t first = model->tasks.first_activation[task], end = model->tasks.end_activation[task];
	return model->tasks.kind[task] != WEFT_KIND_TIMER && first < end &&
		   model->activations.end[end - 1] > from && model->activations.start[first] < from;
}

/* Tracks have no end of their own, and a descriptor is closed long after it was waited for. */
static bool may_end_gap(const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *t = &model->tasks;
	return (t->flags[task] & WEFT_TASK_RESOLVED) && t->kind[task] != WEFT_KIND_TRACK &&
		   t->outcome[task] != WEFT_OUTCOME_CLOSED;
}

uint32_t weft__story_awaited(const struct weft_model *model, uint64_t start, uint64_t end)
{
	const struct weft_tasks *t = &model->tasks;
	uint64_t soon = end + (end - start) / SOON_PART;
	uint32_t found = WEFT_NONE;
	for (uint32_t task = 0; task < t->count; task++)
		if (may_end_gap(model, task) && t->end[task] >= end && t->end[task] <= soon &&
			t->start[task] <= start && !goes_on(model, task, end) &&
			(found == WEFT_NONE || t->end[task] < t->end[found]))
			found = task;
	return found;
}

/* The task that runs first from a time on. */
static uint32_t first_to_run(const struct weft_model *model, uint64_t from)
{
	const struct weft_activations *a = &model->activations;
	uint64_t first = UINT64_MAX;
	uint32_t found = WEFT_NONE;
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		uint32_t end = model->tasks.end_activation[task];
		for (uint32_t i = model->tasks.first_activation[task]; i < end; i++)
			if (a->start[i] >= from && a->start[i] < first) {
				first = a->start[i];
				found = task;
			}
	}
	return found;
}

WEFT__EXPORT uint32_t weft_chain_awaited(
	const struct weft_story *story, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t task = weft__story_awaited(story->model, start_ns, end_ns);
	return task == WEFT_NONE ? first_to_run(story->model, end_ns) : task;
}
