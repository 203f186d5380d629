/* SPDX-License-Identifier: ISC
 *
 * Looks at each task's last act, unless the recorder has guessed whose it was.
 */
#include "story/problems/blocked.h"

#include <stdlib.h>

#include "story/any.h"
#include "story/elsewhere.h"
#include "story/other_end.h"
#include "story/holders.h"
#include "story/problems/locked.h"

#define UNKNOWN      (WEFT_NONE - 1) /* a holder that was not searched yet */
#define EXAMINED_MAX (1u << 20)      /* edges that are examined for one semaphore */

/* True if the task takes the semaphore, or if too many of its edges would have to be examined. */
static bool takes(const struct weft__blocked *b, uint32_t task, uint32_t semaphore, uint32_t *left)
{
	const struct weft_edges *e = &b->model->edges;
	struct weft__edge_list by = weft__story_edges_by(b->model, task);
	for (uint32_t i = 0; i < by.count; i++) {
		if (*left == 0 ||
			(e->type[by.edges[i]] == WEFT_EDGE_READ && e->to[by.edges[i]] == semaphore))
			return true;
		--*left;
	}
	return false;
}

/* True if a task releases the semaphore that never takes it. Then the semaphore counts something,
 * as the items of a queue, and a task that took it does not hold it. */
static bool is_counting(const struct weft__blocked *b, uint32_t semaphore)
{
	const struct weft_edges *e = &b->model->edges;
	struct weft__edge_list to = weft__story_edges_to(b->story, semaphore);
	uint32_t left = EXAMINED_MAX, known = WEFT_NONE;
	for (uint32_t i = 0; i < to.count && left > 0; i++) {
		uint32_t from = e->from[to.edges[i]];
		if (e->type[to.edges[i]] != WEFT_EDGE_SIGNAL || from == WEFT_NONE || from == known)
			continue;
		if (!takes(b, from, semaphore, &left))
			return true;
		known = from;
	}
	return false;
}

/* The holder: the last reader, unless the semaphore was signalled since, which gives it back. A
 * counting one blocks its waiters itself. */
static uint32_t find_holder(const struct weft__blocked *b, uint32_t semaphore)
{
	const struct weft_edges *e = &b->model->edges;
	struct weft__edge_list to = weft__story_edges_to(b->story, semaphore);
	if (is_counting(b, semaphore))
		return semaphore;
	for (uint32_t i = to.count; i > 0; i--) {
		uint32_t edge = to.edges[i - 1];
		if (e->type[edge] == WEFT_EDGE_READ)
			return e->from[edge] == WEFT_NONE ? WEFT_NONE : b->final[e->from[edge]];
		if (e->type[edge] == WEFT_EDGE_SIGNAL)
			return WEFT_NONE;
	}
	return WEFT_NONE;
}

/* A resolved task no longer blocks its waiters, which will read it. One that was cancelled, closed
 * or timed out has nothing to read: its waiters may wait for ever. */
static bool blocks(const struct weft_tasks *t, uint32_t task)
{
	return (t->flags[task] & (WEFT_TASK_RESOLVED | WEFT_TASK_STOPPED)) != WEFT_TASK_RESOLVED;
}

/* The only holder of a lock, pool or queue; of several, none alone blocks a waiter, but the
 * resource itself. */
static uint32_t find_only_holder(struct weft__blocked *b, uint32_t resource)
{
	struct weft__holders holders;
	uint32_t found = resource;
	int error =
		weft__story_holders_at(b->story, resource, b->model->summary.end, UINT32_MAX, &holders);
	if (error)
		b->error = error;
	if (holders.count + holders.unlisted < 2)
		found = holders.count ? b->final[holders.list[0].task] : WEFT_NONE;
	weft__model_holders_finish(&holders);
	return found;
}

/* True if the task is that of the only thread of its process: no other one can do its work. */
static bool is_alone(const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *t = &model->tasks;
	for (uint32_t other = 0; other < t->count; other++)
		if (other != task && t->buffer[other] == t->buffer[task] &&
			t->kind[other] == t->kind[task] && !(t->flags[other] & WEFT_TASK_RESOLVED))
			return false;
	return true;
}

/* True if the buffer has one thread that has not ended. */
static bool has_one_thread(const struct weft_model *model, uint32_t buffer)
{
	const struct weft_tasks *t = &model->tasks;
	uint32_t count = 0;
	for (uint32_t task = 0; task < t->count; task++)
		count += t->buffer[task] == buffer && t->kind[task] == WEFT_KIND_THREAD &&
				 !(t->flags[task] & WEFT_TASK_RESOLVED);
	return count == 1;
}

