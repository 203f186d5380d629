/* SPDX-License-Identifier: ISC
 *
 * Finds the task for which a task waits at a time. A trace shows it in two ways: by a try_read that
 * is not answered yet, or by a later read that ends the wait. A wait for any of several is over
 * with a read of one of them.
 */
#include "base/export.h"
#include "model/holds.h"
#include "story/any.h"
#include "story/hop.h"
#include "story/runs.h"

/* At most this many of a task's edges before the time are examined: a loop that has read a million
 * times does not wait for what it wanted that long ago. */
#define LOOK_AT_MAX 256

/* Waits from before the task last woke that are examined. */
#define PAST_MAX 8

#define NAME_LETTERS 24

/* Facts about a task at a time at which it may wait. */
struct waiting {
	const struct weft_story *story;
	const struct weft_model *model;
	const uint32_t *now; /* as for weft__story_wait_at() */
	uint32_t task;
	uint64_t at;
	struct weft__edge_list edges;
	uint32_t before; /* number of edges at or before the time */
	struct weft__runs runs;
};

/* The task that a task is at the time. */
static uint32_t become_now(const struct waiting *w, uint32_t task)
{
	return w->now ? w->now[task] : weft__story_become_at(w->model, task, w->at);
}

static struct waiting waiting_of(
	const struct weft_story *story, const uint32_t *now, uint32_t task, uint64_t at)
{
	const struct weft_model *model = story->model;
	struct waiting w = {.story = story, .model = model, .now = now, .at = at};
	w.task = become_now(&w, task);
	w.edges = weft__story_edges_by(model, w.task);
	w.before = weft__story_edges_until(model, w.edges, at);
	weft__story_runs_at(story, w.task, at, &w.runs);
	return w;
}

static bool is_read_between(const struct waiting *w, uint32_t from, uint32_t to, uint32_t source)
{
	const struct weft_edges *e = &w->model->edges;
	for (uint32_t i = from; i < to; i++) {
		uint32_t edge = w->edges.edges[i];
		if (e->type[edge] == WEFT_EDGE_READ && e->to[edge] == source)
			return true;
	}
	return false;
}

/* The first read of `source` after the time. */
static uint64_t read_after(const struct waiting *w, uint32_t source)
{
	const struct weft_edges *e = &w->model->edges;
	uint32_t end =
		w->edges.count - w->before > LOOK_AT_MAX ? w->before + LOOK_AT_MAX : w->edges.count;
	for (uint32_t i = w->before; i < end; i++) {
		uint32_t edge = w->edges.edges[i];
		if (e->type[edge] == WEFT_EDGE_READ && e->to[edge] == source)
			return e->time[edge];
	}
	return UINT64_MAX;
}

/* When the task wakes to read a source at a time. It may have run before that, for other sources.
 */
static uint64_t woken_for(const struct waiting *w, uint64_t read)
{
	struct weft__runs runs;
	if (read == UINT64_MAX || w->runs.next >= read)
		return w->runs.next < read ? w->runs.next : read;
	weft__story_runs_at(w->story, w->task, read, &runs);
	return runs.has_woken && runs.woken > w->runs.next ? runs.woken : w->runs.next;
}

/* When an unanswered wait ends: when the task has gone, or wakes to read `source`; if it never
 * reads that, when it next runs. */
static uint64_t end_of_wait(const struct waiting *w, uint32_t source)
{
	const struct weft_tasks *t = &w->model->tasks;
	uint64_t until = read_after(w, source);
	if (t->kind[w->task] != WEFT_KIND_JOIN)
		until = woken_for(w, until);
	if ((t->flags[w->task] & WEFT_TASK_RESOLVED) && t->end[w->task] < until)
		until = t->end[w->task];
	return until;
}

/* Chooses between sources: a join waits for all, so the last one to end counts; other tasks wait
 * for the one that they asked last. */
static bool is_better(const struct waiting *w, uint32_t source, uint32_t than)
{
	const struct weft_tasks *t = &w->model->tasks;
	if (than == WEFT_NONE)
		return true;
	if (t->kind[w->task] != WEFT_KIND_JOIN)
		return false;
	bool ends = t->flags[source] & WEFT_TASK_RESOLVED;
	bool other_ends = t->flags[than] & WEFT_TASK_RESOLVED;
	return ends != other_ends ? other_ends : t->end[source] > t->end[than];
}

