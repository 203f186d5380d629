/* SPDX-License-Identifier: ISC
 *
 * At first all tasks that wait are taken to be locked. A pass over them frees those that may go on:
 * a task that waits for one task if that is free, a join if all of its tasks are, a wait for any if
 * one is, a resource if one of its holders is. What is left after the last pass is in a circle, or
 * waits for one.
 */
#include "story/problems/locked.h"

#include <stdlib.h>

#include "story/any.h"
#include "story/holders.h"
#include "story/other_end.h"
#include "story/own_pipe.h"
#include "story/problems/findings.h"
#include "story/signallers.h"

/* A message to a thread that waits may be on its way, on a busy machine for so long. */
#define QUIET_NS (500 * WEFT__MS)

/* If that many passes are not enough, only circles of tasks with one way out are found. */
#define PASSES_MAX 64

/* A resource with several holders; or a wait for the end of any child, which the children hold; or
 * a connection of a process to itself, whose other end any of its threads may use; or a pipe or
 * eventfd that only the process has. */
struct shared {
	uint32_t resource;
	struct weft__holders holders;
};

struct locked {
	struct weft__blocked *b;
	const struct weft_model *model;
	uint32_t *waiting; /* tasks that wait */
	struct shared *shared;
	uint32_t waiting_count, shared_count;
	uint64_t *last_run; /* of each buffer: the end of its last activation */
};

static bool is_open(const struct locked *l, uint32_t task)
{
	return !(l->model->tasks.flags[task] & WEFT_TASK_RESOLVED);
}

/* The locked task for which a join waits; or WEFT_NONE. */
static uint32_t locked_source(const struct locked *l, uint32_t join)
{
	const struct weft_edges *e = &l->model->edges;
	struct weft__edge_list by = weft__story_edges_by(l->model, join);
	for (uint32_t i = 0; i < by.count; i++) {
		uint32_t source = l->b->final[e->to[by.edges[i]]];
		if (e->type[by.edges[i]] == WEFT_EDGE_TRY_READ && is_open(l, source) &&
			l->b->is_locked[source])
			return source;
	}
	return WEFT_NONE;
}

static bool are_all_locked(const struct locked *l, uint32_t task)
{
	struct weft__edge_list any =
		weft__story_any_of(l->model, weft__story_blocked_since(l->b, task));
	for (uint32_t i = 0; i < any.count; i++) {
		uint32_t source =
			weft__story_blocked_behind(l->b, l->b->final[l->model->edges.to[any.edges[i]]]);
		if (source == WEFT_NONE || !l->b->is_locked[source])
			return false;
	}
	return true;
}

static bool stays_locked(const struct locked *l, uint32_t task)
{
	if (l->b->next[task] == WEFT_NONE)
		return locked_source(l, task) != WEFT_NONE;
	if (weft__story_blocked_any(l->b, task))
		return are_all_locked(l, task);
	return l->b->is_locked[l->b->next[task]];
}

/* False if the trace shows no holder: it may be one that goes on. */
static bool are_holders_locked(const struct locked *l, const struct shared *shared)
{
	for (uint32_t i = 0; i < shared->holders.count; i++)
		if (!l->b->is_locked[l->b->final[shared->holders.list[i].task]])
			return false;
	return shared->holders.count && !shared->holders.unlisted;
}

/* True if the pass freed something. */
static bool pass(struct locked *l, bool backwards)
{
	bool *is_locked = l->b->is_locked, has_changed = false;
	for (uint32_t i = 0; i < l->waiting_count; i++) {
		uint32_t task = l->waiting[backwards ? l->waiting_count - 1 - i : i];
		if (!is_locked[task] || stays_locked(l, task))
			continue;
		is_locked[task] = false;
		has_changed = true;
	}
	for (uint32_t i = 0; i < l->shared_count; i++) {
		const struct shared *shared = &l->shared[i];
		if (!is_locked[shared->resource] || are_holders_locked(l, shared))
			continue;
		is_locked[shared->resource] = false;
		has_changed = true;
	}
	return has_changed;
}

static bool is_open_join(const struct locked *l, uint32_t task)
{
	return l->model->tasks.kind[task] == WEFT_KIND_JOIN && is_open(l, task);
}

static int find_last_runs(struct locked *l)
{
	const struct weft_tasks *t = &l->model->tasks;
	l->last_run = calloc(l->model->buffer_count + (size_t)1, sizeof(*l->last_run));
	if (!l->last_run)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < t->count; task++) {
		const uint32_t end = t->end_activation[task], buffer = t->buffer[task];
		if (end == t->first_activation[task] || buffer >= l->model->buffer_count)
			continue;
		const uint64_t time = l->model->activations.end[end - 1];
		l->last_run[buffer] = time > l->last_run[buffer] ? time : l->last_run[buffer];
	}
	return 0;
}

/* True for a pipe that only its process has, in which nothing has run for long. */
static bool is_own_pipe(const struct locked *l, uint32_t task)
{
	const uint32_t buffer = l->model->tasks.buffer[task];
	return weft__story_is_own_pipe(l->model, task, l->model->summary.end) &&
		   buffer < l->model->buffer_count &&
		   l->last_run[buffer] + QUIET_NS <= weft__story_record_end(l->model, task);
}

/* A thread of the pipe's process: one that does not wait for the pipe itself, if there is one. */
static uint32_t thread_beside(const struct locked *l, uint32_t pipe)
{
	const struct weft_tasks *t = &l->model->tasks;
	uint32_t found = WEFT_NONE;
	for (uint32_t task = 0; task < t->count; task++) {
		if (t->kind[task] != WEFT_KIND_THREAD || !is_open(l, task) ||
			t->buffer[task] != t->buffer[pipe])
			continue;
		found = task;
		if (l->b->next[task] != pipe)
			break;
	}
	return found;
}