uint32_t weft__story_blocked_children(const struct weft__blocked *b, uint32_t source)
{
	const uint32_t children = weft__story_child_count(b->model, source);
	uint32_t count = 0, at = 0, child;
	if (!children || !has_one_thread(b->model, b->model->tasks.buffer[source]))
		return 0;
	while (
		(child = weft__story_child_at(b->story, source, b->model->summary.end, &at)) != WEFT_NONE &&
		is_alone(b->model, child))
		count++;
	return count == children ? count : 0;
}

/* The task at the other end of a pipe or connection, if it is known for certain: no third process
 * has an end, and no other thread can use that one. Else the end itself. */
static uint32_t across(const struct weft__blocked *b, uint32_t source)
{
	struct weft__other_end other;
	if (!weft__story_other_end(b->story, source, b->model->summary.end, &other) || other.others ||
		other.is_queue || b->model->tasks.buffer[other.user] == b->model->tasks.buffer[source])
		return source; /* for an end of the same process see locked.c */
	if (other.is_any_child && !weft__story_blocked_children(b, source))
		return source;
	uint32_t user = b->final[other.user];
	return is_alone(b->model, user) ? user : source;
}

/* The task that blocks a waiter on `source`: a resource's holder, also of another process, the task
 * at the other end of a pipe, else `source`. */
static uint32_t find_behind(struct weft__blocked *b, uint32_t source)
{
	const unsigned kind = b->model->tasks.kind[source];
	struct weft__elsewhere it;
	if (weft__story_held_elsewhere(b->story, source, b->model->summary.end, &it))
		return it.task == WEFT_NONE || it.is_copy || weft__story_is_gone(b->model, it.task, it.time)
				   ? source
				   : b->final[it.task];
	if (!weft__model_is_resource(kind))
		return across(b, source);
	return kind == WEFT_KIND_SEMAPHORE ? find_holder(b, source) : find_only_holder(b, source);
}

/* The same if that task may block it, else WEFT_NONE. */
uint32_t weft__story_blocked_behind(struct weft__blocked *b, uint32_t source)
{
	const struct weft_tasks *t = &b->model->tasks;
	if (b->holder[source] == UNKNOWN)
		b->holder[source] = find_behind(b, source);
	source = b->holder[source];
	return source != WEFT_NONE && blocks(t, source) ? source : WEFT_NONE;
}

/* One of the tasks that a wait for any is for, if all of them block it. The last one that was not
 * stopped, as programs name the sources that only end a wait early first. */
static uint32_t waits_for_any(struct weft__blocked *b, struct weft__edge_list any)
{
	const struct weft_tasks *t = &b->model->tasks;
	uint32_t found = WEFT_NONE;
	for (uint32_t i = 0; i < any.count; i++) {
		uint32_t source = weft__story_blocked_behind(b, b->final[b->model->edges.to[any.edges[i]]]);
		if (source == WEFT_NONE)
			return WEFT_NONE;
		if (found == WEFT_NONE || !(t->flags[source] & WEFT_TASK_STOPPED))
			found = source;
	}
	return found;
}

/* The number of a task's acts, up to the last one that it did itself: a recorder may find out only
 * when others wait for a resource that a task holds it which waits itself. */
static uint32_t count_acts(const struct weft_model *model, uint32_t task, struct weft__edge_list by)
{
	const struct weft_edges *e = &model->edges;
	uint32_t count = by.count, end = model->tasks.end_activation[task];
	uint64_t ran =
		end > model->tasks.first_activation[task] ? model->activations.end[end - 1] : UINT64_MAX;
	while (count > 1 && e->type[by.edges[count - 1]] == WEFT_EDGE_READ &&
		   e->time[by.edges[count - 1]] > ran &&
		   weft__model_is_resource(model->tasks.kind[e->to[by.edges[count - 1]]]))
		count--;
	return count;
}

/* True for a channel. That tasks which took something from it have to give it back may turn out
 * later: then a task that waits for the channel waits for the pool. */
static bool is_channel(const struct weft__blocked *b, uint32_t task)
{
	return task != WEFT_NONE && b->model->tasks.kind[task] == WEFT_KIND_CHANNEL;
}