/* True if a wait is over because the task has woken since, except for a join, which wakes for each
 * source. */
static bool is_past(const struct waiting *w, uint64_t time)
{
	return w->model->tasks.kind[w->task] != WEFT_KIND_JOIN && w->runs.has_woken &&
		   w->runs.woken > time;
}

/* The source of a wait for any of several: the one that ends it, else the first that has not ended.
 */
static uint32_t choose_source(const struct waiting *w, struct weft__edge_list any, uint32_t got)
{
	for (uint32_t i = 0; i < any.count && i < LOOK_AT_MAX && got == WEFT_NONE; i++) {
		uint32_t source = become_now(w, w->model->edges.to[any.edges[i]]);
		if (source != w->task && !weft__story_is_gone(w->model, source, w->at))
			got = source;
	}
	return got == WEFT_NONE ? w->model->edges.to[any.edges[0]] : got;
}

/* Describes a wait for any of several, unless it was over before the time. */
static bool describe_any(
	const struct waiting *w, struct weft__edge_list any, struct weft_story_wait *wait)
{
	const struct weft_edges *e = &w->model->edges;
	uint32_t read = weft__story_any_read(w->model, any);
	if (read != WEFT_NONE && e->time[read] <= w->at)
		return false;
	wait->got = read == WEFT_NONE ? WEFT_NONE : e->to[read];
	wait->source = choose_source(w, any, wait->got);
	wait->since = e->time[any.edges[0]];
	wait->until = end_of_wait(w, WEFT_NONE);
	if (read != WEFT_NONE && e->time[read] < wait->until)
		wait->until = e->time[read];
	wait->any = any.edges;
	wait->any_count = any.count;
	wait->others = any.count - 1;
	return true;
}

/* Finds the wait from try_reads before the time. A task that has woken since may still wait for the
 * others of several sources: for those that it reads later. */
static bool find_pending(const struct waiting *w, struct weft_story_wait *wait)
{
	const struct weft_edges *e = &w->model->edges;
	uint32_t first = w->before > LOOK_AT_MAX ? w->before - LOOK_AT_MAX : 0, found = 0, past = 0;
	for (uint32_t i = w->before; i > first; i--) {
		uint32_t edge = w->edges.edges[i - 1], source = e->to[edge];
		bool is_over = is_past(w, e->time[edge]);
		if (e->type[edge] == WEFT_EDGE_WAIT_ANY && found == 0 && !is_over)
			return describe_any(w, weft__story_any_of(w->model, edge), wait);
		if (e->type[edge] == WEFT_EDGE_WAIT_ANY)
			break;
		if (e->type[edge] != WEFT_EDGE_TRY_READ)
			continue;
		if (is_over && ((past == 0 && found) || past++ == PAST_MAX))
			break;
		if (is_over && read_after(w, source) == UINT64_MAX)
			continue;
		if (is_read_between(w, i, w->before, source))
			continue;
		uint32_t now = become_now(w, source);
		if (now == w->task || weft__story_is_gone(w->model, now, w->at))
			continue;
		if (now == wait->source) {
			wait->since = e->time[edge]; /* asked repeatedly: it waits since the first time */
			continue;
		}
		found++;
		if (is_better(w, now, wait->source)) {
			wait->source = now;
			wait->since = e->time[edge];
			wait->until = end_of_wait(w, source);
		}
	}
	wait->others = found ? found - 1 : 0;
	return found > 0;
}

/* True if the read tells what woke the task. A runtime may let a promise run before it says for
 * what: then that has ended while the promise did not run. A thread may have run for any reason. */
static bool is_woken_by(const struct waiting *w, uint32_t source, uint64_t read)
{
	const struct weft_tasks *t = &w->model->tasks;
	struct weft__runs runs;
	if (w->runs.next >= read)
		return true;
	if (t->kind[w->task] == WEFT_KIND_THREAD || weft__story_is_gone(w->model, source, w->at) ||
		!weft__story_is_gone(w->model, source, w->runs.next))
		return false;
	weft__story_runs_at(w->story, w->task, read, &runs);
	return runs.has_woken && runs.woken == w->runs.next;
}

