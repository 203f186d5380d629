/* SPDX-License-Identifier: ISC
 *
 * See hop.h. From a task that waits, the hop leads to the task for which it waits, or if that is
 * not known, to the sender of the signal or message that wakes it. From a task that does not wait,
 * the hop leads to the task that resolves it later, and so lets its waiters go on.
 */
#include "story/hop.h"

#include <string.h>

#include "story/other_end.h"
#include "story/blocking.h"
#include "story/elsewhere.h"
#include "story/index.h"
#include "story/runs.h"

/* Limits the work: edges with the same time, or activations of a sender, that are examined. */
#define SAME_TIME_MAX 64

/* The edge to a task at exactly that time that resolves it (`resolves`), or that wakes it; or
 * WEFT_NONE. */
static uint32_t edge_at(const struct weft_story *story, uint32_t task, bool resolves, uint64_t time)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, task);
	uint32_t i = weft__story_edges_until(story->model, to, time), looked = 0;
	for (; i > 0 && e->time[to.edges[i - 1]] == time && looked < SAME_TIME_MAX; i--, looked++)
		if (resolves ? e->type[to.edges[i - 1]] == WEFT_EDGE_RESOLVE
					 : weft__story_wakes(e->type[to.edges[i - 1]]))
			return to.edges[i - 1];
	return WEFT_NONE;
}

static bool follow_edge(const struct weft_model *model, uint32_t edge, enum weft_chain_step step,
	struct weft_chain_hop *hop)
{
	uint32_t from = model->edges.from[edge];
	hop->step = step;
	hop->edge = edge;
	hop->wait.until = model->edges.time[edge];
	hop->wait.source = from == hop->wait.task ? WEFT_NONE : from;
	return hop->wait.source != WEFT_NONE;
}

static enum weft_chain_step step_of(const struct weft_model *model, uint32_t edge)
{
	return model->edges.type[edge] == WEFT_EDGE_RECEIVE ? WEFT_CHAIN_RECEIVES
														: WEFT_CHAIN_SIGNALLED;
}

/* True if the task's end was a decision not to wait for it any more: who took it is no resolver,
 * and waited for the task itself. */
static bool is_given_up(const struct weft_model *model, uint32_t task)
{
	unsigned outcome = model->tasks.outcome[task];
	return outcome == WEFT_OUTCOME_CANCELLED || outcome == WEFT_OUTCOME_TIMED_OUT;
}

/* Finds the resolve that ends the task. False if the task runs before that, since it may then
 * resolve itself, or if it is given up. */
static bool find_resolve(const struct weft_story *story, uint64_t at_ns, struct weft_chain_hop *hop)
{
	const struct weft_tasks *t = &story->model->tasks;
	uint32_t task = hop->wait.task;
	struct weft__runs runs;
	if (!(t->flags[task] & WEFT_TASK_RESOLVED) || t->end[task] <= at_ns)
		return false;
	weft__story_runs_at(story, task, at_ns, &runs);
	if (runs.is_running || runs.next < t->end[task])
		return false;
	hop->wait.since = runs.idle_since;
	if (t->outcome[task] == WEFT_OUTCOME_CLOSED)
		return false; /* a pipe or connection is closed by those who waited for it, when that is
						 over */
	uint32_t edge = edge_at(story, task, true, t->end[task]);
	bool goes_on = edge != WEFT_NONE && follow_edge(story->model, edge, WEFT_CHAIN_RESOLVED, hop);
	if (!is_given_up(story->model, task))
		return goes_on;
	hop->wait.source = WEFT_NONE;
	return false;
}

/* True if the message was already sent at that time: its sender does not run from then on until the
 * message is received. (The model has only the time of the receive.) */
static bool is_sent(const struct weft_story *story, uint32_t edge, uint64_t at_ns)
{
	const struct weft_model *model = story->model;
	const struct weft_activations *a = &model->activations;
	uint32_t sender = model->edges.from[edge];
	if (model->edges.type[edge] != WEFT_EDGE_RECEIVE || sender == WEFT_NONE)
		return false;
	uint32_t runs = weft__story_activations_until(model, sender, model->edges.time[edge]);
	uint32_t first = model->tasks.first_activation[sender], looked = 0;
	for (uint32_t i = runs; i > 0 && looked < SAME_TIME_MAX; i--, looked++)
		if (a->end[first + i - 1] > at_ns)
			return false;
	return runs > 0;
}

