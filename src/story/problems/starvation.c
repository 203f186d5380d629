/* SPDX-License-Identifier: ISC
 *
 * A task starves if, while it waits, tasks that came later get the resource again and again.
 */
#include <inttypes.h>

#include "story/problems/starvation.h"

#define LEAST_SHARE 50              /* 1 / share of a trace: a wait that long is reported, … */
#define LEAST_NS    (10 * WEFT__MS) /* … and in a long trace one of that length */
#define PASSED_MIN  8               /* times that later tasks get it first */

/* The hold with the longest wait before it. */
static uint32_t longest_wait(const struct weft__resource_holds *h)
{
	uint32_t found = 0;
	for (uint32_t i = 1; i < h->count; i++)
		if (h->list[i].start - h->list[i].since > h->list[found].start - h->list[found].since)
			found = i;
	return found;
}

/* The number of holds by tasks that came later than the owner of hold `at`; `ret_other`: the task
 * with most of them. */
static uint32_t count_passed(const struct weft__resource_holds *h, uint32_t at, uint32_t *ret_other)
{
	const struct weft__timed_hold *waited = &h->list[at];
	uint32_t passed = 0, same = 0;
	*ret_other = WEFT_NONE;
	for (uint32_t i = at; i > 0 && h->list[i - 1].start > waited->since; i--) {
		const struct weft__timed_hold *hold = &h->list[i - 1];
		if (hold->since < waited->since || hold->task == waited->task)
			continue;
		if (!passed++)
			*ret_other = hold->task;
		same += hold->task == *ret_other;
	}
	if (same < passed - passed / 4)
		*ret_other = WEFT_NONE;
	return passed;
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
	uint32_t resource, const struct weft__timed_hold *waited)
{
	struct weft__words *w = weft__story_clause(s, 6);
	weft__story_words_add_subject(w, model, waited->task, 32);
	weft__story_words_add(w, " waits ");
	weft__story_words_add_length(w, waited->start - waited->since);
	weft__story_words_add(w, " for ");
	weft__story_words_add_task(w, model, resource, 24);
	w = weft__story_clause(s, 6);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, model, waited->since);
}

static void set_notes(struct weft_problem *problem)
{
	struct weft__words words =
		weft__story_problem_note(&problem->cause, problem->start, problem->task);
	weft__story_words_add(&words, "begins to wait");
	words = weft__story_problem_note(&problem->effect, problem->end, problem->task);
	weft__story_words_add(&words, "gets it");
}

void weft__story_look_for_starvation(
	struct weft__findings *findings, const struct weft__resource_holds *holds, uint32_t resource)
{
	uint32_t at = longest_wait(holds), other, passed = count_passed(holds, at, &other);
	const struct weft__timed_hold *waited = &holds->list[at];
	uint64_t least = weft__story_least_ns(findings, LEAST_SHARE, LEAST_NS);
	if (passed < PASSED_MIN || waited->start - waited->since < least)
		return;
	struct weft__sentence s;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_STARVATION,
		.severity = WEFT_SEVERITY_WARNING,
		.count = passed,
		.start = waited->since,
		.end = waited->start,
		.task = waited->task,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	set_notes(&problem);
	weft__story_sentence_init(&s);
	write_starved(&s, holds->model, resource, waited);
	write_passed(&s, holds->model, passed, other);
	weft__story_find(findings, &problem, passed, &s);
}
