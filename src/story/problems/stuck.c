/* SPDX-License-Identifier: ISC
 *
 * A thread that runs one task until the program is killed, or until a running program is looked at,
 * while other tasks of the thread are left: a loop that does not end. What waits for it does not
 * run any more, so no activation after the run shows it. Or only another thread waits: for the
 * thread itself, or for a result, since the run began.
 */
#include "story/problems/stuck.h"

#include <inttypes.h>

#include "story/things.h"

#define LEAST_NS   (500 * WEFT__MS)
#define PART       20 /* and 1 / PART of the trace */
#define FAR_LONGER 8  /* ratio to the mean run of the others */
#define LEFT_MIN   3  /* tasks of the thread that have not ended */

struct stuck {
	uint32_t task, thread;
	uint64_t start, end;
	uint32_t left;
	uint32_t waiter;       /* a task that waits for what the run should bring, or WEFT_NONE */
	uint64_t runs, sum_ns; /* of other tasks on the thread */
};

/* True if the run is cut off by the end of a program that did not end as usual. */
static bool is_cut_off(const struct weft_model *m, uint32_t task, uint64_t end)
{
	const struct weft_trace_buffer *buffer =
		weft_trace_buffer_at(m->buffers, m->buffer_count, m->tasks.buffer[task]);
	const bool is_killed = buffer->wait_status & 0x7f;
	return !(m->tasks.flags[task] & WEFT_TASK_RESOLVED) && buffer->end_ns &&
		   end >= buffer->end_ns && (buffer->ending == WEFT_ENDING_RUNNING || is_killed);
}

/* Counts the tasks of the thread that are left, and how long they used to run. */
static void look_at_others(const struct weft_model *m, struct stuck *stuck)
{
	const struct weft_activations *a = &m->activations;
	const struct weft_tasks *t = &m->tasks;
	for (uint32_t task = 0; task < t->count; task++) {
		const uint32_t first = t->first_activation[task], end = t->end_activation[task];
		if (task == stuck->task || first == end || a->thread[end - 1] != stuck->thread)
			continue;
		stuck->left += !(t->flags[task] & WEFT_TASK_RESOLVED) && t->parent[task] != stuck->task;
		for (uint32_t i = first; i < end; i++) {
			stuck->runs++;
			stuck->sum_ns += a->end[i] - a->start[i];
		}
	}
}

/* True if a task of another thread waits to the end for the thread that runs, or since the run
 * began for something that is neither a condition nor anything from outside. */
static bool waits_for(const struct weft_model *m, uint32_t task, const struct stuck *stuck)
{
	const struct weft_edges *e = &m->edges;
	const struct weft__edge_list by = weft__story_edges_by(m, task);
	const uint32_t last = by.count ? by.edges[by.count - 1] : 0;
	const uint32_t end = m->tasks.end_activation[task];
	if (end == m->tasks.first_activation[task] || m->activations.thread[end - 1] == stuck->thread)
		return false;
	if (!by.count || e->type[last] != WEFT_EDGE_TRY_READ ||
		m->tasks.flags[task] & WEFT_TASK_RESOLVED)
		return false;
	if (m->tasks.kind[e->to[last]] == WEFT_KIND_THREAD)
		return e->to[last] == stuck->task;
	const uint64_t part = (stuck->end - stuck->start) / FAR_LONGER, time = e->time[last];
	return m->tasks.kind[e->to[last]] == WEFT_KIND_PROMISE && time + part >= stuck->start &&
		   time <= stuck->start + part && !(m->tasks.flags[e->to[last]] & WEFT_TASK_RESOLVED);
}

static bool find_waiter(const struct weft_model *m, struct stuck *stuck)
{
	const uint32_t buffer = m->tasks.buffer[stuck->task];
	for (uint32_t task = 0; task < m->tasks.count; task++)
		if (m->tasks.buffer[task] == buffer && waits_for(m, task, stuck)) {
			stuck->waiter = task;
			return true;
		}
	return false;
}

static void report_stuck(struct weft__findings *findings, const struct stuck *stuck)
{
	const struct weft_model *model = findings->story->model;
	const uint64_t trace_ns = model->summary.end - model->summary.start;
	const bool has_hung = stuck->waiter != WEFT_NONE && stuck->end - stuck->start >= trace_ns / 2;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_HOG,
		has_hung ? WEFT_SEVERITY_ERROR : WEFT_SEVERITY_WARNING, 1,
		(struct weft__case){stuck->task, stuck->start, stuck->end});
	problem.thread = stuck->thread;
	struct weft__sentence s;
	struct weft__words words = weft__story_problem_note(&problem.cause, stuck->start, stuck->task);
	weft__story_words_add(&words, "begins to run, and does not stop");
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_subject(w, model, stuck->task, 36);
	weft__story_words_add(w, " runs for ");
	weft__story_words_add_length(w, stuck->end - stuck->start);
	weft__story_words_add(w, " without a pause");
	w = weft__story_clause(&s, 8);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, model, stuck->start);
	weft__story_words_add(w, " until the end");
	w = weft__story_clause(&s, 6);
	if (stuck->waiter == WEFT_NONE) {
		weft__story_words_add(w, "; %" PRIu32 " tasks of its thread are left", stuck->left);
	} else {
		weft__story_words_add(w, ", while ");
		weft__story_words_add_subject(w, model, stuck->waiter, 24);
		weft__story_words_add(w, " waits");
	}
	if (model->thread_count > 1)
		weft__story_words_add_thread(weft__story_clause(&s, 4), model, stuck->thread);
	weft__story_find(findings, &problem, stuck->end - stuck->start, &s);
}

void weft__story_find_stuck(struct weft__findings *findings)
{
	const struct weft_model *m = findings->story->model;
	const uint64_t trace_ns = m->summary.end - m->summary.start;
	for (uint32_t task = 0; task < m->tasks.count; task++) {
		const uint32_t end = m->tasks.end_activation[task];
		if (end == m->tasks.first_activation[task])
			continue;
		struct stuck stuck = {.task = task,
			.thread = m->activations.thread[end - 1],
			.start = m->activations.start[end - 1],
			.end = m->activations.end[end - 1],
			.waiter = WEFT_NONE};
		const uint64_t length = stuck.end - stuck.start;
		if (length < LEAST_NS || length < trace_ns / PART || !is_cut_off(m, task, stuck.end))
			continue;
		look_at_others(m, &stuck);
		if (stuck.runs && length / FAR_LONGER < stuck.sum_ns / stuck.runs)
			continue;
		if (stuck.left >= LEFT_MIN || find_waiter(m, &stuck))
			report_stuck(findings, &stuck);
	}
}
