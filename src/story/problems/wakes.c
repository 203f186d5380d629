/* SPDX-License-Identifier: ISC
 *
 * Lost wake-ups: a task signals while no task waits, and then a task waits, in vain or for very
 * long. A signal without a waiter alone is harmless: programs signal to be on the safe side.
 *
 * Or a task waits for a condition to the end although it is signalled again and again, which wakes
 * no other task either.
 *
 * Two types of tasks are signalled. A condition, for which others wait: its waiters are tasks that
 * try to read it and, where a library makes a promise for each waiter, its children. And a task
 * that waits itself: it misses a signal that comes while it still runs, if it then goes to sleep.
 * An eventfd does not: the kernel keeps its count until that is read.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "story/holders.h"
#include "story/problems/findings.h"
#include "story/problems/missed.h"
#include "story/unheard.h"

#define FAR_LONGER  8              /* ratio to the usual wait */
#define WAITS_MIN   4              /* waits needed to know what is usual */
#define LEAST_SHARE 100            /* 1 / share of a trace: shorter waits are not reported … */
#define LEAST_NS    (5 * WEFT__MS) /* … unless they are so long, and the usual wait is known */
#define IGNORED_MIN 8              /* signals that a task does not wake for */

/* The order at equal times: a signal reaches tasks that wait already, not those that begin to wait
 * only then. The model has no try_read for an answered read: the reader of what was signalled did
 * wait for it. */
enum event_type {
	SIGNAL,
	TAKEN,
	WAITER_LEAVES,
	WAITER_COMES,
};

struct event {
	uint64_t time;
	enum event_type type;
	uint32_t edge;  /* a signal's edge; WEFT_NONE: it is no event (unheard.h) */
	uint32_t task;  /* a waiter's task, or a signal's sender */
	uint64_t until; /* when an arriving waiter leaves; UINT64_MAX: not in this trace */
};

struct wakes {
	struct weft__findings *findings;
	const struct weft_story *story;
	const struct weft_model *model;
	struct event *events;
	uint64_t *waits; /* lengths; with room for twice as many, for sorting */
	uint64_t trace_ns, least_ns;
};

static bool is_meeting_point(const struct wakes *w, uint32_t task, struct weft__edge_list to)
{
	unsigned kind = w->model->tasks.kind[task];
	if (kind == WEFT_KIND_CONDITION || weft__model_is_resource(kind))
		return true;
	if (kind == WEFT_KIND_THREAD) /* a signal is to itself, and who joins it waits for its end */
		return false;
	for (uint32_t i = 0; i < to.count; i++)
		if (w->model->edges.type[to.edges[i]] == WEFT_EDGE_TRY_READ)
			return true;
	return false;
}

static bool is_signal(const struct wakes *w, uint32_t edge, uint32_t task)
{
	return w->model->edges.type[edge] == WEFT_EDGE_SIGNAL && w->model->edges.from[edge] != task;
}

/* The end of the activation that a signal begins or falls into. */
static uint64_t end_of_run(const struct wakes *w, uint32_t task, uint64_t time)
{
	uint32_t runs = weft__story_activations_until(w->model, task, time);
	if (!runs)
		return time;
	return w->model->activations.end[w->model->tasks.first_activation[task] + runs - 1];
}

static bool has_between(const struct wakes *w, struct weft__edge_list list,
	enum weft_edge_type type, uint64_t from, uint64_t to)
{
	uint32_t i = from ? weft__story_edges_until(w->model, list, from - 1) : 0;
	for (; i < list.count && w->model->edges.time[list.edges[i]] <= to; i++)
		if (w->model->edges.type[list.edges[i]] == type)
			return true;
	return false;
}

/* True if the activation woke no task: a condition that makes a promise was asked to wait; one that
 * resolves a promise has woken a task. */
static bool is_wake_up_without_waiter(const struct wakes *w, uint32_t task, uint64_t time)
{
	uint64_t end = end_of_run(w, task, time);
	return !has_between(w, weft__story_edges_by(w->model, task), WEFT_EDGE_RESOLVE, time, end);
}

static bool begins_a_wait(const struct wakes *w, uint32_t task, uint64_t time)
{
	uint64_t end = end_of_run(w, task, time);
	return has_between(w, weft__story_edges_made(w->story, task), WEFT_EDGE_CREATE, time, end);
}

/* ---- Conditions ---- */

