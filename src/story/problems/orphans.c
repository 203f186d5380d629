/* SPDX-License-Identifier: ISC
 *
 * Tasks that run on although the task that waited for them, directly or through others, was
 * cancelled, closed or timed out, and no other task reads their result: the stop did not reach
 * them. One problem for all of them, described at the one that runs on for the longest.
 *
 * The tasks for which a join waited run on if the join failed, as that of gather() does with the
 * first of them that fails. That is a warning: the caller goes on, and seldom knows of them.
 *
 * A task that only ends later, as a timer or an answer that arrives, costs nothing and is left out.
 */
#include <inttypes.h>

#include "story/holders.h"
#include "story/problems/findings.h"
#include "story/problems/ignored.h"

#define LEAST_SHARE 50               /* 1 / share of a trace: a task that runs on that long, … */
#define LEAST_NS    (10 * WEFT__MS)  /* … and in a long trace for that time */
#define JOINED_MAX  1000             /* tasks of a join that are examined */
#define HOPS_MAX    16               /* of a chain of waits that are followed */
#define FAR_LONGER  8                /* times as long as alike tasks live: a warning */
#define PILE_MIN    8                /* tasks that run on together, left one after the other, … */
#define PILE_SHARE  10               /* over 1 / share of a trace, … */
#define PILE_NS     (500 * WEFT__MS) /* … or this long: a warning, too */

struct orphan {
	uint32_t task, stopped; /* `stopped`: the task that waited for it */
	uint64_t ns;            /* how long it ran on */
};

/* Tasks that were left alone one after the other, each while another one of them ran on. */
struct orphan_group {
	uint64_t first, last, until; /* the first and the last stop, and the last end */
	uint32_t count;
};

/* The task for which `task` waited at a time, by its last act before; or WEFT_NONE. */
static uint32_t awaited_by(const struct weft_model *model, uint32_t task, uint64_t time)
{
	const struct weft_edges *e = &model->edges;
	struct weft__edge_list by = weft__story_edges_by(model, task);
	uint32_t acts = weft__story_edges_until(model, by, time);
	if (!acts || e->type[by.edges[acts - 1]] != WEFT_EDGE_TRY_READ)
		return WEFT_NONE;
	uint32_t source = weft__story_become_at(model, e->to[by.edges[acts - 1]], time);
	return source == task || weft__story_is_gone(model, source, time) ? WEFT_NONE : source;
}

/* True if another task reads its result, waits for it, or stops it. */
static bool has_other_reader(const struct weft_story *story, uint32_t task, uint32_t stopped)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, task);
	for (uint32_t i = 0; i < to.count; i++) {
		uint8_t type = e->type[to.edges[i]];
		bool is_read = type == WEFT_EDGE_READ || type == WEFT_EDGE_TRY_READ;
		if (is_read && e->from[to.edges[i]] != stopped)
			return true;
	}
	return false;
}

/* How long the task runs on after `time`: until its last activation ends. */
static uint64_t runs_on(const struct weft_model *model, uint32_t task, uint64_t time)
{
	const struct weft_tasks *t = &model->tasks;
	uint32_t end = t->end_activation[task];
	if (end == t->first_activation[task])
		return 0;
	uint64_t last = model->activations.end[end - 1];
	return last > time ? last - time : 0;
}

/* True if the task is stopped because its waiter is. A promise that is left to a task, as that of
 * asyncio's shield(), keeps the stop from it: it may be stopped for another reason, much later. */
static bool is_stopped_as_well(
	const struct weft_tasks *t, uint32_t task, uint32_t waiter, uint64_t least_ns)
{
	const bool is_kept = t->kind[waiter] == WEFT_KIND_PROMISE && t->kind[task] == WEFT_KIND_TASK;
	return (t->flags[task] & WEFT_TASK_STOPPED) &&
		   !(is_kept && t->end[task] >= t->end[waiter] + least_ns);
}

/* The next task of the chain, if nobody else needs it and it is not stopped as well; or WEFT_NONE.
 */
static uint32_t next_left_alone(
	const struct weft_story *story, uint32_t waiter, uint64_t time, uint64_t least_ns)
{
	const struct weft_tasks *t = &story->model->tasks;
	uint32_t task = awaited_by(story->model, waiter, time);
	if (task == WEFT_NONE || is_stopped_as_well(t, task, waiter, least_ns) ||
		weft__model_is_resource(t->kind[task]) || has_other_reader(story, task, waiter))
		return WEFT_NONE;
	return task;
}

/* Finds the task that runs on for the longest, of those for which a stopped one waited, directly or
 * through others. */
static bool find_orphan(
	const struct weft__findings *findings, uint32_t stopped, struct orphan *ret_orphan)
{
	const struct weft_model *model = findings->story->model;
	const uint64_t stop = model->tasks.end[stopped];
	const uint64_t least = weft__story_least_ns(findings, LEAST_SHARE, LEAST_NS);
	uint32_t task = stopped;
	*ret_orphan = (struct orphan){WEFT_NONE, stopped, 0};
	if (!(model->tasks.flags[stopped] & WEFT_TASK_STOPPED))
		return false;
	for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
		task = next_left_alone(findings->story, task, stop, least);
		if (task == WEFT_NONE)
			break;
		uint64_t ns = runs_on(model, task, stop);
		if (ns > ret_orphan->ns)
			*ret_orphan = (struct orphan){task, stopped, ns};
	}
	return ret_orphan->ns > 0 && ret_orphan->ns >= least;
}