/* The thread that used the other end last, of a connection of a process to itself, or that was the
 * last to write to its pipe or the only one to signal its eventfd; or WEFT_NONE. */
static uint32_t known_user(const struct locked *l, uint32_t task)
{
	const uint64_t end = l->model->summary.end;
	struct weft__other_end other;
	if (weft__story_other_end(l->b->story, task, end, &other))
		return other.is_inner ? other.user : WEFT_NONE;
	if (!is_own_pipe(l, task))
		return WEFT_NONE;
	const uint32_t sender = weft__story_last_sender(l->b->story, task, end);
	return sender == WEFT_NONE ? weft__story_only_signaller(l->b->story, task, end) : sender;
}

/* The same, or a thread that may use its pipe. */
static uint32_t inner_user(const struct locked *l, uint32_t task)
{
	const uint32_t user = known_user(l, task);
	const bool is_waiter = user != WEFT_NONE && l->b->next[user] == task;
	return is_own_pipe(l, task) && (user == WEFT_NONE || is_waiter) ? thread_beside(l, task) : user;
}

/* True for a resource with a waiter and with several holders, for several children, or for such a
 * connection or pipe. */
static bool is_shared(const struct locked *l, uint32_t task)
{
	const unsigned kind = l->model->tasks.kind[task];
	if (l->b->holder[task] != task)
		return false;
	return weft__model_is_resource(kind)
			   ? kind != WEFT_KIND_SEMAPHORE
			   : weft__story_blocked_children(l->b, task) > 1 || is_own_pipe(l, task) ||
					 inner_user(l, task) != WEFT_NONE;
}

static int list_threads(const struct locked *l, struct shared *shared, uint32_t user)
{
	const struct weft_tasks *t = &l->model->tasks;
	int error = weft__model_holders_take(&shared->holders, WEFT_KIND_POOL, user, 0);
	for (uint32_t task = 0; task < t->count && !error; task++)
		if (t->kind[task] == WEFT_KIND_THREAD && task != user && is_open(l, task) &&
			t->buffer[task] == t->buffer[shared->resource])
			error = weft__model_holders_take(&shared->holders, WEFT_KIND_POOL, task, 0);
	return error;
}

static int list_children(const struct locked *l, struct shared *shared)
{
	uint32_t at = 0, child;
	int error = 0;
	while (!error && (child = weft__story_child_at(
						  l->b->story, shared->resource, l->model->summary.end, &at)) != WEFT_NONE)
		error = weft__model_holders_take(&shared->holders, WEFT_KIND_POOL, child, 0);
	return error;
}

static int list_holders(const struct locked *l, struct shared *shared)
{
	const uint32_t user = inner_user(l, shared->resource);
	if (user != WEFT_NONE)
		return list_threads(l, shared, user);
	if (!weft__model_is_resource(l->model->tasks.kind[shared->resource]))
		return list_children(l, shared);
	return weft__story_holders_at(
		l->b->story, shared->resource, l->model->summary.end, UINT32_MAX, &shared->holders);
}

static int list_tasks(struct locked *l)
{
	const uint32_t tasks = l->model->tasks.count;
	for (uint32_t task = 0; task < tasks; task++)
		l->shared_count += is_shared(l, task);
	l->waiting = malloc((tasks + (size_t)1) * sizeof(*l->waiting));
	l->shared = calloc(l->shared_count + (size_t)1, sizeof(*l->shared));
	if (!l->waiting || !l->shared)
		return WEFT_ERROR_MEMORY;
	int error = 0;
	for (uint32_t task = 0, shared = 0; task < tasks && !error; task++) {
		bool waits = l->b->next[task] != WEFT_NONE || is_open_join(l, task);
		l->b->is_locked[task] = waits || is_shared(l, task);
		if (waits)
			l->waiting[l->waiting_count++] = task;
		if (!is_shared(l, task))
			continue;
		l->shared[shared].resource = task;
		error = list_holders(l, &l->shared[shared++]);
	}
	return error;
}

static uint32_t locked_holder(const struct locked *l, uint32_t resource)
{
	uint32_t i = 0;
	while (l->shared[i].resource != resource)
		i++;
	return l->b->final[l->shared[i].holders.list[0].task];
}

/* All holders of a locked resource are in circles, and any of them will do. */
static void set_next(struct locked *l)
{
	uint32_t *next = l->b->next;
	for (uint32_t i = 0; i < l->waiting_count; i++) {
		uint32_t task = l->waiting[i];
		if (!l->b->is_locked[task])
			continue;
		if (next[task] == WEFT_NONE)
			next[task] = locked_source(l, task);
		else if (is_shared(l, next[task]) && l->b->is_locked[next[task]])
			next[task] = locked_holder(l, next[task]);
	}
}

int weft__story_find_locked(struct weft__blocked *blocked)
{
	struct locked l = {.b = blocked, .model = blocked->model};
	int error = find_last_runs(&l);
	uint32_t passes = 0;
	if (!error)
		error = list_tasks(&l);
	while (!error && passes < PASSES_MAX && pass(&l, passes & 1))
		passes++;
	if (!error && passes < PASSES_MAX)
		set_next(&l);
	for (uint32_t task = 0; passes == PASSES_MAX && task < l.model->tasks.count; task++)
		blocked->is_locked[task] = false;
	for (uint32_t i = 0; l.shared && i < l.shared_count; i++)
		weft__model_holders_finish(&l.shared[i].holders);
	free(l.shared);
	free(l.waiting);
	free(l.last_run);
	return error;
}
