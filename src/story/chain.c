/* SPDX-License-Identifier: ISC
 *
 * Wait chains from a task to the chain's end. A bit for each task says whether the chain has it
 * already, so that a chain of a million hops is followed in linear time.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/export.h"
#include "model/holds.h"
#include "story/hop.h"
#include "story/index.h"
#include "story/runs.h"
#include "story/unheard.h"

/* Signals to a condition before a wait that are examined. */
#define SIGNALS_MAX 64

struct chain_maker {
	struct weft_chain public; /* the first member: destroy() frees it as such */
	const struct weft_story *story;
	struct weft_chain_hop *hops;
	size_t capacity;
	uint32_t limit;
	uint8_t *seen; /* a bit for each task */
};

static int add_hop(struct chain_maker *c, const struct weft_chain_hop *hop)
{
	uint32_t kept = c->public.kept;
	c->public.count++;
	if (kept == c->capacity && kept < c->limit) {
		size_t capacity = weft__array_next_capacity(c->capacity, kept + (size_t)1);
		if (weft__array_resize(&c->hops, capacity, sizeof(*c->hops)))
			return WEFT_ERROR_MEMORY;
		c->capacity = capacity;
	}
	if (kept < c->limit)
		c->public.kept = ++kept;
	c->hops[kept - 1] = *hop;
	return 0;
}

static bool mark(struct chain_maker *c, uint32_t task)
{
	uint8_t bit = (uint8_t)(1 << (task & 7)), *byte = &c->seen[task / 8];
	bool was_marked = *byte & bit;
	*byte |= bit;
	return was_marked;
}

/* ---- The end ---- */

/* True if the condition makes a promise in the activation that a signal begins or falls into: then
 * the signal is a task that asks to wait. */
static bool begins_a_wait(const struct weft_story *story, uint32_t condition, uint64_t time)
{
	const struct weft_model *model = story->model;
	uint32_t runs = weft__story_activations_until(model, condition, time);
	uint32_t last = model->tasks.first_activation[condition] + runs - 1;
	uint64_t until = runs ? model->activations.end[last] : time;
	struct weft__edge_list made = weft__story_edges_made(story, condition);
	return weft__story_edges_until(model, made, until) !=
		   (time ? weft__story_edges_until(model, made, time - 1) : 0);
}

/* The last signal to a condition, or to the condition that made a promise, before a wait began. */
static uint32_t find_early_signal(const struct weft_story *story, uint32_t task, uint64_t since)
{
	const struct weft_model *model = story->model;
	uint32_t condition = task, looked = 0;
	if (!weft__story_is_condition(model, task))
		condition = model->tasks.parent[task];
	if (condition == WEFT_NONE || !weft__story_is_condition(model, condition))
		return WEFT_NONE;
	struct weft__edge_list to = weft__story_edges_to(story, condition);
	for (uint32_t i = weft__story_edges_until(model, to, since); i > 0 && looked < SIGNALS_MAX;
		 looked++) {
		uint32_t edge = to.edges[--i];
		if (model->edges.type[edge] == WEFT_EDGE_SIGNAL &&
			!begins_a_wait(story, condition, model->edges.time[edge]))
			return edge;
	}
	return WEFT_NONE;
}

/* Counts the signals to the condition at the chain's end during the wait for it. */
static void count_signals(struct chain_maker *c, const struct weft_story_wait *wait)
{
	const struct weft_model *model = c->story->model;
	struct weft_chain *chain = &c->public;
	uint32_t condition = chain->end.task;
	struct weft__edge_list to = weft__story_edges_to(c->story, condition);
	uint32_t end = weft__story_edges_until(model, to, wait->until);
	for (uint32_t i = weft__story_edges_until(model, to, wait->since); i < end; i++) {
		uint32_t edge = to.edges[i];
		if (model->edges.type[edge] != WEFT_EDGE_SIGNAL ||
			begins_a_wait(c->story, condition, model->edges.time[edge]))
			continue;
		chain->end.edge = edge;
		chain->end.signals++;
	}
}

