/* SPDX-License-Identifier: ISC
 *
 * Locks and other resources that a task still held when it ended. If no task waits for the resource
 * then, that is a hint: the program may not need it any more. Semaphores count only in traces with
 * acquire events: in other formats, a read of one does not mean that it is given back.
 */
#include <inttypes.h>

#include "story/holders.h"
#include "story/problems/findings.h"

/* The holds of one resource whose tasks have ended. */
struct left_over {
	uint32_t resource, count;
	struct weft__hold first;
};

static bool is_examined(const struct weft_model *model, uint32_t task)
{
	unsigned kind = model->tasks.kind[task];
	return weft__is_resource(kind) && !(model->tasks.flags[task] & WEFT_TASK_RESOLVED) &&
		   (kind != WEFT_KIND_SEMAPHORE || model->summary.by_event[WEFT_EVENT_ACQUIRE]);
}

/* An acquire event about a task that had ended is another mistake. */
static bool has_ended_with(const struct weft_model *model, const struct weft__hold *hold)
{
	return weft__is_gone(model, hold->task, model->summary.end) &&
		   model->tasks.end[hold->task] >= hold->since;
}

/* The number of tasks whose last act was to wait for the resource. */
static uint32_t count_waiters(const struct weft_story *story, uint32_t resource)
{
	const struct weft_model *model = story->model;
	struct weft__edge_list to = weft__edges_to(story, resource);
	uint32_t waiters = 0;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t edge = to.edges[i], task = model->edges.from[edge];
		if (model->edges.type[edge] != WEFT_EDGE_TRY_READ || task == WEFT_NONE ||
			(model->tasks.flags[task] & WEFT_TASK_RESOLVED))
			continue;
		struct weft__edge_list by = weft__edges_by(model, task);
		waiters += by.edges[by.count - 1] == edge;
	}
	return waiters;
}

static void write_sentence(struct weft__sentence *s, const struct weft_model *model,
	const struct left_over *left, uint32_t waiters)
{
	const uint32_t task = left->first.task;
	weft__words_add_subject(weft__clause(s, 7), model, task, 32);
	struct weft__words *w = weft__clause(s, 7);
	weft__words_add(w, " ended at ");
	weft__words_add_time(w, model, model->tasks.end[task]);
	weft__words_add(w, " without releasing ");
	weft__words_add_subject(w, model, left->resource, 28);
	w = weft__clause(s, 4);
	weft__words_add(w, ", which it had taken ");
	weft__words_add_length(w, model->tasks.end[task] - left->first.since);
	weft__words_add(w, " before");
	if (waiters)
		weft__words_add(weft__clause(s, 5), "; %" PRIu32 " %s for it", waiters,
			waiters == 1 ? "task waits" : "tasks wait");
	if (left->count > 1)
		weft__words_add(weft__clause(s, 3), "; %" PRIu32 " more %s like it", left->count - 1,
			left->count > 2 ? "holds" : "hold");
}

static void set_moments(
	const struct weft_model *model, const struct left_over *left, struct weft_problem *problem)
{
	struct weft__words words =
		weft__problem_moment(&problem->cause, left->first.since, left->first.task);
	weft__words_add(&words, "takes ");
	weft__words_add_task(&words, model, left->resource, 24);
	words = weft__problem_moment(
		&problem->effect, model->tasks.end[left->first.task], left->first.task);
	weft__words_add(&words, "ends without giving it back");
}

/* The problem lasts to the end of the trace, because the resource is held until then; its view is
 * the holder's part of that. */
static void report(struct weft__findings *findings, const struct left_over *left)
{
	const struct weft_model *model = findings->story->model;
	const uint32_t waiters = count_waiters(findings->story, left->resource);
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_UNRELEASED,
		.severity = waiters ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT,
		.count = left->count,
		.start = left->first.since,
		.end = model->summary.end,
		.show_start = left->first.since,
		.show_end = model->tasks.end[left->first.task],
		.task = left->first.task,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	struct weft__sentence s;
	set_moments(model, left, &problem);
	weft__sentence_init(&s);
	write_sentence(&s, model, left, waiters);
	weft__find(findings, &problem, waiters, &s);
}

void weft__find_unreleased(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	for (uint32_t task = 0; task < model->tasks.count && !findings->error; task++) {
		struct weft__holders holders;
		struct left_over left = {.resource = task};
		if (!is_examined(model, task))
			continue;
		findings->error =
			weft__holders_at(findings->story, task, model->summary.end, UINT32_MAX, &holders);
		for (uint32_t i = 0; i < holders.count; i++)
			if (has_ended_with(model, &holders.list[i]) && !left.count++)
				left.first = holders.list[i];
		if (left.count)
			report(findings, &left);
		weft__holders_finish(&holders);
	}
}
