/* SPDX-License-Identifier: ISC
 *
 * A task starves if, while it waits, tasks that came later get the resource again and again. It
 * need not get it in the end.
 */
#include <inttypes.h>

#include "story/problems/starvation.h"

#define LEAST_SHARE 50              /* 1 / share of a trace: a wait that long is reported, … */
#define LEAST_NS    (10 * WEFT__MS) /* … and in a long trace one of that length */
#define PASSED_MIN  8               /* times that later tasks get it first */

/* True if the task waits until its end. */
static bool is_open(const struct weft_model *model, const struct weft__timed_wait *wait)
{
	return wait->end >= model->tasks.end[wait->task];
}

/* NULL: there is none of this sort. */
static const struct weft__timed_wait *longest_wait(const struct weft__resource_holds *h, bool open)
{
	const struct weft__timed_wait *found = NULL;
	for (uint32_t i = 0; i < h->waits; i++) {
		const struct weft__timed_wait *wait = &h->wait_list[i];
		if (is_open(h->model, wait) == open &&
			(!found || wait->end - wait->start > found->end - found->start))
			found = wait;
	}
	return found;
}

/* The number of holds by tasks that came later than the one that waits, while it does; `ret_other`:
 * the task with most of them. */
static uint32_t count_passed(
	const struct weft__resource_holds *h, const struct weft__timed_wait *wait, uint32_t *ret_other)
{
	uint32_t passed = 0, same = 0;
	*ret_other = WEFT_NONE;
	for (uint32_t i = h->count; i > 0 && h->list[i - 1].start > wait->start; i--) {
		const struct weft__timed_hold *hold = &h->list[i - 1];
		if (hold->since < wait->start || hold->start >= wait->end || hold->task == wait->task)
			continue;
		if (!passed++)
			*ret_other = hold->task;
		same += hold->task == *ret_other;
	}
	if (same < passed - passed / 4)
		*ret_other = WEFT_NONE;
	return passed;
}

static bool is_killed(const struct weft_model *model, uint32_t task)
{
	return weft_trace_buffer_at(model->buffers, model->buffer_count, model->tasks.buffer[task])
			   ->wait_status &
		   0x7f;
}

static void write_passed(
	struct weft__sentence *s, const struct weft_model *model, uint32_t passed, uint32_t other)
{
	struct weft__words *w = weft__story_clause(s, 5);
	weft__story_words_add(w, ", while ");
	if (other == WEFT_NONE)
		weft__story_words_add(w, "others");
	else
		weft__story_words_add_task(w, model, other, 24);
	weft__story_words_add(w, " had it %" PRIu32 " times", passed);
	weft__story_words_add(weft__story_clause(s, 4), " and came later");
}

static void write_starved(struct weft__sentence *s, const struct weft_model *model,
	uint32_t resource, const struct weft__timed_wait *waited)
{
	struct weft__words *w = weft__story_clause(s, 6);
	weft__story_words_add_subject(w, model, waited->task, 32);
	weft__story_words_add(w, " waits ");
	weft__story_words_add_length(w, waited->end - waited->start);
	weft__story_words_add(w, " for ");
	weft__story_words_add_task(w, model, resource, 24);
	w = weft__story_clause(s, 6);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, model, waited->start);
}

static void set_notes(struct weft_problem *problem, bool gets_it)
{
	struct weft__words words =
		weft__story_problem_note(&problem->cause, problem->start, problem->task);
	weft__story_words_add(&words, "begins to wait");
	words = weft__story_problem_note(&problem->effect, problem->end, problem->task);
	weft__story_words_add(&words, gets_it ? "gets it" : "still waits");
}

static void report(struct weft__findings *findings, const struct weft__resource_holds *holds,
	uint32_t resource, const struct weft__timed_wait *waited, uint32_t passed, uint32_t other)
{
	const bool never_gets_it = is_open(holds->model, waited);
	const bool is_for_good = never_gets_it && is_killed(holds->model, waited->task);
	struct weft__sentence s;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_STARVATION,
		is_for_good ? WEFT_SEVERITY_ERROR : WEFT_SEVERITY_WARNING, passed,
		(struct weft__case){waited->task, waited->start, waited->end});
	set_notes(&problem, !never_gets_it);
	weft__story_sentence_init(&s);
	write_starved(&s, holds->model, resource, waited);
	if (never_gets_it)
		weft__story_words_add(weft__story_clause(&s, 5), " until the end");
	write_passed(&s, holds->model, passed, other);
	weft__story_find(findings, &problem, passed, &s);
}

void weft__story_look_for_starvation(
	struct weft__findings *findings, const struct weft__resource_holds *holds, uint32_t resource)
{
	const uint64_t least = weft__story_least_ns(findings, LEAST_SHARE, LEAST_NS);
	for (int open = 1; open >= 0; open--) {
		const struct weft__timed_wait *waited = longest_wait(holds, open);
		uint32_t other, passed = waited ? count_passed(holds, waited, &other) : 0;
		if (passed < PASSED_MIN || waited->end - waited->start < least)
			continue;
		report(findings, holds, resource, waited, passed, other);
		return;
	}
}
