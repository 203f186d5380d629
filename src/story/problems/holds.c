/* SPDX-License-Identifier: ISC
 *
 * Reads the edges to a resource in order of time: a read takes it, a signal gives it back. When a
 * task began to wait is concluded from its activations and from its acts before the read.
 */
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "story/holders.h"
#include "story/problems/holds.h"
#include "story/problems/unreleased.h"
#include "story/runs.h"

#define HAND_OVER_NS 100000 /* a waiting thread has a mutex that soon after it was given back */
#define QUEUE_MAX    256    /* holds that are examined for the wait of one thread */

/* Holds before the last one that may still go on, of a resource with several holders. */
#define OPEN_MAX 256

int weft__story_resource_holds_init(
	struct weft__resource_holds *holds, const struct weft_story *story, size_t edges)
{
	*holds = (struct weft__resource_holds){
		.story = story,
		.model = story->model,
		.starts = malloc(2 * edges * sizeof(*holds->starts)),
		.ends = malloc(2 * edges * sizeof(*holds->ends)),
		.wait_list = malloc(edges * sizeof(*holds->wait_list)),
		.list = malloc(edges * sizeof(*holds->list)),
		.lengths = malloc(2 * edges * sizeof(*holds->lengths)),
	};
	bool has_room =
		holds->starts && holds->ends && holds->wait_list && holds->list && holds->lengths;
	return has_room ? 0 : WEFT_ERROR_MEMORY;
}

void weft__story_resource_holds_finish(struct weft__resource_holds *holds)
{
	free(holds->starts);
	free(holds->ends);
	free(holds->wait_list);
	free(holds->list);
	free(holds->lengths);
}

static uint64_t end_of(const struct weft_model *model, uint32_t task)
{
	bool ends = model->tasks.flags[task] & WEFT_TASK_RESOLVED;
	return ends ? model->tasks.end[task] : model->summary.end;
}

/* The end of a wait without a read: when the task next runs, since it gave up, or got what a trace
 * does not show, such as a lock for reading; or when it ends. */
static uint64_t end_of_try(const struct weft_story *story, uint32_t task, uint64_t time)
{
	uint64_t end = end_of(story->model, task);
	struct weft__runs runs;
	weft__story_runs_at(story, task, time, &runs);
	return runs.next < end ? runs.next : end;
}

static bool has_begun(const void *holds, uint32_t row, uint64_t time)
{
	return ((const struct weft__timed_hold *)holds)[row].start <= time;
}

uint32_t weft__story_holds_until(const struct weft__resource_holds *holds, uint64_t time)
{
	return weft__search(holds->list, 0, holds->count, has_begun, time);
}

/* True if another task held it at that time. */
static bool was_held(const struct weft__resource_holds *h, uint32_t task, uint64_t time)
{
	uint32_t low = weft__story_holds_until(h, time);
	return low && h->list[low - 1].end > time && h->list[low - 1].task != task;
}

/* The time of the task's last act before `time`, but not before `from`. */
static uint64_t last_act(
	const struct weft_model *model, uint32_t task, uint64_t from, uint64_t time)
{
	struct weft__edge_list by = weft__story_edges_by(model, task);
	uint32_t before = time ? weft__story_edges_until(model, by, time - 1) : 0;
	uint64_t acted = before ? model->edges.time[by.edges[before - 1]] : 0;
	return acted > from ? acted : from;
}

/* When a task began to wait that runs all the while, like a thread that waits for a mutex: it takes
 * the resource as soon as others give it back, so it has waited for as long as these handed it over
 * to each other without a break, but not since before its own last act. */
static uint64_t queued_since(
	const struct weft__resource_holds *h, uint32_t task, uint64_t time, uint64_t acted)
{
	uint64_t since = time;
	uint32_t least = h->count > QUEUE_MAX ? h->count - QUEUE_MAX : 0;
	for (uint32_t i = h->count; i > least && since > acted && !h->is_shared; i--) {
		const struct weft__timed_hold *before = &h->list[i - 1];
		if (before->task == task || before->end + HAND_OVER_NS < since)
			break;
		since = before->start;
	}
	return since > acted ? since : acted;
}

/* The task's last act before `time`, or WEFT_NONE. */
static uint32_t last_edge(const struct weft_model *model, uint32_t task, uint64_t time)
{
	struct weft__edge_list by = weft__story_edges_by(model, task);
	uint32_t before = time ? weft__story_edges_until(model, by, time - 1) : 0;
	return before ? by.edges[before - 1] : WEFT_NONE;
}

