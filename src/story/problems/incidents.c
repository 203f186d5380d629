/* SPDX-License-Identifier: ISC
 *
 * See incidents.h. Finders store the cases of a problem that is one for many: those of three
 * quarters of their time must have a reason, and the one that is named has this one.
 */
#include "story/problems/incidents.h"

#include <weft/chain.h>

#define SOON_PART  8 /* soon: within 1 / SOON_PART of the time for which the thread was taken */
#define CASES_MAX  256
#define HOPS_MAX   64
#define CHAINS_MAX 16 /* each may take linear time */

/* A problem can only be a reason of one with a higher level; 0: neither. */
static const uint8_t levels[WEFT_PROBLEM_TYPES] = {
	[WEFT_PROBLEM_DEADLOCK] = 1,
	[WEFT_PROBLEM_LOST_WAKE_UP] = 1,
	[WEFT_PROBLEM_UNRELEASED] = 1,
	[WEFT_PROBLEM_GC] = 1,
	[WEFT_PROBLEM_HOG] = 2,
	[WEFT_PROBLEM_CONTENTION] = 3,
	[WEFT_PROBLEM_STARVATION] = 4,
	[WEFT_PROBLEM_QUEUE] = 4,
	[WEFT_PROBLEM_SLOW] = 5,
	[WEFT_PROBLEM_UNANSWERED] = 6,
	[WEFT_PROBLEM_NEVER_RESOLVED] = 6,
	[WEFT_PROBLEM_BURST] = 6,
	[WEFT_PROBLEM_LATE] = 6,
	[WEFT_PROBLEM_IDLE_GAP] = 6,
};

struct reasons {
	struct weft__findings *findings;
	const struct weft_story *story;
	const struct weft_model *model;
	uint32_t count;  /* of findings */
	uint32_t chains; /* that have been followed */
};

/* ---- Threads ---- */

/* True if the task can run on no other thread, as far as the trace shows: it has run there before,
 * or was made there, as what an event loop runs. */
static bool is_bound(const struct weft_model *model, uint32_t task, uint32_t next)
{
	const struct weft_activations *a = &model->activations;
	const struct weft_tasks *t = &model->tasks;
	const uint32_t parent = t->parent[task];
	if (weft__story_only_thread(model, task) != WEFT_NONE)
		return true;
	if (next > t->first_activation[task])
		return a->thread[next - 1] == a->thread[next];
	if (parent == WEFT_NONE)
		return false;
	const uint32_t runs = weft__story_activations_until(model, parent, t->start[task]);
	return runs && a->thread[t->first_activation[parent] + runs - 1] == a->thread[next];
}

/* True if the task did not run while the thread was taken, and runs there soon after. */
static bool waits_for_thread(
	const struct weft_model *model, uint32_t task, uint32_t thread, uint64_t start, uint64_t end)
{
	const struct weft_activations *a = &model->activations;
	const uint32_t first = model->tasks.first_activation[task];
	const uint32_t before = start ? weft__story_activations_until(model, task, start - 1) : 0;
	const uint32_t next = first + before;
	if (next == model->tasks.end_activation[task] || a->thread[next] != thread ||
		(before && a->end[next - 1] > start))
		return false;
	return a->start[next] >= end && a->start[next] - end <= (end - start) / SOON_PART &&
		   is_bound(model, task, next);
}

/* The thread on which the task runs at a time. */
static uint32_t thread_at(const struct weft_model *model, uint32_t task, uint64_t time)
{
	const uint32_t runs = weft__story_activations_until(model, task, time);
	const uint32_t last = model->tasks.first_activation[task] + runs - 1;
	return runs && model->activations.end[last] >= time ? model->activations.thread[last]
														: WEFT_NONE;
}

/* True if the reason lasts until its program's end, on the thread on which the task last ran, or
 * the one that made it: the task cannot go on meanwhile. */
static bool is_left_on(
	const struct weft_model *model, uint32_t task, uint32_t thread, const struct weft__case *reason)
{
	const struct weft_tasks *t = &model->tasks;
	const struct weft_trace_buffer *buffer =
		weft_trace_buffer_at(model->buffers, model->buffer_count, t->buffer[reason->task]);
	uint32_t ran = task;
	if (!buffer->end_ns || reason->end < buffer->end_ns)
		return false;
	for (unsigned level = 0; level < HOPS_MAX && ran != WEFT_NONE; level++, ran = t->parent[ran])
		if (t->first_activation[ran] < t->end_activation[ran])
			return model->activations.thread[t->end_activation[ran] - 1] == thread;
	return false;
}

/* ---- Waits ---- */

static bool is_in_chain(const struct weft_chain *chain, uint32_t task)
{
	for (uint32_t i = 0; i < chain->kept; i++)
		if (chain->hops[i].wait.task == task || chain->hops[i].wait.source == task)
			return true;
	return chain->count && chain->end.task == task;
}

/* True if the chain from a task at a time leads to another one. */
static bool leads_to(struct reasons *s, uint32_t task, uint64_t at, uint32_t other)
{
	struct weft_chain *chain;
	struct weft_story_wait wait;
	if (weft_story_wait_at(s->story, task, at, &wait) && wait.source == other)
		return true;
	if (s->findings->error || s->chains++ >= CHAINS_MAX)
		return false;
	s->findings->error = weft_chain_create(s->story, task, at, HOPS_MAX, &chain);
	if (s->findings->error)
		return false;
	const bool is_there = is_in_chain(chain, other);
	weft_chain_destroy(chain);
	return is_there;
}