/* Finds the task that runs on for the longest, of those for which a failed join waited. Returns how
 * many run on. */
static uint32_t find_siblings(
	const struct weft__findings *findings, uint32_t join, struct orphan *ret_orphan)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_edges *e = &model->edges;
	const uint64_t stop = model->tasks.end[join];
	const uint64_t least = weft__story_least_ns(findings, LEAST_SHARE, LEAST_NS);
	struct weft__edge_list by = weft__story_edges_by(model, join);
	uint32_t count = 0;
	*ret_orphan = (struct orphan){WEFT_NONE, join, 0};
	if (model->tasks.kind[join] != WEFT_KIND_JOIN || !(model->tasks.flags[join] & WEFT_TASK_FAILED))
		return 0;
	for (uint32_t i = 0; i < by.count && i < JOINED_MAX; i++) {
		const uint32_t task = e->to[by.edges[i]];
		if (e->type[by.edges[i]] != WEFT_EDGE_TRY_READ || task == WEFT_NONE ||
			weft__story_is_gone(model, task, stop) ||
			(model->tasks.flags[task] & WEFT_TASK_STOPPED) ||
			has_other_reader(findings->story, task, join))
			continue;
		const uint64_t ns = runs_on(model, task, stop);
		count += ns > 0 && ns >= least;
		if (ns >= least && ns > ret_orphan->ns)
			*ret_orphan = (struct orphan){task, join, ns};
	}
	return count;
}

static bool is_far_longer(const struct weft__findings *findings, const struct orphan *orphan)
{
	uint32_t group = findings->alike.group_of[orphan->task];
	uint64_t usual = group == WEFT_NONE ? 0 : findings->alike.groups[group].p50_ns;
	return usual && orphan->ns / FAR_LONGER >= usual;
}

static void report_orphans(
	struct weft__findings *findings, const struct orphan *orphan, uint32_t count, bool is_warning)
{
	const struct weft_model *model = findings->story->model;
	const uint64_t stop = model->tasks.end[orphan->stopped];
	const struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_ORPHAN,
		is_warning ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT, count,
		(struct weft__case){orphan->task, stop, stop + orphan->ns});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, model, orphan->task, 28);
	weft__story_words_add(w, " runs on for ");
	weft__story_words_add_length(w, orphan->ns);
	w = weft__story_clause(&s, 6);
	weft__story_words_add(w, " after ");
	weft__story_words_add_task(w, model, orphan->stopped, 28);
	weft__story_words_add(w, "%s%s",
		model->tasks.flags[orphan->stopped] & WEFT_TASK_FAILED ? " " : " was ",
		weft_outcome_name((enum weft_outcome)model->tasks.outcome[orphan->stopped]));
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, stop);
	weft__story_words_add(weft__story_clause(&s, 5), ", and no other task reads its result");
	if (count > 1)
		weft__story_words_add(weft__story_clause(&s, 4), "; %" PRIu32 " more %s on for nothing",
			count - 1, count > 2 ? "run" : "runs");
	weft__story_find(findings, &problem, orphan->ns, &s);
}

static bool is_group(const struct weft__findings *findings, const struct orphan_group *group)
{
	return group->count >= PILE_MIN &&
		   group->last - group->first >= weft__story_least_ns(findings, PILE_SHARE, PILE_NS);
}

/* One that runs on with none of the group begins a new one. */
static void add_to_group(struct orphan_group *group, const struct orphan *orphan, uint64_t stop)
{
	const uint64_t until = stop + orphan->ns;
	if (!group->count || stop >= group->until || until <= group->first)
		*group = (struct orphan_group){stop, stop, until, 0};
	group->count++;
	group->first = stop < group->first ? stop : group->first;
	group->last = stop > group->last ? stop : group->last;
	group->until = until > group->until ? until : group->until;
}

void weft__find_orphans(struct weft__findings *findings)
{
	struct orphan worst = {0}, orphan;
	struct orphan_group group = {0};
	uint32_t count = 0;
	bool is_warning = false;
	for (uint32_t task = 0; task < findings->story->model->tasks.count; task++) {
		uint32_t siblings = find_siblings(findings, task, &orphan);
		if (!siblings && !find_orphan(findings, task, &orphan))
			continue;
		count += siblings ? siblings : 1;
		is_warning = is_warning || siblings || is_far_longer(findings, &orphan);
		if (!siblings) {
			add_to_group(&group, &orphan, findings->story->model->tasks.end[orphan.stopped]);
			is_warning = is_warning || is_group(findings, &group);
		}
		if (orphan.ns > worst.ns)
			worst = orphan;
	}
	if (count)
		report_orphans(findings, &worst, count, is_warning);
	weft__story_find_ignored(findings);
}