/* Describes a condition by the wait for it: when that began, and which signals came. */
static void end_at_condition(struct chain_maker *c, const struct weft_story_wait *wait)
{
	struct weft_chain *chain = &c->public;
	chain->end.since = wait->since;
	count_signals(c, wait);
	if (chain->end.signals)
		return;
	chain->end.edge = find_early_signal(c->story, chain->end.task, wait->since);
	struct weft__unheard signal;
	if (!weft__story_unheard_before(c->story->model, chain->end.task, wait->since, &signal))
		return;
	const uint64_t *time = c->story->model->edges.time;
	if (chain->end.edge != WEFT_NONE && time[chain->end.edge] > signal.time)
		return;
	chain->end.edge = WEFT_NONE;
	chain->end.remembered = signal.time;
	chain->end.signaller = signal.sender;
}

/* The end of an activation that is under way at a time. */
static uint64_t runs_until(const struct weft_model *model, uint32_t task, uint64_t at)
{
	uint32_t runs = weft__story_activations_until(model, task, at);
	return runs ? model->activations.end[model->tasks.first_activation[task] + runs - 1] : at;
}

/* True at the end of what is known, if the task still ran then. */
static bool runs_to_the_end(const struct weft_model *model, uint32_t task, uint64_t at)
{
	uint32_t end = model->tasks.end_activation[task];
	return at == model->summary.end && end > model->tasks.first_activation[task] &&
		   model->activations.end[end - 1] == at &&
		   !(model->tasks.flags[task] & WEFT_TASK_RESOLVED);
}

/* Describes a task that neither runs nor waits for another one. */
static void end_idle(struct chain_maker *c, const struct weft__runs *runs)
{
	const struct weft_tasks *t = &c->story->model->tasks;
	struct weft_chain *chain = &c->public;
	uint32_t task = chain->end.task;
	bool is_resolved = t->flags[task] & WEFT_TASK_RESOLVED;
	chain->end.since = runs->idle_since;
	chain->end.until = runs->next;
	if (is_resolved && t->end[task] < chain->end.until)
		chain->end.until = t->end[task];
	/* It is closed some time after the wait for it was over. */
	if (t->outcome[task] == WEFT_OUTCOME_CLOSED && chain->count &&
		c->hops[chain->kept - 1].wait.until < chain->end.until)
		chain->end.until = c->hops[chain->kept - 1].wait.until;
	if (t->first_activation[task] < t->end_activation[task] ||
		weft__model_is_resource(t->kind[task]))
		chain->end.type = WEFT_CHAIN_IDLE;
	else
		chain->end.type = is_resolved ? WEFT_CHAIN_OUTSIDE : WEFT_CHAIN_UNRESOLVED;
	if (chain->end.until != UINT64_MAX)
		return;
	if (chain->count && weft__story_is_condition(c->story->model, task))
		end_at_condition(c, &c->hops[chain->kept - 1].wait);
	else
		chain->end.edge = find_early_signal(c->story, task, chain->end.since);
}

static void end_at(struct chain_maker *c, const struct weft_chain_hop *hop)
{
	const struct weft_model *model = c->story->model;
	struct weft_chain *chain = &c->public;
	uint32_t task = hop->wait.task;
	struct weft__runs runs;
	chain->end.task = task;
	chain->end.since = model->tasks.start[task];
	chain->end.until = hop->wait.until;
	chain->end.edge = WEFT_NONE;
	weft__story_runs_at(c->story, task, chain->at, &runs);
	if (model->tasks.start[task] > chain->at) {
		chain->end.type = WEFT_CHAIN_LATER;
	} else if (weft__story_is_gone(model, task, chain->at)) {
		chain->end.type = WEFT_CHAIN_OVER;
		chain->end.since = model->tasks.end[task];
	} else if (runs.is_running || runs_to_the_end(model, task, chain->at)) {
		uint32_t number = weft__story_activations_until(model, task, chain->at);
		chain->end.type = WEFT_CHAIN_RUNS;
		chain->end.since =
			model->activations.start[model->tasks.first_activation[task] + number - 1];
		chain->end.until = runs_until(model, task, chain->at);
	} else if (hop->edge != WEFT_NONE && hop->wait.source != WEFT_NONE) {
		chain->end.type = WEFT_CHAIN_SENT;
		chain->end.since = hop->wait.since;
		chain->end.edge = hop->edge;
	} else if (hop->edge != WEFT_NONE && model->edges.type[hop->edge] == WEFT_EDGE_RESOLVE &&
			   model->tasks.flags[task] & WEFT_TASK_STOPPED) {
		chain->end.type = WEFT_CHAIN_STOPPED;
		chain->end.edge = hop->edge;
	} else if (hop->edge != WEFT_NONE && model->edges.from[hop->edge] != task) {
		chain->end.type = WEFT_CHAIN_OUTSIDE;
	} else {
		end_idle(c, &runs);
	}
}