/* True for a thread that has run since it began to wait: a signal may have interrupted it. */
static bool has_gone_on(const struct weft_model *model, uint32_t edge, uint32_t later)
{
	const uint32_t task = model->edges.from[edge];
	return model->tasks.kind[task] == WEFT_KIND_THREAD &&
		   weft__story_activations_until(model, task, model->edges.time[edge]) !=
			   weft__story_activations_until(model, task, model->edges.time[later]);
}

/* The task that `task` waits for, if its last action is a wait for exactly one, or for any of
 * several that all block it. */
static uint32_t waits_for(struct weft__blocked *b, uint32_t task)
{
	const struct weft_edges *e = &b->model->edges;
	struct weft__edge_list by = weft__story_edges_by(b->model, task);
	if ((b->model->tasks.flags[task] & WEFT_TASK_RESOLVED) || by.count == 0)
		return WEFT_NONE;
	if (weft__story_is_kind(b->model, task, "guessed async"))
		return WEFT_NONE; /* another task may wait */
	uint32_t count = count_acts(b->model, task, by), last = by.edges[count - 1];
	if (e->type[last] == WEFT_EDGE_WAIT_ANY)
		return waits_for_any(b, weft__story_any_of(b->model, last));
	if (e->type[last] != WEFT_EDGE_TRY_READ)
		return WEFT_NONE;
	for (uint32_t i = count - 1; i > 0 && e->type[by.edges[i - 1]] == WEFT_EDGE_TRY_READ; i--) {
		const uint32_t source = e->to[by.edges[i - 1]];
		if (has_gone_on(b->model, by.edges[i - 1], last))
			break;
		if (source != e->to[last] && !is_channel(b, source))
			return WEFT_NONE; /* it waits for any of several */
	}
	return weft__story_blocked_behind(b, b->final[e->to[last]]);
}

uint32_t weft__story_blocked_since(const struct weft__blocked *b, uint32_t task)
{
	struct weft__edge_list by = weft__story_edges_by(b->model, task);
	return by.edges[count_acts(b->model, task, by) - 1];
}

bool weft__story_blocked_any(const struct weft__blocked *b, uint32_t task)
{
	return b->next[task] != WEFT_NONE &&
		   b->model->edges.type[weft__story_blocked_since(b, task)] == WEFT_EDGE_WAIT_ANY;
}

void weft__story_blocked_describe(
	const struct weft__blocked *b, uint32_t task, struct weft__words *words)
{
	const struct weft_model *model = b->model;
	if (weft__story_blocked_any(b, task)) {
		weft__story_words_add(words, " waits for ");
		weft__story_words_add_any(
			words, model, weft__story_any_of(model, weft__story_blocked_since(b, task)));
		return;
	}
	uint32_t source = b->final[model->edges.to[weft__story_blocked_since(b, task)]];
	weft__story_words_add(words, " waits for ");
	if (source == b->next[task] || model->tasks.kind[task] == WEFT_KIND_JOIN) {
		weft__story_words_add_subject(words, model, b->next[task], 32);
		return;
	}
	weft__story_words_add_task(words, model, source, 20);
	weft__story_words_add(words, " of ");
	const uint32_t buffer = model->tasks.buffer[b->next[task]];
	const bool is_elsewhere = buffer != model->tasks.buffer[task];
	if (is_elsewhere && is_alone(model, b->next[task])) { /* a thread is called as its program */
		weft__story_words_add_process(words, model, buffer);
		return;
	}
	weft__story_words_add_subject(words, model, b->next[task], 28);
	if (!is_elsewhere)
		return;
	weft__story_words_add(words, " in ");
	weft__story_words_add_process(words, model, buffer);
}

int weft__story_blocked_init(struct weft__blocked *b, const struct weft_story *story)
{
	const struct weft_model *model = story->model;
	const uint32_t tasks = model->tasks.count;
	size_t room = tasks + (size_t)1;
	uint32_t *columns = malloc(3 * room * sizeof(*columns));
	*b = (struct weft__blocked){.story = story, .model = model, .final = columns};
	b->is_locked = calloc(room, sizeof(*b->is_locked));
	if (!columns || !b->is_locked)
		return WEFT_ERROR_MEMORY;
	b->next = columns + room;
	b->holder = columns + 2 * room;
	weft__story_find_finals(model, b->final);
	for (uint32_t task = 0; task < tasks; task++)
		b->holder[task] = UNKNOWN;
	for (uint32_t task = 0; task < tasks; task++)
		b->next[task] = waits_for(b, task);
	return b->error ? b->error : weft__story_find_locked(b);
}

void weft__story_blocked_finish(struct weft__blocked *b)
{
	free(b->is_locked);
	free(b->final);
}