/* True if the task waited for something else than the resource before its present run: the last act
 * is to read that. */
static bool waited_for_other(
	const struct weft_model *model, uint32_t task, uint32_t resource, uint64_t from, uint64_t time)
{
	const struct weft_edges *e = &model->edges;
	const uint32_t read = last_edge(model, task, time);
	if (read == WEFT_NONE || e->time[read] < from || e->type[read] != WEFT_EDGE_READ ||
		e->to[read] == WEFT_NONE || e->to[read] == resource)
		return false;
	const uint32_t tried = last_edge(model, e->to[read], time);
	return tried == WEFT_NONE || e->to[tried] != resource;
}

/* When a task that has never run began to wait, like a request that others work on: at its start or
 * its last act, if it has the resource as soon as another task gave that back. */
static uint64_t handed_since(const struct weft__resource_holds *h, uint32_t task, uint64_t time)
{
	const uint32_t least = h->count > OPEN_MAX ? h->count - OPEN_MAX : 0;
	for (uint32_t i = h->count; i > least; i--) {
		const struct weft__timed_hold *before = &h->list[i - 1];
		if (before->end <= time && before->end + HAND_OVER_NS >= time && before->task != task)
			return last_act(h->model, task, h->model->tasks.start[task], time);
	}
	return time;
}

/* When the task began to wait: when it stopped running before a read that made it run, or that is
 * its first action; otherwise when it could have had the resource. */
static uint64_t waits_since(
	const struct weft__resource_holds *h, uint32_t resource, uint32_t task, uint64_t time)
{
	const struct weft_activations *a = &h->model->activations;
	uint32_t first = h->model->tasks.first_activation[task];
	uint32_t runs = weft__story_activations_until(h->model, task, time);
	if (!runs)
		return handed_since(h, task, time);
	uint64_t ran = runs > 1 ? a->end[first + runs - 2] : h->model->tasks.start[task];
	uint64_t runs_since = a->start[first + runs - 1];
	if (runs_since == time)
		return ran;
	uint64_t acted = last_act(h->model, task, runs_since, time);
	if (waited_for_other(h->model, task, resource, runs_since, time))
		return queued_since(h, task, time, acted);
	return acted == runs_since && was_held(h, task, ran) ? ran : queued_since(h, task, time, acted);
}

/* The task's try_read of the resource, or of a promise of its turn, if it is the last thing that
 * the task did; or WEFT_NONE. */
static uint32_t try_before(
	const struct weft_model *model, uint32_t task, uint32_t resource, uint64_t time)
{
	const struct weft_edges *e = &model->edges;
	uint32_t edge = last_edge(model, task, time);
	if (edge != WEFT_NONE && e->type[edge] == WEFT_EDGE_TRY_READ && e->to[edge] != resource &&
		e->to[edge] != WEFT_NONE)
		edge = last_edge(model, e->to[edge], time);
	return edge != WEFT_NONE && e->type[edge] == WEFT_EDGE_TRY_READ && e->to[edge] == resource
			   ? edge
			   : WEFT_NONE;
}

static void add_wait(struct weft__resource_holds *h, uint32_t task, uint64_t start, uint64_t end)
{
	if (end <= start)
		return;
	h->wait_list[h->waits] = (struct weft__timed_wait){start, end, task};
	h->starts[h->waits] = start;
	h->ends[h->waits++] = end;
}

/* Ends the last hold of the task, or with WEFT_NONE of any, if it was not over. */
static void end_hold(struct weft__resource_holds *h, uint32_t task, uint64_t time)
{
	uint32_t looked = h->is_shared ? OPEN_MAX : 1;
	for (uint32_t i = h->count; i > 0 && looked > 0; i--, looked--) {
		struct weft__timed_hold *hold = &h->list[i - 1];
		if (hold->end <= time || (task != WEFT_NONE && hold->task != task))
			continue;
		hold->end = time;
		hold->is_taken_over = task == WEFT_NONE;
		return;
	}
}

/* True if the holder of a lock takes it again. */
static bool is_nested(
	const struct weft__resource_holds *h, uint32_t resource, uint32_t task, uint64_t time)
{
	const struct weft__timed_hold *last = h->count ? &h->list[h->count - 1] : NULL;
	return h->model->tasks.kind[resource] == WEFT_KIND_LOCK && last && last->task == task &&
		   last->end > time;
}

