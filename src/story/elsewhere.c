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

#define HOPS_MAX 16 /* from a process to the one that began it */

/* True if the note is a tag about a holder. */
static bool is_about_holder(
	const struct weft_model *model, uint32_t note, struct weft__elsewhere *it)
{
	it->is_process = weft__story_is_tag(model, note, WEFT_TAG_HELD_BY_PROCESS);
	it->is_copy = weft__story_is_tag(model, note, WEFT_TAG_HELD_AT_FORK);
	return it->is_process || it->is_copy ||
		   weft__story_is_tag(model, note, WEFT_TAG_HELD_BY_THREAD);
}

/* The last tag about a holder by a time. If there is none, the first tag after it about a process,
 * which a recorder looks up while a call waits; else WEFT_NONE. */
static uint32_t find_tag(
	const struct weft_model *model, uint32_t task, uint64_t at, struct weft__elsewhere *it)
{
	uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	const uint32_t after = weft__search(model->notes.time, first, end, weft__is_not_more_u64, at);
	uint32_t note = after, looked = 0;
	for (; note > first && looked < LOOKED_MAX; note--, looked++)
		if (is_about_holder(model, note - 1, it))
			return note - 1;
	for (note = after, looked = 0; note < end && looked < LOOKED_MAX; note++, looked++)
		if (is_about_holder(model, note, it) && it->is_process)
			return note;
	return WEFT_NONE;
}

/* True if a task of the trace got the tagged object between two times: then the tag's holder did
 * not have it at both. */
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

/* The buffer whose task sent the message with which the task began; WEFT_NONE: there is none. */
static uint32_t begun_by(const struct weft_story *story, uint32_t task)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, task);
	for (uint32_t i = 0; i < to.count && i < LOOKED_MAX; i++)
		if (e->type[to.edges[i]] == WEFT_EDGE_RECEIVE && e->from[to.edges[i]] != WEFT_NONE)
			return e->from[to.edges[i]];
	return WEFT_NONE;
}

static bool descends(const struct weft_story *story, uint32_t task, uint32_t buffer)
{
	for (unsigned hops = 0; hops < HOPS_MAX; hops++) {
		task = begun_by(story, task);
		if (task == WEFT_NONE || story->model->tasks.buffer[task] == buffer)
			return task != WEFT_NONE;
	}
	return false;
}

/* The holder has ended, so another process has its open file. Takes that process if only one in the
 * trace can have it. */
static void find_heir(const struct weft_story *story, uint64_t at_ns, struct weft__elsewhere *it)
{
	const struct weft_model *model = story->model;
	const struct weft_tasks *t = &model->tasks;
	uint32_t heirs = 0;
	for (uint32_t task = 0; task < t->count; task++) {
		if (t->kind[task] != WEFT_KIND_THREAD || t->parent[task] != WEFT_NONE ||
			t->start[task] > at_ns || weft__story_is_gone(model, task, at_ns) ||
			!descends(story, task, it->buffer))
			continue;
		it->heir = t->buffer[task];
		heirs++;
	}
	if (heirs != 1)
		it->heir = WEFT_NONE;
}

/* A process that had ended when it was seen to be the holder. */
static void find_ended(
	const struct weft_story *story, uint32_t asking, uint64_t at_ns, struct weft__elsewhere *it)
{
	const struct weft_model *model = story->model;
	const struct weft_tasks *t = &model->tasks;
	uint64_t latest = 0;
	for (uint32_t task = 0; task < t->count; task++)
		if (t->kind[task] == WEFT_KIND_THREAD && weft__story_is_gone(model, task, it->time) &&
			t->end[task] >= latest && is_of_the_process(model, task, it) &&
			are_of_one_host(model, t->buffer[task], asking)) {
			latest = t->end[task];
			it->buffer = t->buffer[task];
		}
	it->has_ended = it->buffer != WEFT_NONE;
	if (it->has_ended)
		find_heir(story, at_ns, it);
}

void weft__story_add_holder_at_fork(struct weft__sentence *sentence, const struct weft_model *model,
	const struct weft__elsewhere *holder, unsigned worth)
{
	struct weft__words *w = weft__story_clause(sentence, worth);
	weft__story_words_add(w, "; ");
	if (holder->task != WEFT_NONE)
		weft__story_words_add_task(w, model, holder->task, 16);
	else
		weft__story_words_add(w, "thread %llu", (unsigned long long)holder->number);
	weft__story_words_add(w, " had it at the fork");
	weft__story_words_add(weft__story_clause(sentence, worth - 1), ", nobody has it here");
}

bool weft__story_held_elsewhere(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__elsewhere *ret)
{
	const struct weft_model *model = story->model;
	struct weft__elsewhere it = {.buffer = WEFT_NONE, .task = WEFT_NONE, .heir = WEFT_NONE};
	if (model->tasks.first_note[task] == model->tasks.end_note[task])
		return false;
	const uint32_t note = find_tag(model, task, at_ns, &it);
	if (note == WEFT_NONE || model->notes.value[note] <= 0)
		return false;
	const uint64_t seen = model->notes.time[note];
	if (was_taken_between(story, task, seen < at_ns ? seen : at_ns, seen < at_ns ? at_ns : seen))
		return false;
	it.number = (uint64_t)model->notes.value[note];
	it.time = seen;
	find_task(model, model->tasks.buffer[task], &it);
	if (it.is_process && it.buffer == WEFT_NONE)
		find_ended(story, model->tasks.buffer[task], at_ns, &it);
	*ret = it;
	return true;
}
