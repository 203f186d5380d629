/* SPDX-License-Identifier: ISC
 *
 * Deadlocks: tasks that wait for each other when the trace ends. A task that waits for one task
 * alone has one outgoing edge, so cycles are found by walking: a walk that returns to its own steps
 * has found one.
 *
 * A semaphore does not wait itself. The task that has read it and not signalled it since holds it,
 * and is the one that others wait for.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "story/problems/findings.h"

struct walk {
	struct weft__findings *findings;
	const struct weft_model *model;
	uint32_t *final;  /* what each task finally became */
	uint32_t *next;   /* the only task that it waits for, or WEFT_NONE */
	uint32_t *by;     /* the walk that visited it first, or WEFT_NONE */
	uint32_t *holder; /* a semaphore's holder; WEFT_NONE: none; UNKNOWN: not searched yet */
};

#define UNKNOWN (WEFT_NONE - 1)

/* The holder: the last reader, unless the semaphore was signalled since, which gives it back. */
static uint32_t find_holder(const struct walk *walk, uint32_t semaphore)
{
	const struct weft_edges *e = &walk->model->edges;
	struct weft__edge_list to = weft__edges_to(walk->findings->story, semaphore);
	for (uint32_t i = to.count; i > 0; i--) {
		uint32_t edge = to.edges[i - 1];
		if (e->type[edge] == WEFT_EDGE_READ)
			return e->from[edge] == WEFT_NONE ? WEFT_NONE : walk->final[e->from[edge]];
		if (e->type[edge] == WEFT_EDGE_SIGNAL)
			return WEFT_NONE;
	}
	return WEFT_NONE;
}

/* The task that blocks a waiter on `source`: a semaphore's holder, else `source`. */
static uint32_t behind(const struct walk *walk, uint32_t source)
{
	const struct weft_tasks *t = &walk->model->tasks;
	if (t->kind[source] == WEFT_KIND_SEMAPHORE) {
		if (walk->holder[source] == UNKNOWN)
			walk->holder[source] = find_holder(walk, source);
		source = walk->holder[source];
	}
	return source == WEFT_NONE || t->flags[source] & WEFT_TASK_RESOLVED ? WEFT_NONE : source;
}

/* The task that `task` waits for, if its last action is a wait for exactly one. */
static uint32_t waits_for(const struct walk *walk, uint32_t task)
{
	const struct weft_edges *e = &walk->model->edges;
	struct weft__edge_list by = weft__edges_by(walk->model, task);
	if ((walk->model->tasks.flags[task] & WEFT_TASK_RESOLVED) || by.count == 0)
		return WEFT_NONE;
	uint32_t last = by.edges[by.count - 1];
	if (e->type[last] != WEFT_EDGE_TRY_READ)
		return WEFT_NONE;
	for (uint32_t i = by.count - 1; i > 0 && e->type[by.edges[i - 1]] == WEFT_EDGE_TRY_READ; i--)
		if (e->to[by.edges[i - 1]] != e->to[last])
			return WEFT_NONE; /* it waits for any of several */
	return behind(walk, walk->final[e->to[last]]);
}

static uint32_t last_act(const struct walk *walk, uint32_t task)
{
	struct weft__edge_list by = weft__edges_by(walk->model, task);
	return by.edges[by.count - 1];
}

/* Chooses the range to show: from the last time that one of them ran before, until the cycle is
 * closed. */
static void choose_view(const struct walk *walk, struct weft_problem *problem)
{
	const struct weft_model *model = walk->model;
	uint64_t closed = problem->start, begin = problem->start;
	uint32_t task = problem->task;
	do {
		uint64_t time = model->edges.time[last_act(walk, task)];
		uint32_t runs = weft__activations_until(model, task, time);
		uint32_t activation = model->tasks.first_activation[task] + runs - 1;
		uint64_t ran =
			runs ? model->activations.start[runs > 1 ? activation - 1 : activation] : time;
		if (time >= closed) {
			closed = time;
			problem->edge = last_act(walk, task);
		}
		begin = ran < begin ? ran : begin;
		task = walk->next[task];
	} while (task != problem->task);
	problem->start = closed;
	problem->show_start = begin;
	problem->show_end = closed + (closed - begin) / 2;
	if (problem->show_end > problem->end)
		problem->show_end = problem->end;
}

/* Appends "waits for lock A, which task 5 holds" or "waits for task 5". */
static void write_next(struct weft__sentence *s, const struct walk *walk, uint32_t task)
{
	const struct weft_model *model = walk->model;
	struct weft__words *w = weft__clause(s, 4);
	uint32_t source = walk->final[model->edges.to[last_act(walk, task)]];
	weft__words_add(w, " waits for ");
	if (source == walk->next[task]) {
		weft__words_add_subject(w, model, source, 32);
		return;
	}
	weft__words_add_task(w, model, source, 20);
	weft__words_add(w, " of ");
	weft__words_add_subject(w, model, walk->next[task], 28);
}

static void add_cycle(struct walk *walk, uint32_t task)
{
	const struct weft_model *model = walk->model;
	uint32_t length = 1, first = task;
	for (uint32_t step = walk->next[task]; step != task; step = walk->next[step]) {
		length++;
		if (step < first)
			first = step;
	}
	uint64_t since = model->edges.time[last_act(walk, first)];
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_DEADLOCK,
		.severity = WEFT_SEVERITY_ERROR,
		.count = length,
		.start = since,
		.end = model->summary.end,
		.task = first,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	choose_view(walk, &problem);
	struct weft__sentence s;
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 5);
	weft__words_add_subject(w, model, first, 28);
	if (length == 1) {
		weft__words_add(w, " waits for itself");
	} else {
		write_next(&s, walk, first);
		weft__words_add(weft__clause(&s, 3),
			length == 2 ? ", which waits for it" : ", and so on in a circle of %" PRIu32, length);
	}
	w = weft__clause(&s, 2);
	weft__words_add(w, ", since ");
	weft__words_add_time(w, model, problem.start);
	weft__find(walk->findings, &problem, length, &s);
}

static void find_cycles(struct walk *walk)
{
	uint32_t tasks = walk->model->tasks.count;
	weft__find_finals(walk->model, walk->final);
	for (uint32_t task = 0; task < tasks; task++)
		walk->holder[task] = UNKNOWN;
	for (uint32_t task = 0; task < tasks; task++) {
		walk->next[task] = waits_for(walk, task);
		walk->by[task] = WEFT_NONE;
	}
	for (uint32_t task = 0; task < tasks; task++) {
		uint32_t step = task;
		while (step != WEFT_NONE && walk->by[step] == WEFT_NONE) {
			walk->by[step] = task;
			step = walk->next[step];
		}
		if (step != WEFT_NONE && walk->by[step] == task && walk->next[task] != WEFT_NONE)
			add_cycle(walk, step);
	}
}

void weft__find_cycles(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	size_t room = model->tasks.count + (size_t)1;
	uint32_t *columns = malloc(4 * room * sizeof(*columns));
	if (!columns) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	struct walk walk = {
		findings, model, columns, columns + room, columns + 2 * room, columns + 3 * room};
	find_cycles(&walk);
	free(columns);
}
