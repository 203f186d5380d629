/* SPDX-License-Identifier: ISC
 *
 * Tasks that wait for each other when the trace ends. Who waits for one task alone has one arrow
 * out, so cycles are found by walking: whoever comes back to this walk's own steps has found one.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "story/problems.h"

struct walk {
	struct weft__findings *findings;
	const struct weft_model *model;
	uint32_t *final; /* what a task had become in the end */
	uint32_t *next;  /* for whom it waits alone, or WEFT_NONE */
	uint32_t *by;    /* the walk that came by first, or WEFT_NONE */
};

/* Chains of becomes lead to higher numbers or lower ones: each is followed once. */
static void find_finals(struct walk *walk)
{
	const struct weft_tasks *t = &walk->model->tasks;
	for (uint32_t task = 0; task < t->count; task++)
		walk->final[task] = t->becomes[task] == WEFT_NONE ? task : t->becomes[task];
	for (uint32_t task = 0; task < t->count; task++) {
		uint32_t end = task;
		while (walk->final[end] != end)
			end = walk->final[end];
		for (uint32_t step = task; walk->final[step] != end;) {
			uint32_t following = walk->final[step];
			walk->final[step] = end;
			step = following;
		}
	}
}

/* Its last act is to wait for one, and the act before is none of that kind. */
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
			return WEFT_NONE; /* any of several will do */
	uint32_t source = walk->final[e->to[last]];
	return walk->model->tasks.flags[source] & WEFT_TASK_RESOLVED ? WEFT_NONE : source;
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
	struct weft__edge_list by = weft__edges_by(model, first);
	uint64_t since = model->edges.time[by.edges[by.count - 1]];
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_DEADLOCK,
		.severity = WEFT_SEVERITY_ERROR,
		.count = length,
		.start = since,
		.end = model->summary.end,
		.task = first,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
	};
	struct weft__sentence s;
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 4);
	weft__say_subject(w, model, first, 32);
	weft__say(w, length == 1 ? " waits for itself" : " waits for ");
	if (length > 1) {
		weft__say_subject(w, model, walk->next[first], 32);
		w = weft__clause(&s, 3);
		weft__say(w, length == 2 ? ", which waits for it" : ", and so on in a circle of %" PRIu32,
			length);
	}
	w = weft__clause(&s, 2);
	weft__say(w, ", since ");
	weft__say_time(w, model, since);
	weft__find(walk->findings, &problem, length, &s);
}

static void find_cycles(struct walk *walk)
{
	uint32_t tasks = walk->model->tasks.count;
	find_finals(walk);
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
	uint32_t *columns = malloc(3 * room * sizeof(*columns));
	if (!columns) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	struct walk walk = {findings, model, columns, columns + room, columns + 2 * room};
	find_cycles(&walk);
	free(columns);
}