static void add_waiter(
	struct wakes *w, uint32_t *count, uint32_t task, uint64_t from, uint64_t until)
{
	w->events[(*count)++] = (struct event){from, WAITER_COMES, WEFT_NONE, task, until};
	if (until != UINT64_MAX)
		w->events[(*count)++] = (struct event){until, WAITER_LEAVES, WEFT_NONE, task, until};
}

/* When a waiter stops waiting: when it runs again, or ends. */
static uint64_t until_it_runs(const struct wakes *w, uint32_t task, uint64_t from)
{
	const struct weft_tasks *t = &w->model->tasks;
	uint32_t next = t->first_activation[task] + weft__story_activations_until(w->model, task, from);
	if (next < t->end_activation[task])
		return w->model->activations.start[next];
	return t->flags[task] & WEFT_TASK_RESOLVED ? t->end[task] : UINT64_MAX;
}

/* Lists the signals that the recorder has remembered. */
static uint32_t list_unheard(struct wakes *w, uint32_t task)
{
	const struct weft_tasks *t = &w->model->tasks;
	uint32_t count = 0;
	struct weft__unheard signal;
	for (uint32_t note = t->first_note[task]; note < t->end_note[task]; note++)
		if (weft__story_unheard_by_note(w->model, task, note, &signal))
			w->events[count++] = (struct event){signal.time, SIGNAL, WEFT_NONE, signal.sender, 0};
	return count;
}

static uint32_t list_events(struct wakes *w, uint32_t task, struct weft__edge_list to)
{
	const struct weft_edges *e = &w->model->edges;
	const struct weft_tasks *t = &w->model->tasks;
	struct weft__edge_list made = weft__story_edges_made(w->story, task);
	bool has_promises =
		t->kind[task] == WEFT_KIND_CONDITION || t->kind[task] == WEFT_KIND_SEMAPHORE;
	uint32_t count = t->kind[task] == WEFT_KIND_CONDITION ? list_unheard(w, task) : 0;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t edge = to.edges[i], from = e->from[edge];
		if (is_signal(w, edge, task) && !begins_a_wait(w, task, e->time[edge]))
			w->events[count++] = (struct event){e->time[edge], SIGNAL, edge, from, 0};
		else if (e->type[edge] == WEFT_EDGE_TRY_READ && from != WEFT_NONE && from != task)
			add_waiter(w, &count, from, e->time[edge], until_it_runs(w, from, e->time[edge]));
		else if (e->type[edge] == WEFT_EDGE_READ && from != WEFT_NONE && from != task)
			w->events[count++] = (struct event){e->time[edge], TAKEN, edge, from, 0};
	}
	for (uint32_t i = 0; has_promises && i < made.count; i++) {
		uint32_t child = e->to[made.edges[i]];
		bool ends = t->flags[child] & WEFT_TASK_RESOLVED;
		if (e->type[made.edges[i]] == WEFT_EDGE_CREATE && t->end[child] >= t->start[child])
			add_waiter(w, &count, child, t->start[child], ends ? t->end[child] : UINT64_MAX);
	}
	return count;
}

static int by_time(const void *left, const void *right)
{
	const struct event *l = left, *r = right;
	if (l->time != r->time)
		return l->time < r->time ? -1 : 1;
	if (l->type != r->type)
		return l->type < r->type ? -1 : 1;
	if (l->edge != r->edge)
		return l->edge < r->edge ? -1 : 1;
	return l->task < r->task ? -1 : l->task > r->task;
}

static uint64_t median(struct wakes *w, uint32_t count)
{
	weft__sort_u64(w->waits, w->waits + count, count);
	return count < WAITS_MIN ? 0 : w->waits[(count - 1) / 2];
}

static uint64_t usual_wait(struct wakes *w, uint32_t events)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < events; i++)
		if (w->events[i].type == WAITER_COMES && w->events[i].until != UINT64_MAX)
			w->waits[count++] = w->events[i].until - w->events[i].time;
	return median(w, count);
}

static bool is_too_long(const struct wakes *w, uint64_t since, uint64_t until, uint64_t usual_ns)
{
	uint64_t length = weft__story_missed_ns(w->model, since, until);
	uint64_t least = usual_ns ? w->least_ns : w->trace_ns / LEAST_SHARE;
	return length > 0 && length >= least && length / FAR_LONGER >= usual_ns;
}

static void set_signal(struct weft__missed *missed, const struct event *signal)
{
	missed->edge = signal->edge;
	missed->time = signal->time;
	missed->sender = signal->task;
}