static void release(struct weft__resource_holds *h, uint32_t task, uint64_t time)
{
	if (h->nested && h->list[h->count - 1].task == task)
		h->nested--;
	else
		end_hold(h, task, time);
}

static void take_hold(
	struct weft__resource_holds *h, uint32_t resource, uint32_t task, uint64_t time)
{
	if (is_nested(h, resource, task, time)) {
		h->nested++;
		return;
	}
	h->nested = 0;
	if (!h->is_shared)
		end_hold(h, WEFT_NONE, time);
	const uint32_t tried = try_before(h->model, task, resource, time);
	const uint64_t since =
		tried == WEFT_NONE ? waits_since(h, resource, task, time) : h->model->edges.time[tried];
	if (tried == WEFT_NONE) /* else read_edges() adds it */
		add_wait(h, task, since, time);
	h->list[h->count++] =
		(struct weft__timed_hold){since, time, end_of(h->model, task), task, false, false};
}

static void read_edges(struct weft__resource_holds *h, uint32_t resource)
{
	const struct weft_edges *e = &h->model->edges;
	const unsigned kind = h->model->tasks.kind[resource];
	struct weft__edge_list to = weft__story_edges_to(h->story, resource);
	h->waits = h->count = h->nested = 0;
	h->is_shared = kind == WEFT_KIND_POOL || kind == WEFT_KIND_QUEUE || kind == WEFT_KIND_RWLOCK;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t edge = to.edges[i], task = e->from[edge];
		uint64_t time = e->time[edge];
		if (e->type[edge] == WEFT_EDGE_SIGNAL) {
			release(h, task, time);
		} else if (e->type[edge] == WEFT_EDGE_READ && task != WEFT_NONE) {
			take_hold(h, resource, task, time);
		} else if (e->type[edge] == WEFT_EDGE_TRY_READ && task != WEFT_NONE) {
			add_wait(h, task, time, end_of_try(h->story, task, time));
		}
	}
}

/* Lets the holds last that were never given back. 0 or WEFT_ERROR_MEMORY. */
static int extend_left_holds(struct weft__resource_holds *h, uint32_t resource)
{
	struct weft__holders left;
	int error = weft__story_left_holds(h->story, resource, &left);
	for (uint32_t k = 0; k < left.count; k++) {
		const struct weft__hold *hold = &left.list[k];
		uint32_t i = weft__story_holds_until(h, hold->since);
		for (; i > 0 && h->list[i - 1].start == hold->since; i--)
			if (h->list[i - 1].task == hold->task) {
				h->list[i - 1].end = h->model->summary.end;
				h->list[i - 1].is_left = true;
			}
	}
	weft__model_holders_finish(&left);
	return error;
}

/* False for a promise that has its value although nobody took the resource then: it waited for what
 * others give back, such as the last item of a queue on which they work. */
static bool wants_it(const struct weft__resource_holds *h, const struct weft__timed_wait *wait)
{
	const struct weft_tasks *t = &h->model->tasks;
	if (t->outcome[wait->task] != WEFT_OUTCOME_FULFILLED || wait->end < t->end[wait->task])
		return true;
	uint32_t i = weft__story_holds_until(h, wait->end - 1);
	for (uint32_t looked = 0; i < h->count && looked < QUEUE_MAX; i++, looked++)
		if (h->list[i].since == wait->start)
			return true;
	return false;
}

static void drop_other_waits(struct weft__resource_holds *h)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < h->waits; i++) {
		if (!wants_it(h, &h->wait_list[i]))
			continue;
		h->wait_list[kept] = h->wait_list[i];
		h->starts[kept] = h->starts[i];
		h->ends[kept++] = h->ends[i];
	}
	h->waits = kept;
}

int weft__story_resource_holds_read(struct weft__resource_holds *holds, uint32_t resource)
{
	read_edges(holds, resource);
	drop_other_waits(holds);
	return extend_left_holds(holds, resource);
}

uint32_t weft__story_resource_holds_queue(struct weft__resource_holds *holds, uint64_t *ret_time)
{
	uint32_t most = 0, queue = 0;
	weft__sort_u64(holds->starts, holds->starts + holds->waits, holds->waits);
	weft__sort_u64(holds->ends, holds->ends + holds->waits, holds->waits);
	for (uint32_t i = 0, ended = 0; i < holds->waits; i++) {
		while (holds->ends[ended] <= holds->starts[i]) {
			ended++;
			queue--;
		}
		if (++queue > most) {
			most = queue;
			*ret_time = holds->starts[i];
		}
	}
	return most;
}
