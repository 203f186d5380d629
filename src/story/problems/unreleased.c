/* SPDX-License-Identifier: ISC
 *
 * Locks and other resources that a task still held when it ended. If no task waits for the resource
 * afterwards, that is a hint: the program may not need it any more. One that was closed since
 * counts if the time of tasks was up that waited for it. If one waits, and nothing is left that
 * could go on, that is an error. Semaphores count only in traces with acquire events: in other
 * formats, a read of one does not mean that it is given back.
 */
#include "story/problems/unreleased.h"

#include <inttypes.h>

#include "story/problems/asleep.h"
#include "story/problems/findings.h"

#define READS_MAX (1u << 16) /* reads of one resource that are examined */

/* As if every third request hung: so many tasks that wait, and 1 / OUTAGE_PART of all alike ones.
 */
#define OUTAGE_MIN  4
#define OUTAGE_PART 4

/* The holds of one resource whose tasks have ended. */
struct left_over {
	uint32_t resource, count;
	struct weft__hold first;
	uint32_t waiters;  /* tasks that wait for it when the trace ends */
	uint32_t delayed;  /* tasks that waited for it after the first hold's task ended, and got it */
	uint32_t given_up; /* tasks that waited for it then until their time was up */
};

static bool has_holders(const struct weft_model *model, uint32_t task)
{
	unsigned kind = model->tasks.kind[task];
	return weft__model_is_resource(kind) &&
		   (kind != WEFT_KIND_SEMAPHORE || model->summary.by_event[WEFT_EVENT_ACQUIRE]);
}

static bool is_closed(const struct weft_model *model, uint32_t resource)
{
	return model->tasks.flags[resource] & WEFT_TASK_RESOLVED;
}

/* An acquire event about a task that had ended is another mistake. */
static bool has_ended_with(const struct weft_model *model, const struct weft__hold *hold)
{
	return weft__story_is_gone(model, hold->task, model->summary.end) &&
		   model->tasks.end[hold->task] >= hold->since;
}

/* The holds that are left when the resource is closed, or at the trace's end. */
static int read_left_holds(
	const struct weft_story *story, uint32_t resource, struct weft__holders *ret_left)
{
	const struct weft_model *model = story->model;
	uint32_t count = 0;
	uint64_t end = is_closed(model, resource) ? model->tasks.end[resource] : model->summary.end;
	int error = weft__story_holders_at(story, resource, end, UINT32_MAX, ret_left);
	for (uint32_t i = 0; i < ret_left->count; i++)
		if (has_ended_with(model, &ret_left->list[i]))
			ret_left->list[count++] = ret_left->list[i];
	ret_left->count = count;
	return error;
}

int weft__story_left_holds(
	const struct weft_story *story, uint32_t resource, struct weft__holders *ret_left)
{
	*ret_left = (struct weft__holders){0};
	if (!has_holders(story->model, resource) || is_closed(story->model, resource))
		return 0;
	return read_left_holds(story, resource, ret_left);
}

/* True if a read ended a wait for the resource that began at a time or later. */
static bool has_waited(
	const struct weft_story *story, uint32_t resource, uint32_t edge, uint64_t since)
{
	const struct weft_model *model = story->model;
	const uint32_t task = model->edges.from[edge];
	const uint64_t time = model->edges.time[edge];
	struct weft_story_wait wait;
	uint32_t runs = weft__story_activations_until(model, task, time);
	if (!runs)
		return false;
	uint64_t woken = model->activations.start[model->tasks.first_activation[task] + runs - 1];
	return woken > since && weft_story_wait_at(story, task, woken - 1, &wait) &&
		   wait.source == resource && wait.since >= since;
}

static uint32_t count_delayed(const struct weft_story *story, uint32_t resource, uint64_t since)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, resource);
	uint32_t delayed = 0, examined = 0;
	for (uint32_t i = weft__story_edges_until(story->model, to, since);
		 i < to.count && examined < READS_MAX; i++) {
		uint32_t edge = to.edges[i];
		if (e->type[edge] != WEFT_EDGE_READ || e->from[edge] == WEFT_NONE)
			continue;
		examined++;
		delayed += has_waited(story, resource, edge, since);
	}
	return delayed;
}

/* The number of tasks whose last act was to wait for the resource. */
static uint32_t count_waiters(const struct weft_story *story, uint32_t resource)
{
	const struct weft_model *model = story->model;
	struct weft__edge_list to = weft__story_edges_to(story, resource);
	uint32_t waiters = 0;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t edge = to.edges[i], task = model->edges.from[edge];
		if (model->edges.type[edge] != WEFT_EDGE_TRY_READ || task == WEFT_NONE ||
			(model->tasks.flags[task] & WEFT_TASK_RESOLVED))
			continue;
		struct weft__edge_list by = weft__story_edges_by(model, task);
		waiters += by.edges[by.count - 1] == edge;
	}
	return waiters;
}