/* Finds the signal or message that ends the wait. False if there is none, or if the message is sent
 * already: its sender may wait for an answer itself, which would look like a circle. */
static bool follow_wake(const struct weft_story *story, uint64_t at_ns, struct weft_chain_hop *hop)
{
	uint32_t edge = edge_at(story, hop->wait.task, false, hop->wait.until);
	if (edge == WEFT_NONE)
		return false;
	bool goes_on = follow_edge(story->model, edge, step_of(story->model, edge), hop);
	return goes_on && !is_sent(story, edge, at_ns);
}

/* Finds the task at the other end of a pipe or connection, of which the trace shows no message that
 * is still to come. */
static bool find_other_end(
	const struct weft_story *story, uint64_t at_ns, struct weft_chain_hop *hop)
{
	struct weft__other_end other;
	struct weft__runs runs;
	if (hop->edge != WEFT_NONE || weft__story_is_gone(story->model, hop->wait.task, at_ns) ||
		!weft__story_other_end(story, hop->wait.task, at_ns, &other))
		return false;
	weft__story_runs_at(story, hop->wait.task, at_ns, &runs);
	if (runs.is_running)
		return false;
	hop->step = WEFT_CHAIN_OTHER_END;
	hop->wait.since = runs.idle_since;
	hop->wait.source = other.user;
	hop->wait.others = other.others;
	hop->is_written = other.writes;
	hop->is_kept = other.is_kept;
	return true;
}

/* Finds the thread of another process that holds a lock, if a recorder has said so. */
static bool find_elsewhere(
	const struct weft_story *story, uint64_t at_ns, struct weft_chain_hop *hop)
{
	struct weft__elsewhere it;
	if (!weft__story_held_elsewhere(story, hop->wait.task, at_ns, &it) || it.task == WEFT_NONE ||
		it.is_copy || weft__story_is_gone(story->model, hop->wait.task, at_ns))
		return false;
	hop->step = WEFT_CHAIN_ELSEWHERE;
	hop->wait.since = it.time;
	hop->wait.source = it.task;
	return true;
}

bool weft__story_hop_at(const struct weft_story *story, const uint32_t *now, uint32_t task,
	uint64_t at_ns, struct weft_chain_hop *ret_hop)
{
	const struct weft_model *model = story->model;
	if (at_ns > model->summary.end)
		at_ns = model->summary.end;
	struct weft_chain_hop *hop = ret_hop;
	*hop = (struct weft_chain_hop){.edge = WEFT_NONE};
	if (weft__story_wait_at(story, now, task, at_ns, &hop->wait)) {
		hop->step = hop->wait.is_held ? WEFT_CHAIN_HELD : WEFT_CHAIN_WAITS;
		if (hop->wait.source != WEFT_NONE)
			return true;
		return follow_wake(story, at_ns, hop);
	}
	hop->wait = (struct weft_story_wait){
		.task = now ? now[task] : weft__story_become_at(model, task, at_ns),
		.source = WEFT_NONE,
		.until = UINT64_MAX,
		.got = WEFT_NONE};
	return model->tasks.start[hop->wait.task] <= at_ns &&
		   (find_elsewhere(story, at_ns, hop) || find_resolve(story, at_ns, hop) ||
			   find_other_end(story, at_ns, hop));
}

/* The last signal to a task that others sent in a wait's time; WEFT_NONE if there is none. A wait
 * that begins and is signalled at one time is looked at like a longer one. */
static uint32_t last_signal(
	const struct weft_story *story, uint32_t task, const struct weft_story_wait *wait)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, task);
	uint32_t i = weft__story_edges_until(story->model, to, wait->until), looked = 0;
	for (; i > 0 && looked < SAME_TIME_MAX && e->time[to.edges[i - 1]] >= wait->since;
		 i--, looked++) {
		uint32_t edge = to.edges[i - 1], from = e->from[edge];
		if (e->type[edge] == WEFT_EDGE_SIGNAL && from != WEFT_NONE && from != wait->task &&
			from != task)
			return edge;
	}
	return WEFT_NONE;
}

bool weft__story_is_barrier(const struct weft_model *model, uint32_t task)
{
	static const char word[] = "barrier ";
	const uint32_t label = model->tasks.label[task];
	if (label == WEFT_NONE || !weft__story_is_of_category(model, task, "thread"))
		return false;
	struct weft_slice text = weft_model_string(model, label);
	return text.size >= sizeof(word) - 1 && memcmp(text.bytes, word, sizeof(word) - 1) == 0;
}