/* ---- Both ---- */

/* `reason`: a case of a problem of this type, or its task and period. */
static bool is_because(struct reasons *s, enum weft_problem_type type, uint32_t thread,
	const struct weft__case *reason, const struct weft__case *it)
{
	const uint64_t from = reason->start > it->start ? reason->start : it->start;
	const uint64_t to = reason->end < it->end ? reason->end : it->end;
	if (it->task == WEFT_NONE || to <= from || to - from < (it->end - it->start) / 2)
		return false;
	const uint64_t middle = from + (to - from) / 2;
	if (type == WEFT_PROBLEM_GC && thread_at(s->model, it->task, middle) == thread)
		return true;
	if (type == WEFT_PROBLEM_HOG) {
		thread = thread_at(s->model, reason->task, reason->start);
		if (thread != WEFT_NONE && is_left_on(s->model, it->task, thread, reason))
			return true;
	}
	if (thread != WEFT_NONE &&
		waits_for_thread(s->model, it->task, thread, reason->start, reason->end))
		return true;
	if (reason->task == WEFT_NONE)
		return false;
	if (reason->task == it->task)
		return type == WEFT_PROBLEM_SLOW || type == WEFT_PROBLEM_HOG ||
			   type == WEFT_PROBLEM_STARVATION;
	return leads_to(s, it->task, middle, reason->task);
}

/* True if one of the cases or periods of the reason explains the case. */
static bool explains_case(
	struct reasons *s, const struct weft__finding *reason, const struct weft__case *it)
{
	const struct weft_problem *problem = &reason->problem;
	struct weft__case named = {problem->task, problem->start, problem->end};
	const uint32_t count = reason->case_count ? reason->case_count : problem->period_count;
	for (uint32_t i = 0; i < count && i < CASES_MAX; i++) {
		if (reason->case_count) {
			named = s->findings->cases[reason->first_case + i];
		} else {
			const struct weft_problem_period *period =
				&s->findings->periods[problem->first_period + i];
			named.start = period->start;
			named.end = period->end;
		}
		if (is_because(s, problem->type, problem->thread, &named, it))
			return true;
	}
	return !count && is_because(s, problem->type, problem->thread, &named, it);
}

/* True if the number is that of the tasks of one finding, not of similar findings. */
static bool is_one_finding(const struct weft_problem *problem)
{
	return problem->count <= 1 || problem->type == WEFT_PROBLEM_CONTENTION ||
		   problem->type == WEFT_PROBLEM_QUEUE || problem->type == WEFT_PROBLEM_BURST;
}

static bool may_explain(const struct weft_problem *reason, const struct weft_problem *problem)
{
	return levels[reason->type] && levels[reason->type] < levels[problem->type];
}

static bool has_reason(struct reasons *s, const struct weft__finding *finding,
	const struct weft__finding *likely, const struct weft__case *it)
{
	if (explains_case(s, likely, it))
		return true;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct weft__finding *other = &s->findings->list[i];
		if (may_explain(&other->problem, &finding->problem) && explains_case(s, other, it))
			return true;
	}
	return false;
}

static bool explains(
	struct reasons *s, const struct weft__finding *reason, const struct weft__finding *finding)
{
	const struct weft_problem *problem = &finding->problem;
	const struct weft__case named = {problem->task, problem->start, problem->end};
	const uint32_t count = finding->case_count < CASES_MAX ? finding->case_count : CASES_MAX;
	uint64_t explained = 0, all = 0;
	if (!count)
		return is_one_finding(problem) && explains_case(s, reason, &named);
	const struct weft__case *cases = &s->findings->cases[finding->first_case];
	if (!explains_case(s, reason, &cases[0]))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t length = cases[i].end - cases[i].start;
		all += length;
		explained += has_reason(s, finding, reason, &cases[i]) ? length : 0;
	}
	return explained >= all - all / 4;
}

/* The reason with the lowest level. */
static uint32_t find_reason(struct reasons *s, uint32_t number)
{
	const struct weft__finding *list = s->findings->list;
	uint32_t found = WEFT_NONE;
	for (uint32_t i = 0; i < s->count && !s->findings->error; i++) {
		if (!may_explain(&list[i].problem, &list[number].problem) ||
			(found != WEFT_NONE &&
				levels[list[found].problem.type] <= levels[list[i].problem.type]))
			continue;
		if (explains(s, &list[i], &list[number]))
			found = i;
	}
	return found;
}

void weft__story_find_incidents(struct weft__findings *findings, uint32_t count)
{
	struct reasons s = {.findings = findings,
		.story = findings->story,
		.model = findings->story->model,
		.count = count};
	struct weft__finding *list = findings->list;
	for (uint32_t i = 0; i < count; i++)
		list[i].problem.reason = find_reason(&s, i);
	for (uint32_t i = 0; i < count; i++) {
		struct weft_problem *problem = &list[i].problem;
		while (problem->reason != WEFT_NONE && list[problem->reason].problem.reason != WEFT_NONE)
			problem->reason = list[problem->reason].problem.reason;
		if (problem->reason == WEFT_NONE)
			continue;
		struct weft_problem *reason = &list[problem->reason].problem;
		if (reason->severity < problem->severity)
			reason->severity = problem->severity;
	}
}
