/* SPDX-License-Identifier: ISC
 *
 * Timers that fired late, or not at all though they were due: their thread was busy, or the loop
 * that serves them hangs. One problem for all of them, described at the latest, with the task that
 * ran meanwhile. If it had no processor meanwhile, or if the program often had none, the delay is
 * the machine's.
 */
#include <inttypes.h>

#include "story/blocking.h"
#include "story/problems/findings.h"

/* A delay is grave from GRAVE_NS on, if a task certainly ran for half of it or for RAN_NS; without
 * one, from ALONE_NS on: a busy machine alone delays timers, too. */
#define GRAVE_NS (10 * WEFT__MS)
#define RAN_NS   (50 * WEFT__MS)
#define ALONE_NS (100 * WEFT__MS)
/* A busy machine: 1 / part of the time of all runs was lost. */
#define LOST_PART 8

/* The task that ran while a timer was due. */
struct meanwhile {
	uint64_t ran_ns;       /* without a pause */
	uint64_t off_ns;       /* of the delay, other programs certainly had the processor */
	uint64_t certainly_ns; /* of the delay, it certainly had the processor itself */
};

/* The thread that serves a timer: on which the timer ran first, or the task that made it. */
static uint32_t thread_of(const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *t = &model->tasks;
	if (t->first_activation[task] == t->end_activation[task] && t->parent[task] != WEFT_NONE)
		task = t->parent[task];
	return t->first_activation[task] < t->end_activation[task]
			   ? model->activations.thread[t->first_activation[task]]
			   : WEFT_NONE;
}

static uint32_t serving_thread(const struct weft_model *model, uint32_t timer_task)
{
	const uint32_t only = weft__story_only_thread(model, timer_task);
	return only != WEFT_NONE ? only : thread_of(model, timer_task);
}

static bool is_machine_busy(const struct weft_model *model)
{
	uint64_t lost_ns = 0, running_ns = 0;
	for (uint32_t i = 0; i < model->activations.count; i++)
		running_ns += model->activations.end[i] - model->activations.start[i];
	for (uint32_t i = 0; i < model->off_cpu.count; i++)
		lost_ns += model->off_cpu.ns[i];
	return lost_ns > running_ns / LOST_PART;
}

/* The task that ran on the timer's thread for half of the delay or more without a pause. */
static uint32_t find_runner(const struct weft_model *model, uint32_t timer_task,
	const struct weft_story_timer *timer, struct meanwhile *ret)
{
	const uint32_t thread = serving_thread(model, timer_task);
	const struct weft_activations *a = &model->activations;
	const struct weft_tasks *t = &model->tasks;
	uint64_t end = timer->due + timer->late_ns;
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t i = t->first_activation[task]; i < t->end_activation[task]; i++) {
			uint64_t from = a->start[i] > timer->due ? a->start[i] : timer->due;
			uint64_t to = a->end[i] < end ? a->end[i] : end;
			if (a->thread[i] != thread || to <= from || to - from < timer->late_ns / 2)
				continue;
			const uint64_t off_ns = weft__story_preempted_ns(model, thread, a->start[i], a->end[i]);
			*ret = (struct meanwhile){
				.ran_ns = a->end[i] - a->start[i],
				.off_ns = weft__story_preempted_ns(model, thread, from, to),
				.certainly_ns = to - from > off_ns ? to - from - off_ns : 0,
			};
			return task;
		}
	return WEFT_NONE;
}

/* The task that was blocked on the timer's thread for half of the delay or more: it waits in the
 * middle of its work, so that the thread can do nothing else. */
static uint32_t find_blocked(const struct weft_model *model, uint32_t timer_task,
	const struct weft_story_timer *timer, uint64_t *ret_ns)
{
	const uint32_t thread = serving_thread(model, timer_task);
	const struct weft_activations *a = &model->activations;
	const struct weft_tasks *t = &model->tasks;
	const uint64_t end = timer->due + timer->late_ns, latest = end - timer->late_ns / 2;
	struct weft__blocking blocking;
	for (uint32_t task = 0; task < t->count && weft__story_may_block(model); task++)
		for (uint32_t i = t->first_activation[task]; i < t->end_activation[task]; i++) {
			const bool is_last = i + 1 == t->end_activation[task];
			if (a->thread[i] != thread || a->end[i] > latest ||
				(!is_last && a->start[i + 1] < a->end[i] + timer->late_ns / 2) ||
				!weft__story_blocks_thread(model, task, i, &blocking))
				continue;
			uint64_t from = a->end[i] > timer->due ? a->end[i] : timer->due;
			uint64_t to = blocking.until < end ? blocking.until : end;
			if (to <= from || to - from < timer->late_ns / 2)
				continue;
			*ret_ns = blocking.until - a->end[i];
			return task;
		}
	return WEFT_NONE;
}