static void miss(struct weft__missed *missed, const struct wakes *w, const struct event *signal,
	uint32_t waiter, uint64_t since, uint64_t until)
{
	if (missed->count++ && weft__story_missed_ns(w->model, since, until) <=
							   weft__story_missed_ns(w->model, missed->since, missed->until))
		return;
	if (signal)
		set_signal(missed, signal);
	missed->waiter = waiter;
	missed->since = since;
	missed->until = until;
}

/* True if there is no signal while event `at`'s waiter waits: then it has waited for the earlier
 * one. */
static bool is_alone(const struct wakes *w, uint32_t events, uint32_t at)
{
	for (uint32_t i = at + 1; i < events && w->events[i].time <= w->events[at].until; i++)
		if (w->events[i].type == SIGNAL)
			return false;
	return true;
}

/* When the task began to sleep from which it wakes at that time; 0: it did not run before. */
static uint64_t sleeps_since(const struct wakes *w, uint32_t task, uint64_t wakes)
{
	uint32_t runs = wakes ? weft__story_activations_until(w->model, task, wakes - 1) : 0;
	return runs ? w->model->activations.end[w->model->tasks.first_activation[task] + runs - 1] : 0;
}

/* A signal that was only remembered counts if it is the last that could have ended the wait: most
 * programs signal busy tasks, too, which then wait for the next one. */
static bool may_be_lost(const struct event *signal, const struct event *waiter)
{
	return signal->edge != WEFT_NONE || waiter->until == UINT64_MAX;
}

static struct weft__missed sweep(struct wakes *w, uint32_t task, uint32_t events)
{
	struct weft__missed missed = {0};
	uint64_t usual_ns = usual_wait(w, events);
	uint32_t waiting = 0;
	const struct event *lost = NULL;
	uint64_t unheard = UINT64_MAX; /* the first signal of that kind since the last wait */
	for (uint32_t i = 0; i < events; i++) {
		const struct event *event = &w->events[i];
		if (event->type == TAKEN) {
			/* Another signal has ended the wait, which began only after this one. */
			missed.harmless += unheard < sleeps_since(w, event->task, event->time);
			lost = NULL;
			unheard = UINT64_MAX;
		} else if (event->type == WAITER_LEAVES) {
			waiting--;
		} else if (event->type == SIGNAL) {
			bool is_unheard = !waiting && is_wake_up_without_waiter(w, task, event->time);
			lost = is_unheard ? event : NULL;
			if (is_unheard && event->time < unheard)
				unheard = event->time;
		} else {
			waiting++;
			if (lost && is_too_long(w, event->time, event->until, usual_ns) &&
				is_alone(w, events, i) && may_be_lost(lost, event))
				miss(&missed, w, lost, event->task, event->time, event->until);
			else if (lost && event->until != UINT64_MAX)
				missed.harmless++;
			lost = NULL;
			unheard = UINT64_MAX;
		}
	}
	return missed;
}

/* Finds the first wait that lasts to the end, and counts the signals from then on: none if they
 * wake another task. */
static struct weft__missed find_ignored(struct wakes *w, uint32_t events)
{
	struct weft__missed missed = {.edge = WEFT_NONE};
	uint64_t usual_ns = usual_wait(w, events);
	for (uint32_t i = 0; i < events; i++) {
		const struct event *event = &w->events[i];
		bool is_waiting = missed.count > 0;
		if (is_waiting && (event->type == TAKEN || event->type == WAITER_LEAVES))
			return (struct weft__missed){0};
		if (!is_waiting && event->type == WAITER_COMES && event->until == UINT64_MAX)
			miss(&missed, w, NULL, event->task, event->time, event->until);
		if (is_waiting && event->type == SIGNAL && missed.ignored++ == 0)
			set_signal(&missed, event);
	}
	if (missed.ignored < IGNORED_MIN)
		return (struct weft__missed){0};
	return is_too_long(w, missed.time, UINT64_MAX, usual_ns) ? missed : (struct weft__missed){0};
}

static struct weft__missed look_at_meeting_point(
	struct wakes *w, uint32_t task, struct weft__edge_list to)
{
	uint32_t events = list_events(w, task, to);
	if (events)
		qsort(w->events, events, sizeof(*w->events), by_time);
	struct weft__missed missed = sweep(w, task, events);
	if (!missed.count && w->model->tasks.kind[task] == WEFT_KIND_CONDITION)
		missed = find_ignored(w, events);
	return missed;
}

/* ---- Tasks that wait themselves ---- */