static uint32_t count_given_up(const struct weft_story *story, uint32_t resource, uint64_t since)
{
	const struct weft_model *model = story->model;
	struct weft__edge_list to = weft__story_edges_to(story, resource);
	uint32_t given_up = 0;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t task = model->edges.from[to.edges[i]];
		given_up += model->edges.type[to.edges[i]] == WEFT_EDGE_TRY_READ && task != WEFT_NONE &&
					model->tasks.outcome[task] == WEFT_OUTCOME_TIMED_OUT &&
					model->tasks.end[task] > since;
	}
	return given_up;
}

static void write_sentence(
	struct weft__sentence *s, const struct weft_model *model, const struct left_over *left)
{
	const uint32_t task = left->first.task;
	struct weft__words *w = weft__story_clause(s, 9);
	weft__story_words_add_subject(w, model, task, 28);
	weft__story_words_add(w, " ended");
	w = weft__story_clause(s, 7);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, model->tasks.end[task]);
	w = weft__story_clause(s, WEFT__WORTH_MOST);
	weft__story_words_add(w, " without releasing ");
	weft__story_words_add_subject(w, model, left->resource, 28);
	w = weft__story_clause(s, 2);
	weft__story_words_add(w, ", which it had taken ");
	weft__story_words_add_length(w, model->tasks.end[task] - left->first.since);
	weft__story_words_add(w, " before");
	if (left->count > 1)
		weft__story_words_add(
			weft__story_clause(s, 5), ", as %" PRIu32 " more did", left->count - 1);
	if (left->waiters)
		weft__story_words_add(weft__story_clause(s, 5), "; %" PRIu32 " %s for it", left->waiters,
			left->waiters == 1 ? "task waits" : "tasks wait");
	else if (left->delayed)
		weft__story_words_add(weft__story_clause(s, 5), "; %" PRIu32 " %s since", left->delayed,
			left->delayed == 1 ? "task waited" : "tasks waited");
	else if (left->given_up)
		weft__story_words_add(weft__story_clause(s, 8), "; %" PRIu32 " %s for it timed out",
			left->given_up, left->given_up == 1 ? "wait" : "waits");
}

static void set_notes(
	const struct weft_model *model, const struct left_over *left, struct weft_problem *problem)
{
	const uint32_t task = left->first.task;
	struct weft__words words = weft__story_problem_note(&problem->cause, left->first.since, task);
	weft__story_words_add(&words, "takes ");
	weft__story_words_add_task(&words, model, left->resource, 24);
	words = weft__story_problem_note(&problem->effect, model->tasks.end[task], task);
	weft__story_words_add(&words, "ends without giving it back");
}

/* True if so many tasks wait that it is as if every third request hung. Those that wait are alike
 * the one that did not give it back. */
static bool is_outage(const struct weft__findings *findings, const struct left_over *left)
{
	const uint32_t group = findings->alike.group_of[left->first.task];
	return left->waiters >= OUTAGE_MIN && group != WEFT_NONE &&
		   left->waiters >= findings->alike.groups[group].all / OUTAGE_PART;
}

static enum weft_problem_severity severity_of(
	struct weft__findings *findings, const struct left_over *left)
{
	if (left->waiters &&
		(weft__story_is_asleep(findings, left->resource) || is_outage(findings, left)))
		return WEFT_SEVERITY_ERROR;
	return left->waiters || left->delayed || left->given_up ? WEFT_SEVERITY_WARNING
															: WEFT_SEVERITY_HINT;
}

static void report_left_over(struct weft__findings *findings, const struct left_over *left)
{
	const struct weft_model *model = findings->story->model;
	const uint32_t waiters = left->waiters + left->delayed + left->given_up;
	struct weft_problem problem =
		weft__story_problem(WEFT_PROBLEM_UNRELEASED, severity_of(findings, left), left->count,
			(struct weft__case){left->first.task, left->first.since,
				weft__story_record_end(model, left->resource)});
	problem.show_start = left->first.since;
	problem.show_end = model->tasks.end[left->first.task];
	struct weft__sentence s;
	set_notes(model, left, &problem);
	weft__story_sentence_init(&s);
	write_sentence(&s, model, left);
	weft__story_find(findings, &problem, waiters, &s);
}

static void look_at_resource(struct weft__findings *findings, uint32_t resource)
{
	const struct weft_story *story = findings->story;
	struct weft__holders holds;
	struct left_over left = {.resource = resource};
	int error = read_left_holds(story, resource, &holds);
	if (error)
		findings->error = error;
	if (!error && holds.count) {
		left.count = holds.count;
		left.first = holds.list[0];
		left.waiters = count_waiters(story, resource);
		left.delayed = count_delayed(story, resource, story->model->tasks.end[left.first.task]);
		left.given_up = count_given_up(story, resource, story->model->tasks.end[left.first.task]);
		if (left.given_up || !is_closed(story->model, resource))
			report_left_over(findings, &left);
	}
	weft__model_holders_finish(&holds);
}

void weft__find_unreleased(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	for (uint32_t task = 0; task < model->tasks.count && !findings->error; task++)
		if (has_holders(model, task))
			look_at_resource(findings, task);
}