static void write_sentence(struct weft__sentence *s, const struct weft_model *model, uint32_t task,
	const struct weft_story_timer *timer, uint32_t count, uint32_t runner, uint64_t ran_ns,
	bool is_blocked)
{
	struct weft__words *w = weft__story_clause(s, 6);
	const bool has_runner = runner != WEFT_NONE && runner != task;
	weft__story_words_add_subject(w, model, task, is_blocked ? 20 : has_runner ? 24 : 32);
	weft__story_words_add(w, timer->has_fired ? " fired " : " is overdue for ");
	weft__story_words_add_length(w, timer->late_ns);
	weft__story_words_add(w, timer->has_fired ? " late" : " at the end");
	w = weft__story_clause(s, 4);
	weft__story_words_add(w, ": it was due at ");
	weft__story_words_add_time(w, model, timer->due);
	if (has_runner) {
		w = weft__story_clause(s, 5);
		weft__story_words_add(w, ", while ");
		weft__story_words_add_subject(w, model, runner, is_blocked ? 24 : 28);
		weft__story_words_add(w, is_blocked ? " was blocked for " : " ran for ");
		weft__story_words_add_length(w, ran_ns);
	}
	if (count > 1)
		weft__story_words_add(weft__story_clause(s, 3), "; %" PRIu32 " more %s late", count - 1,
			count > 2 ? "were" : "was");
}

static void add_case(
	struct weft__findings *findings, uint32_t task, const struct weft_story_timer *timer)
{
	weft__story_find_case(findings, task, timer->due, timer->due + timer->late_ns);
}

/* Adds all late timers as cases, the latest one first. */
static void add_cases(
	struct weft__findings *findings, uint32_t latest, const struct weft_story_timer *timer)
{
	const struct weft_model *model = findings->story->model;
	struct weft_story_timer other;
	add_case(findings, latest, timer);
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (task != latest && weft_story_timer(model, task, &other) && other.is_late)
			add_case(findings, task, &other);
}

static void report_late(struct weft__findings *findings, uint32_t task,
	const struct weft_story_timer *timer, uint32_t count)
{
	const struct weft_model *model = findings->story->model;
	struct meanwhile it = {0};
	const uint32_t runner = find_runner(model, task, timer, &it);
	const uint32_t blocked =
		runner == WEFT_NONE ? find_blocked(model, task, timer, &it.ran_ns) : WEFT_NONE;
	const bool is_grave =
		runner != WEFT_NONE
			? timer->late_ns >= GRAVE_NS &&
				  (it.certainly_ns >= timer->late_ns / 2 || it.certainly_ns >= RAN_NS)
			: timer->late_ns >= ALONE_NS && (blocked != WEFT_NONE || !is_machine_busy(model));
	if (it.off_ns > timer->late_ns / 2)
		return; /* other programs had the processor */
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_LATE,
		is_grave ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT, count,
		(struct weft__case){task,
			timer->due > model->summary.start ? timer->due : model->summary.start,
			timer->due + timer->late_ns});
	struct weft__sentence s;
	struct weft__words words = weft__story_problem_note(&problem.cause, problem.start, task);
	weft__story_words_add(&words, "due");
	if (timer->has_fired) {
		words = weft__story_problem_note(&problem.effect, problem.end, task);
		weft__story_words_add(&words, "fires, ");
		weft__story_words_add_length(&words, timer->late_ns);
		weft__story_words_add(&words, " late");
	}
	weft__story_sentence_init(&s);
	write_sentence(&s, model, task, timer, count, runner != WEFT_NONE ? runner : blocked, it.ran_ns,
		blocked != WEFT_NONE);
	add_cases(findings, task, timer);
	weft__story_find(findings, &problem, timer->late_ns, &s);
}

void weft__find_late(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct weft_story_timer latest = {0}, timer;
	uint32_t found = WEFT_NONE, count = 0;
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		if (!weft_story_timer(model, task, &timer) || !timer.is_late)
			continue;
		count++;
		if (timer.late_ns <= latest.late_ns)
			continue;
		latest = timer;
		found = task;
	}
	if (count)
		report_late(findings, found, &latest, count);
}
