/* SPDX-License-Identifier: ISC
 *
 * Threads at a time: the task that runs there, or the thread's own task if it idles.
 */
#include <weft/chain.h>

#include "base/export.h"
#include "story/index.h"

/* An activation that reaches the end of what is known goes on, unless its task has ended. */
static bool covers(const struct weft_model *model, uint32_t task, uint32_t activation, uint64_t at)
{
	const uint64_t end = model->activations.end[activation];
	bool goes_on =
		at == model->summary.end && end == at && !(model->tasks.flags[task] & WEFT_TASK_RESOLVED);
	return at < end || goes_on;
}

/* Where events are missing, or the program's record is over, nothing is known of a thread. */
static bool is_own_task(const struct weft_model *model, uint32_t task, uint64_t at)
{
	return model->tasks.kind[task] == WEFT_KIND_THREAD && !weft__story_is_gone(model, task, at) &&
		   !weft_model_dark(model, model->tasks.buffer[task], at, at);
}

/* Takes from a task's last activation that has begun by the time what its thread does. */
static void see_task(
	const struct weft_model *model, uint32_t task, uint64_t at, struct weft_thread_state *list)
{
	const struct weft_activations *a = &model->activations;
	uint32_t begun = weft__story_activations_until(model, task, at);
	if (!begun)
		return;
	uint32_t last = model->tasks.first_activation[task] + begun - 1;
	struct weft_thread_state *thread = &list[a->thread[last]];
	if (covers(model, task, last, at))
		*thread = (struct weft_thread_state){task, a->start[last], true};
	else if (!thread->is_running && is_own_task(model, task, at))
		*thread = (struct weft_thread_state){task, a->end[last], false};
}

WEFT__EXPORT void weft_thread_states(
	const struct weft_model *model, uint64_t at_ns, struct weft_thread_state *ret_list)
{
	uint64_t at = at_ns < model->summary.end ? at_ns : model->summary.end;
	for (uint32_t i = 0; i < model->thread_count; i++)
		ret_list[i] = (struct weft_thread_state){WEFT_NONE, 0, false};
	for (uint32_t task = 0; task < model->tasks.count; task++)
		see_task(model, task, at, ret_list);
}