/* When the task runs again after this activation; UINT64_MAX: not in this trace. */
static uint64_t next_run(const struct wakes *w, uint32_t task, uint32_t activation)
{
	const struct weft_tasks *t = &w->model->tasks;
	if (activation + 1 < t->end_activation[task])
		return w->model->activations.start[activation + 1];
	return t->flags[task] & WEFT_TASK_RESOLVED ? t->end[task] : UINT64_MAX;
}

static uint64_t usual_sleep(struct wakes *w, uint32_t task)
{
	const struct weft_activations *a = &w->model->activations;
	uint32_t first = w->model->tasks.first_activation[task], count = 0;
	uint32_t end = w->model->tasks.end_activation[task];
	for (uint32_t activation = first; activation + 1 < end; activation++)
		w->waits[count++] = a->start[activation + 1] - a->end[activation];
	return median(w, count);
}

static struct weft__missed look_at_sleeper(
	struct wakes *w, uint32_t task, struct weft__edge_list to)
{
	const struct weft_model *m = w->model;
	struct weft__missed missed = {0};
	uint64_t usual_ns = usual_sleep(w, task);
	uint32_t first = m->tasks.first_activation[task];
	for (uint32_t i = 0; i < to.count; i++) {
		uint64_t time = m->edges.time[to.edges[i]];
		uint32_t runs = weft__story_activations_until(m, task, time);
		if (!is_signal(w, to.edges[i], task) || !runs)
			continue;
		uint32_t activation = first + runs - 1;
		uint64_t sleeps = m->activations.end[activation], until = next_run(w, task, activation);
		if (m->activations.start[activation] == time || sleeps <= time)
			continue; /* this signal woke it */
		const struct event signal = {time, SIGNAL, to.edges[i], m->edges.from[to.edges[i]], 0};
		if (is_too_long(w, sleeps, until, usual_ns) &&
			!has_between(w, to, WEFT_EDGE_SIGNAL, sleeps, until))
			miss(&missed, w, &signal, task, sleeps, until);
		else if (until != UINT64_MAX)
			missed.harmless++;
	}
	return missed;
}

/* ---- Both ---- */

static bool has_unheard(const struct wakes *w, uint32_t task)
{
	const struct weft_tasks *t = &w->model->tasks;
	struct weft__unheard signal;
	bool found = false;
	for (uint32_t note = t->first_note[task];
		 t->kind[task] == WEFT_KIND_CONDITION && note < t->end_note[task] && !found; note++)
		found = weft__story_unheard_by_note(w->model, task, note, &signal);
	return found;
}

static void look_at_task(struct wakes *w, uint32_t task)
{
	struct weft__edge_list to = weft__story_edges_to(w->story, task);
	struct weft__missed missed = {0};
	uint32_t signals = 0;
	for (uint32_t i = 0; i < to.count; i++)
		signals += is_signal(w, to.edges[i], task);
	if ((!signals && !has_unheard(w, task)) || weft__story_is_kind(w->model, task, "eventfd"))
		return;
	if (is_meeting_point(w, task, to))
		missed = look_at_meeting_point(w, task, to);
	else
		missed = look_at_sleeper(w, task, to);
	if (missed.count)
		weft__story_report_missed(w->findings, task, &missed);
}

/* The maximum number of events and of waits of one task. */
static size_t room_for_one(const struct wakes *w)
{
	const struct weft_tasks *t = &w->model->tasks;
	size_t most = 0;
	for (uint32_t task = w->findings->first; task < w->findings->last; task++) {
		size_t events = weft__story_edges_to(w->story, task).count * (size_t)2 +
						weft__story_edges_made(w->story, task).count * (size_t)2 +
						(t->end_note[task] - t->first_note[task]);
		size_t runs = t->end_activation[task] - t->first_activation[task];
		if (events > most)
			most = events;
		if (runs > most)
			most = runs;
	}
	return most + 1;
}

void weft__find_lost_wake_ups(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct wakes w = {
		.findings = findings,
		.story = findings->story,
		.model = model,
		.trace_ns = model->summary.end - model->summary.start,
		.least_ns = weft__story_least_ns(findings, LEAST_SHARE, LEAST_NS),
	};
	if (!model->summary.by_event[WEFT_EVENT_SIGNAL] && !model->summary.by_event[WEFT_EVENT_TAG])
		return;
	size_t room = room_for_one(&w);
	w.events = malloc(room * sizeof(*w.events));
	w.waits = malloc(2 * room * sizeof(*w.waits));
	if (!w.events || !w.waits)
		findings->error = WEFT_ERROR_MEMORY;
	else
		for (uint32_t task = findings->first; task < findings->last; task++)
			look_at_task(&w, task);
	free(w.events);
	free(w.waits);
}