static void end_in_circle(struct chain_maker *c, uint32_t task)
{
	struct weft_chain *chain = &c->public;
	chain->end.type = WEFT_CHAIN_CIRCLE;
	chain->end.task = task;
	chain->end.edge = WEFT_NONE;
	chain->end.until = UINT64_MAX;
	while (chain->end.first < chain->kept && c->hops[chain->end.first].wait.task != task)
		chain->end.first++;
	if (chain->end.first < chain->kept)
		chain->end.since = c->hops[chain->end.first].wait.since;
}

/* ---- The chain ---- */

/* True if the chain has come to a condition whose waiter is signalled later. */
static bool leads_to_signaller(
	const struct chain_maker *c, uint32_t task, struct weft_chain_hop *hop)
{
	struct weft_chain_hop next;
	if (!c->public.count || c->hops[c->public.kept - 1].wait.source != task ||
		c->hops[c->public.kept - 1].step != WEFT_CHAIN_WAITS ||
		!weft__story_hop_to_signaller(c->story, &c->hops[c->public.kept - 1].wait, &next))
		return false;
	uint32_t sender = weft__story_become_at(c->story->model, next.wait.source, c->public.at);
	if (next.wait.until < c->public.at || c->seen[sender / 8] & 1u << sender % 8)
		return false; /* it did not end the wait; or it did, so that this is no circle */
	*hop = next;
	return true;
}

static int follow(struct chain_maker *c, uint32_t task)
{
	const struct weft_model *model = c->story->model;
	for (;;) {
		struct weft_chain_hop hop;
		bool goes_on = weft__story_hop_at(c->story, NULL, task, c->public.at, &hop);
		goes_on = weft__story_hop_to_thread(c->story, task, c->public.at, goes_on, &hop) ||
				  goes_on || leads_to_signaller(c, task, &hop);
		if (!goes_on) {
			end_at(c, &hop);
			return 0;
		}
		if (mark(c, hop.wait.task)) {
			end_in_circle(c, hop.wait.task);
			return 0;
		}
		int error = add_hop(c, &hop);
		if (error)
			return error;
		task = weft__story_become_at(model, hop.wait.source, c->public.at);
	}
}

WEFT__EXPORT int weft_chain_create(const struct weft_story *story, uint32_t task, uint64_t at_ns,
	uint32_t limit, struct weft_chain **ret_chain)
{
	const struct weft_model *model = story->model;
	struct chain_maker *c = calloc(1, sizeof(*c));
	if (!c)
		return WEFT_ERROR_MEMORY;
	c->story = story;
	c->limit = limit ? limit : 1;
	c->public.at = at_ns < model->summary.end ? at_ns : model->summary.end;
	c->public.end.remembered = UINT64_MAX;
	c->seen = calloc(model->tasks.count / 8 + (size_t)1, 1);
	int error = c->seen ? follow(c, task) : WEFT_ERROR_MEMORY;
	free(c->seen);
	c->seen = NULL;
	c->public.hops = c->hops;
	if (error)
		weft_chain_destroy(&c->public);
	else
		*ret_chain = &c->public;
	return error;
}

WEFT__EXPORT void weft_chain_destroy(struct weft_chain *chain)
{
	if (!chain)
		return;
	free(((struct chain_maker *)chain)->hops);
	free(chain);
}
