/* SPDX-License-Identifier: ISC
 *
 * Deadlocks: tasks that wait for each other when the trace ends. A walk along the waits that
 * returns to its own steps has found a cycle.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "story/other_end.h"
#include "story/own_pipe.h"
#include "story/problems/blocked.h"
#include "story/problems/broken.h"
#include "story/problems/findings.h"

struct walk {
	struct weft__findings *findings;
	const struct weft_model *model;
	struct weft__blocked blocked;
	uint32_t *by; /* the walk that visited each task first, or WEFT_NONE */
};

/* Chooses the range to show: from the last time that one of them ran before, until the cycle is
 * closed. */
static void choose_view(const struct walk *walk, struct weft_problem *problem)
{
	const struct weft_model *model = walk->model;
	uint64_t closed = problem->start, begin = problem->start;
	uint32_t task = problem->task;
	do {
		uint64_t time = model->edges.time[weft__story_blocked_since(&walk->blocked, task)];
		uint32_t runs = weft__story_activations_until(model, task, time);
		uint32_t activation = model->tasks.first_activation[task] + runs - 1;
		uint64_t ran =
			runs ? model->activations.start[runs > 1 ? activation - 1 : activation] : time;
		if (time >= closed) {
			closed = time;
			problem->edge = weft__story_blocked_since(&walk->blocked, task);
		}
		begin = ran < begin ? ran : begin;
		task = walk->blocked.next[task];
	} while (task != problem->task);
	problem->start = closed;
	problem->show_start = begin;
	problem->show_end = closed + (closed - begin) / 2;
	if (problem->show_end > problem->end)
		problem->show_end = problem->end;
}

/* The task for which another one of a circle has begun to wait. */
static uint32_t waits_for(const struct walk *walk, uint32_t task)
{
	const uint32_t edge = weft__story_blocked_since(&walk->blocked, task);
	return walk->blocked.final[walk->model->edges.to[edge]];
}

/* " waits to write to pipe 2 'pipe' (descriptors 4 and 3), which only its own process can read".
 * All threads of the process wait, so none of them reads. */
static void describe_own(const struct walk *walk, uint32_t pipe, struct weft__sentence *s)
{
	const struct weft_model *model = walk->model;
	const uint64_t end = model->summary.end;
	weft__story_words_add_own_wait(weft__story_clause(s, 5), model, pipe, end);
	weft__story_words_add(weft__story_clause(s, 4), ", which only its own process %s",
		weft__story_waits_to_write(model, pipe, end) ? "can read" : "has");
}

/* "; right waits, too" */
static void add_next(const struct walk *walk, uint32_t task, struct weft__sentence *s)
{
	const uint32_t next = walk->blocked.next[task];
	if (next == task)
		return;
	struct weft__words *w = weft__story_clause(s, 3);
	weft__story_words_add(w, "; ");
	weft__story_words_add_other(w, walk->model, next, task, 16);
	weft__story_words_add(w, " waits, too");
}

static void add_cycle(struct walk *walk, uint32_t task)
{
	const struct weft_model *model = walk->model;
	uint32_t length = 1, first = task;
	for (uint32_t step = walk->blocked.next[task]; step != task; step = walk->blocked.next[step]) {
		length++;
		if (step < first)
			first = step;
	}
	uint64_t since = model->edges.time[weft__story_blocked_since(&walk->blocked, first)];
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_DEADLOCK, WEFT_SEVERITY_ERROR,
		length, (struct weft__case){first, since, model->summary.end});
	choose_view(walk, &problem);
	struct weft__words last =
		weft__story_problem_note(&problem.effect, problem.start, model->edges.from[problem.edge]);
	weft__story_words_add(&last, "begins to wait, as the last");
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 5);
	weft__story_words_add_subject(w, model, first, 28);
	const uint32_t source = waits_for(walk, first);
	const bool is_own = weft__story_is_own_pipe(model, source, model->summary.end);
	if (is_own) {
		describe_own(walk, source, &s);
	} else if (length == 1) {
		weft__story_words_add(w, " waits for itself");
	} else {
		weft__story_blocked_describe(&walk->blocked, first, w);
		weft__story_words_add(weft__story_clause(&s, 3),
			length == 2 ? ", which waits for it" : ", and so on in a circle of %" PRIu32, length);
	}
	w = weft__story_clause(&s, 2);
	weft__story_words_add(w, ", since ");
	weft__story_words_add_time(w, model, problem.start);
	if (is_own)
		add_next(walk, first, &s);
	weft__story_find(walk->findings, &problem, length, &s);
}

static void find_cycles(struct walk *walk)
{
	const uint32_t tasks = walk->model->tasks.count;
	uint32_t *next = walk->blocked.next;
	for (uint32_t task = 0; task < tasks; task++)
		if (weft__story_blocked_any(&walk->blocked, task) && !walk->blocked.is_locked[task])
			next[task] = WEFT_NONE;
	for (uint32_t task = 0; task < tasks; task++)
		walk->by[task] = WEFT_NONE;
	for (uint32_t task = 0; task < tasks; task++) {
		uint32_t step = task;
		while (step != WEFT_NONE && walk->by[step] == WEFT_NONE) {
			walk->by[step] = task;
			step = next[step];
		}
		if (step != WEFT_NONE && walk->by[step] == task && next[task] != WEFT_NONE)
			add_cycle(walk, step);
	}
}

void weft__find_cycles(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct walk walk = {.findings = findings, .model = model};
	int error = weft__story_blocked_init(&walk.blocked, findings->story);
	walk.by = malloc((model->tasks.count + (size_t)1) * sizeof(*walk.by));
	if (!error && walk.by)
		find_cycles(&walk);
	else
		findings->error = WEFT_ERROR_MEMORY;
	free(walk.by);
	weft__story_blocked_finish(&walk.blocked);
	if (!findings->error)
		weft__story_find_broken_circles(findings);
}
