/* SPDX-License-Identifier: ISC
 *
 * See elsewhere.h. A system gives numbers of threads and processes again, so the one counts that
 * was alive at the time.
 */
#include "story/elsewhere.h"

#include <string.h>

#include <weft/ends.h>

#include "base/search.h"
#include "story/index.h"

#define LOOKED_MAX 64 /* notes and edges that are examined on one side of the time */

/* The last tag about a holder by a time. If there is none, the first tag after it about a process,
 * which a recorder looks up while a call waits; else WEFT_NONE. */
static uint32_t find_tag(
	const struct weft_model *model, uint32_t task, uint64_t at, bool *ret_is_process)
{
	uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	const uint32_t after = weft__search(model->notes.time, first, end, weft__is_not_more_u64, at);
	uint32_t note = after, looked = 0;
	for (; note > first && looked < LOOKED_MAX; note--, looked++) {
		*ret_is_process = weft__story_is_tag(model, note - 1, WEFT_TAG_HELD_BY_PROCESS);
		if (*ret_is_process || weft__story_is_tag(model, note - 1, WEFT_TAG_HELD_BY_THREAD))
			return note - 1;
	}
	*ret_is_process = true;
	for (note = after, looked = 0; note < end && looked < LOOKED_MAX; note++, looked++)
		if (weft__story_is_tag(model, note, WEFT_TAG_HELD_BY_PROCESS))
			return note;
	return WEFT_NONE;
}

/* True if a task of the trace got what the tag is about between two times: then the tag's holder
 * did not have it at both. */
static bool was_taken_between(
	const struct weft_story *story, uint32_t task, uint64_t from, uint64_t until)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, task);
	uint32_t i = weft__story_edges_until(story->model, to, until), looked = 0;
	for (; i > 0 && e->time[to.edges[i - 1]] >= from && looked < LOOKED_MAX; i--, looked++)
		if (e->type[to.edges[i - 1]] == WEFT_EDGE_READ)
			return true;
	return false;
}

/* True if numbers of processes and threads mean the same in both buffers. */
static bool are_of_one_host(const struct weft_model *model, uint32_t one, uint32_t other)
{
	const struct weft_trace_buffer *buffers = model->buffers;
	const uint32_t count = model->buffer_count;
	return one == other || weft_trace_first_of_host(buffers, count, one) ==
							   weft_trace_first_of_host(buffers, count, other);
}

/* The number of a task's thread in the model; WEFT_NONE if the task has not run. */
static uint32_t thread_of(const struct weft_model *model, uint32_t task)
{
	uint32_t first = model->tasks.first_activation[task];
	return first < model->tasks.end_activation[task] ? model->activations.thread[first] : WEFT_NONE;
}

static bool is_the_thread(
	const struct weft_model *model, uint32_t task, const struct weft__elsewhere *it)
{
	const uint32_t thread = thread_of(model, task);
	return thread != WEFT_NONE && model->threads[thread].tid == it->number;
}

static bool is_of_the_process(
	const struct weft_model *model, uint32_t task, const struct weft__elsewhere *it)
{
	const uint32_t buffer = model->tasks.buffer[task];
	return buffer < model->buffer_count && model->buffers[buffer].pid == it->number;
}

/* Takes the latest thread of that number that has begun by the time; of a process, its threads. */
static void find_task(const struct weft_model *model, uint32_t asking, struct weft__elsewhere *it)
{
	const struct weft_tasks *t = &model->tasks;
	for (uint32_t task = 0; task < t->count; task++) {
		if (t->kind[task] != WEFT_KIND_THREAD || t->start[task] > it->time ||
			(it->is_process && weft__story_is_gone(model, task, it->time)) ||
			!(it->is_process ? is_of_the_process : is_the_thread)(model, task, it) ||
			!are_of_one_host(model, t->buffer[task], asking))
			continue;
		if (it->task == WEFT_NONE || t->start[task] >= t->start[it->task])
			it->task = task;
		it->threads++;
	}
	if (it->task == WEFT_NONE)
		return;
	it->buffer = t->buffer[it->task];
	if (it->is_process && it->threads > 1)
		it->task = WEFT_NONE;
}

bool weft__story_held_elsewhere(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__elsewhere *ret)
{
	const struct weft_model *model = story->model;
	bool is_process;
	if (model->tasks.first_note[task] == model->tasks.end_note[task])
		return false;
	const uint32_t note = find_tag(model, task, at_ns, &is_process);
	if (note == WEFT_NONE || model->notes.value[note] <= 0)
		return false;
	const uint64_t seen = model->notes.time[note];
	if (was_taken_between(story, task, seen < at_ns ? seen : at_ns, seen < at_ns ? at_ns : seen))
		return false;
	*ret = (struct weft__elsewhere){
		.number = (uint64_t)model->notes.value[note],
		.time = seen,
		.is_process = is_process,
		.buffer = WEFT_NONE,
		.task = WEFT_NONE,
	};
	find_task(model, model->tasks.buffer[task], ret);
	return true;
}