/* When the task of a read began to wait; UINT64_MAX if it ran before. */
static uint64_t came_at(const struct weft_model *model, uint32_t edge)
{
	const struct weft_activations *a = &model->activations;
	const uint32_t task = model->edges.from[edge], first = model->tasks.first_activation[task];
	uint32_t runs = weft__story_activations_until(model, task, model->edges.time[edge]);
	bool is_woken = runs > 1 && a->start[first + runs - 1] == model->edges.time[edge];
	return is_woken ? a->end[first + runs - 2] : UINT64_MAX;
}

/* The read of the task that came last to a barrier in a wait's time, and when it came. WEFT_NONE if
 * a task left the barrier before that: then the last one may have come for the next time. */
static uint32_t last_to_come(const struct weft_story *story, uint32_t barrier,
	const struct weft_story_wait *wait, uint64_t *ret_time)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, barrier);
	uint32_t begin = weft__story_edges_until(story->model, to, wait->since), last = WEFT_NONE;
	uint64_t latest = 0, left = UINT64_MAX;
	for (uint32_t i = begin; i < to.count && i - begin < SAME_TIME_MAX; i++) {
		uint32_t edge = to.edges[i];
		if (e->type[edge] != WEFT_EDGE_READ || e->from[edge] == WEFT_NONE)
			continue;
		left = e->time[edge] < left ? e->time[edge] : left;
		uint64_t came = came_at(story->model, edge);
		if (e->from[edge] == wait->task || came < wait->since || came > wait->until ||
			came < latest)
			continue;
		latest = came;
		last = edge;
	}
	*ret_time = latest;
	return left < latest ? WEFT_NONE : last;
}

/* The barrier lets the waiting task go on when the last one comes. */
static bool hop_to_last(
	const struct weft_story *story, const struct weft_story_wait *wait, struct weft_chain_hop *ret)
{
	uint64_t time;
	uint32_t edge = weft__story_is_barrier(story->model, wait->source)
						? last_to_come(story, wait->source, wait, &time)
						: WEFT_NONE;
	if (edge == WEFT_NONE)
		return false;
	*ret = (struct weft_chain_hop){
		.wait = {
			.task = wait->source, .since = wait->since, .source = WEFT_NONE, .got = WEFT_NONE}};
	bool goes_on = follow_edge(story->model, edge, WEFT_CHAIN_WOKEN, ret);
	ret->wait.until = time;
	return goes_on;
}

bool weft__story_hop_to_signaller(
	const struct weft_story *story, const struct weft_story_wait *wait, struct weft_chain_hop *ret)
{
	const struct weft_edges *e = &story->model->edges;
	if (wait->until == UINT64_MAX || wait->source == WEFT_NONE ||
		!weft__story_is_condition(story->model, wait->source))
		return false;
	uint32_t edge = last_signal(story, wait->source, wait);
	uint32_t own = last_signal(story, wait->task, wait);
	if (edge == WEFT_NONE || (own != WEFT_NONE && e->time[own] > e->time[edge]))
		edge = own;
	if (edge == WEFT_NONE)
		return hop_to_last(story, wait, ret);
	*ret = (struct weft_chain_hop){
		.wait = {
			.task = wait->source, .since = wait->since, .source = WEFT_NONE, .got = WEFT_NONE}};
	return follow_edge(story->model, edge, WEFT_CHAIN_WOKEN, ret);
}

bool weft__story_hop_to_thread(const struct weft_story *story, uint32_t task, uint64_t at_ns,
	bool goes_on, struct weft_chain_hop *hop)
{
	const struct weft_model *model = story->model;
	struct weft__turn turn;
	bool is_ready = goes_on ? hop->step == WEFT_CHAIN_WAITS && !hop->wait.any &&
								  weft__story_is_gone(model, hop->wait.source, at_ns)
							: hop->edge == WEFT_NONE;
	task = weft__story_become_at(model, task, at_ns);
	if (!is_ready || model->tasks.start[task] > at_ns || weft__story_is_gone(model, task, at_ns) ||
		!weft__story_turn_at(model, task, at_ns, &turn))
		return false;
	*hop = (struct weft_chain_hop){.step = WEFT_CHAIN_THREAD,
		.edge = WEFT_NONE,
		.wait = {.task = task,
			.since = turn.since,
			.until = turn.until,
			.source = turn.task,
			.got = WEFT_NONE}};
	return true;
}