/* Finds the wait from the read that ends it: the first thing that the task does after the time. */
static bool find_coming(const struct waiting *w, struct weft_story_wait *wait)
{
	const struct weft_edges *e = &w->model->edges;
	if (w->before >= w->edges.count)
		return false;
	uint32_t edge = w->edges.edges[w->before], source = e->to[edge];
	if (e->type[edge] != WEFT_EDGE_READ || source == w->task)
		return false;
	uint32_t now = become_now(w, source);
	if (now == w->task || !is_woken_by(w, now, e->time[edge]))
		return false;
	/* A waiter tells who holds the lock, which its holder took at some time before. */
	if (weft__model_is_resource(w->model->tasks.kind[now]) && w->runs.next > e->time[edge])
		return false;
	uint64_t asked = w->before ? e->time[w->edges.edges[w->before - 1]] : 0;
	wait->source = now;
	wait->since = asked > w->runs.idle_since ? asked : w->runs.idle_since;
	wait->until = w->runs.next < e->time[edge] ? w->runs.next : e->time[edge];
	return true;
}

/* A resource does not wait itself, but what its waiters wait for is the holder. */
static bool find_holder(const struct waiting *w, struct weft_story_wait *wait)
{
	struct weft_story_hold hold;
	uint32_t count = weft_story_holders(w->story, w->task, w->at, &hold, 1);
	if (!count || hold.task == w->task)
		return false;
	wait->source = hold.task;
	wait->since = hold.since;
	wait->others = count - 1;
	wait->is_held = true;
	return true;
}

/* Finds a later signal or receive that ends the wait, if there is no other evidence. A resource
 * that nobody holds waits for no release: the next one is by a task that takes it later, perhaps by
 * the waiter itself. */
static bool find_signal(const struct waiting *w, struct weft_story_wait *wait)
{
	bool is_resource = weft__model_is_resource(w->model->tasks.kind[w->task]);
	const struct weft_edges *e = &w->model->edges;
	struct weft__edge_list to = weft__story_edges_to(w->story, w->task);
	for (uint32_t i = weft__story_edges_until(w->model, to, w->at); i < to.count; i++) {
		uint32_t edge = to.edges[i];
		if (e->time[edge] > w->runs.next || (is_resource && e->type[edge] == WEFT_EDGE_READ))
			break;
		if (!weft__story_wakes(e->type[edge]))
			continue;
		wait->since = w->runs.idle_since;
		wait->until = e->time[edge];
		return true;
	}
	return false;
}

bool weft__story_wait_at(const struct weft_story *story, const uint32_t *now, uint32_t task,
	uint64_t at_ns, struct weft_story_wait *ret_wait)
{
	const struct weft_model *model = story->model;
	if (at_ns > model->summary.end)
		at_ns = model->summary.end;
	struct waiting w = waiting_of(story, now, task, at_ns);
	struct weft_story_wait wait = {
		.task = w.task, .source = WEFT_NONE, .until = UINT64_MAX, .got = WEFT_NONE};
	if (w.runs.is_running || at_ns < model->tasks.start[w.task] ||
		weft__story_is_gone(model, w.task, at_ns))
		return false;
	if (!find_holder(&w, &wait) && !find_pending(&w, &wait) && !find_coming(&w, &wait) &&
		!find_signal(&w, &wait))
		return false;
	*ret_wait = wait;
	return true;
}

WEFT__EXPORT bool weft_story_wait_at(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft_story_wait *ret_wait)
{
	return weft__story_wait_at(story, NULL, task, at_ns, ret_wait);
}

WEFT__EXPORT size_t weft_story_wait_sources(
	const struct weft_model *model, const struct weft_story_wait *wait, char *buffer, size_t size)
{
	struct weft__words words;
	weft__story_words_init(&words, buffer, size);
	if (wait->any)
		weft__story_words_add_any(
			&words, model, (struct weft__edge_list){wait->any, wait->any_count});
	else if (wait->source != WEFT_NONE)
		weft__story_words_add_task(&words, model, wait->source, NAME_LETTERS);
	return words.used;
}

WEFT__EXPORT size_t weft_story_wait_calls(
	const struct weft_model *model, const struct weft_story_wait *wait, char *buffer, size_t size)
{
	struct weft__words words;
	weft__story_words_init(&words, buffer, size < WEFT_CALLS_BYTES ? size : WEFT_CALLS_BYTES);
	weft__story_words_add_text(
		&words, weft_model_stack_at(model, wait->task, wait->since), WEFT_CALLS_BYTES);
	return words.used;
}
