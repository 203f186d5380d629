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
	const struct weft_activations *a = &model->activations;
	bool goes_on = at == model->summary.end && a->end[activation] == at &&
				   !(model->tasks.flags[task] & WEFT_TASK_RESOLVED);
	return a->start[activation] <= at && (at < a->end[activation] || goes_on);
}

/* Where events are missing, or the program's record is over, nothing is known of a thread. */
static bool is_own_task(const struct weft_model *model, uint32_t task, uint64_t at)
{
	return model->tasks.kind[task] == WEFT_KIND_THREAD && !weft__is_gone(model, task, at) &&
		   !weft_model_dark(model, model->tasks.buffer[task], at, at);
}

static void add_task(
	const struct weft_model *model, uint32_t task, uint64_t at, struct weft_thread_standing *list)
{
	const struct weft_activations *a = &model->activations;
	for (uint32_t i = model->tasks.first_activation[task]; i < model->tasks.end_activation[task];
		 i++) {
		struct weft_thread_standing *thread = &list[a->thread[i]];
		if (a->start[i] > at)
			break;
		if (covers(model, task, i, at)) {
			*thread = (struct weft_thread_standing){task, a->start[i], true};
		} else if (!thread->is_running && is_own_task(model, task, at)) {
			thread->task = task;
			thread->since = a->end[i];
		}
	}
}

WEFT__EXPORT void weft_threads_at(
	const struct weft_model *model, uint64_t at_ns, struct weft_thread_standing *ret_list)
{
	uint64_t at = at_ns < model->summary.end ? at_ns : model->summary.end;
	for (uint32_t i = 0; i < model->thread_count; i++)
		ret_list[i] = (struct weft_thread_standing){WEFT_NONE, 0, false};
	for (uint32_t task = 0; task < model->tasks.count; task++)
		add_task(model, task, at, ret_list);
}
