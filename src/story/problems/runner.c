/* SPDX-License-Identifier: ISC
 *
 * See runner.h. The tasks that are threads are listed when a finder first asks: they are few, where
 * a trace has millions of tasks.
 */
#include "story/problems/runner.h"

#include <stdlib.h>

#include "story/blocking.h"

uint64_t weft__story_ran_ns(
	const struct weft_model *model, uint32_t task, uint64_t since, uint64_t until)
{
	const struct weft_activations *a = &model->activations;
	const uint32_t first = model->tasks.first_activation[task];
	uint64_t ns = 0;
	for (uint32_t i = first + weft__story_activations_until(model, task, until); i > first; i--) {
		if (a->end[i - 1] <= since)
			break;
		const uint64_t start = a->start[i - 1] > since ? a->start[i - 1] : since;
		const uint64_t end = a->end[i - 1] < until ? a->end[i - 1] : until;
		ns += end > start ? end - start : 0;
	}
	return ns;
}

static uint64_t ran_on_processor(
	const struct weft_model *model, uint32_t task, uint64_t since, uint64_t until)
{
	const uint64_t ns = weft__story_ran_ns(model, task, since, until);
	if (!ns)
		return 0;
	const uint32_t last =
		model->tasks.first_activation[task] + weft__story_activations_until(model, task, until) - 1;
	const uint64_t off_ns =
		weft__story_preempted_ns(model, model->activations.thread[last], since, until);
	return ns > off_ns ? ns - off_ns : 0;
}

static void list_threads(struct weft__findings *findings)
{
	const struct weft_tasks *t = &findings->story->model->tasks;
	uint32_t count = 0;
	for (uint32_t task = 0; task < t->count; task++)
		count += t->kind[task] == WEFT_KIND_THREAD;
	findings->threads = malloc((count + (size_t)1) * sizeof(*findings->threads));
	if (!findings->threads) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	for (uint32_t task = 0; task < t->count; task++)
		if (t->kind[task] == WEFT_KIND_THREAD)
			findings->threads[findings->thread_count++] = task;
}

uint32_t weft__story_find_runner(struct weft__findings *findings, uint32_t task, uint64_t since,
	uint64_t until, bool had_processor, uint64_t *ret_ns)
{
	const struct weft_model *model = findings->story->model;
	uint32_t found = WEFT_NONE;
	*ret_ns = 0;
	if (!findings->threads)
		list_threads(findings);
	for (uint32_t i = 0; i < findings->thread_count; i++) {
		const uint32_t other = findings->threads[i];
		if (other == task || model->tasks.buffer[other] != model->tasks.buffer[task])
			continue;
		const uint64_t ns = had_processor ? ran_on_processor(model, other, since, until)
										  : weft__story_ran_ns(model, other, since, until);
		if (ns <= *ret_ns)
			continue;
		*ret_ns = ns;
		found = other;
	}
	return found;
}
