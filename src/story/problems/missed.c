/* SPDX-License-Identifier: ISC
 *
 * The report of a lost wake-up: who waits, which signal it missed, and what to show.
 */
#include <inttypes.h>

#include "story/problems/asleep.h"
#include "story/problems/missed.h"
#include "story/unheard.h"

uint64_t weft__story_missed_ns(const struct weft_model *model, uint64_t since, uint64_t until)
{
	uint64_t end = until == UINT64_MAX ? model->summary.end : until;
	return end > since ? end - since : 0;
}

/* Chooses the range to show: the signal and the wait that missed it, from the waiter's last but one
 * run, for comparison, to half of the wait. */
static void choose_view(
	const struct weft_model *model, const struct weft__missed *missed, struct weft_problem *problem)
{
	const uint32_t *first = &model->tasks.first_activation[missed->waiter];
	uint32_t runs = weft__story_activations_until(model, missed->waiter, missed->since);
	uint64_t begin = problem->start;
	if (runs) {
		uint32_t activation = first[0] + runs - 1;
		uint64_t ran = model->activations.start[runs > 1 ? activation - 1 : activation];
		begin = ran < begin ? ran : begin;
	}
	problem->show_start = begin;
	problem->show_end = missed->since + (missed->since - begin) / 2;
	if (problem->show_end > problem->end)
		problem->show_end = problem->end;
}

/* Names the sleeping task: instead of a promise without a name, the task that waits for it. */
static uint32_t find_sleeper(const struct weft_story *story, uint32_t waiter)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, waiter);
	if (story->model->tasks.label[waiter] != WEFT_NONE)
		return waiter;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t type = e->type[to.edges[i]], from = e->from[to.edges[i]];
		if ((type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_READ) && from != WEFT_NONE)
			return from;
	}
	return waiter;
}

/* Writes "worker 3 waits in vain since 4 ms: main signalled it 2 us before". */
static void write_missed(struct weft__sentence *s, const struct weft_model *model, uint32_t task,
	const struct weft__missed *missed, bool in_vain)
{
	uint32_t sender = missed->sender;
	uint64_t time = missed->time;
	struct weft__words *x = weft__story_clause(s, 9);
	weft__story_words_add_subject(x, model, missed->waiter, 32);
	weft__story_words_add(x, !in_vain           ? " waits from "
							 : missed->harmless ? " waits since "
												: " waits in vain since ");
	weft__story_words_add_time(x, model, missed->since);
	if (!in_vain) {
		x = weft__story_clause(s, 5);
		weft__story_words_add(x, " for ");
		weft__story_words_add_length(x, missed->until - missed->since);
	}
	x = weft__story_clause(s, 8);
	weft__story_words_add(x, ": ");
	if (missed->ignored) {
		weft__story_words_add_task(x, model, task, 24);
		weft__story_words_add(x, " was signalled %" PRIu32 " times meanwhile", missed->ignored);
		return;
	}
	if (sender == WEFT_NONE)
		weft__story_words_add(x, "an unknown task");
	else
		weft__story_words_add_task(x, model, sender, 24);
	weft__story_words_add(x, " signalled ");
	if (task == missed->waiter)
		weft__story_words_add(x, "it");
	else
		weft__story_words_add_task(x, model, task, 24);
	x = weft__story_clause(s, 7);
	weft__story_words_add(x, " ");
	weft__story_words_add_length(x, missed->since > time ? missed->since - time : 0);
	weft__story_words_add(x, " before");
	if (!missed->harmless)
		return;
	x = weft__story_clause(s, 8);
	weft__story_words_add(x, "; %" PRIu32 " such signal%s did no harm", missed->harmless,
		missed->harmless == 1 ? "" : "s");
}

/* The signal on the row of what was signalled, and the wait on that of the waiter. */
static void set_notes(
	uint32_t task, const struct weft__missed *missed, struct weft_problem *problem)
{
	uint64_t time = missed->time;
	struct weft__words words = weft__story_problem_note(&problem->cause, time, task);
	if (missed->ignored) {
		weft__story_words_add(&words, "signalled, and the waiter does not wake");
		words = weft__story_problem_note(&problem->effect, missed->since, missed->waiter);
		weft__story_words_add(&words, "begins to wait");
		return;
	}
	weft__story_words_add(&words, "%s",
		task == missed->waiter ? "signalled while it runs" : "signalled, nobody waits");
	words = weft__story_problem_note(&problem->effect, missed->since, missed->waiter);
	weft__story_words_add(&words, "begins to wait, ");
	weft__story_words_add_length(&words, missed->since > time ? missed->since - time : 0);
	weft__story_words_add(&words, " late");
}

/* A recorder that remembers signals does not know what the waiter has looked at since: it may have
 * done what it was signalled for, and wait for the next signal. Where there were several since its
 * last wait, it does not need each. */
static bool is_one_of_many(
	const struct weft_model *model, uint32_t task, const struct weft__missed *missed)
{
	struct weft__unheard signal;
	return missed->edge == WEFT_NONE &&
		   weft__story_unheard_before(model, task, missed->since, &signal) && signal.is_one_of_many;
}

static enum weft_problem_severity severity_of(
	struct weft__findings *findings, uint32_t task, const struct weft__missed *missed, bool in_vain)
{
	if (is_one_of_many(findings->story->model, task, missed))
		return WEFT_SEVERITY_HINT;
	if (!missed->harmless && in_vain && weft__story_is_asleep(findings, task))
		return weft__story_is_of_category(findings->story->model, task, "asyncio")
				   ? WEFT_SEVERITY_WARNING
			   : weft__story_may_be_pooled(findings->story, missed->waiter) ? WEFT_SEVERITY_HINT
																			: WEFT_SEVERITY_ERROR;
	if (missed->harmless || missed->edge == WEFT_NONE)
		return WEFT_SEVERITY_HINT;
	return in_vain ? WEFT_SEVERITY_ERROR : WEFT_SEVERITY_WARNING;
}

void weft__story_report_missed(
	struct weft__findings *findings, uint32_t task, const struct weft__missed *missed)
{
	const struct weft_model *model = findings->story->model;
	struct weft__missed named = *missed;
	named.waiter = find_sleeper(findings->story, missed->waiter);
	uint64_t time = missed->time;
	bool in_vain = missed->until == UINT64_MAX;
	struct weft__sentence s;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_LOST_WAKE_UP,
		severity_of(findings, task, missed, in_vain), missed->count,
		(struct weft__case){named.waiter, time < missed->since ? time : missed->since,
			in_vain ? weft__story_record_end(model, missed->waiter) : missed->until});
	problem.edge = missed->edge;
	choose_view(model, &named, &problem);
	set_notes(task, &named, &problem);
	weft__story_sentence_init(&s);
	write_missed(&s, model, task, &named, in_vain);
	weft__story_find(
		findings, &problem, weft__story_missed_ns(model, missed->since, missed->until), &s);
}
