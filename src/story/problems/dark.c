/* SPDX-License-Identifier: ISC
 *
 * Judges problems of traces in which events are missing. A problem that consists in something that
 * did not happen is dropped if events are missing at that time. A problem that was found by
 * comparison, or from what happened before, may look different with the missing events: where these
 * are anywhere in the record, it is a hint. A flight recorder's oldest events are overwritten; that
 * does not change the problems of the time that it still has.
 */
#include "story/problems/dark.h"

/* Problems that consist in something that did not happen. */
static const bool is_absence[WEFT_PROBLEM_TYPES] = {
	[WEFT_PROBLEM_NEVER_RESOLVED] = true,
	[WEFT_PROBLEM_IDLE_GAP] = true,
	[WEFT_PROBLEM_CLIMBING] = true,
	[WEFT_PROBLEM_PILING_UP] = true,
	[WEFT_PROBLEM_HOG] = true,
	[WEFT_PROBLEM_UNANSWERED] = true,
	[WEFT_PROBLEM_UNRELEASED] = true,
	[WEFT_PROBLEM_LATE] = true,
	[WEFT_PROBLEM_ORPHAN] = true,
	[WEFT_PROBLEM_LEAK] = true,
	[WEFT_PROBLEM_TIMED_OUT] = true,
};

static bool is_of_all(enum weft_problem_type type)
{
	return type == WEFT_PROBLEM_IDLE_GAP || type == WEFT_PROBLEM_DEADLOCK;
}

/* True if events of any buffer may be missing at some time from `start` to `end`. That a program
 * has ended before is no reason: it does nothing any more. */
static bool is_any_dark(const struct weft_model *model, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < model->dark_count; i++)
		if (model->dark[i].reason != WEFT_DARK_AFTER && model->dark[i].start <= end &&
			model->dark[i].end >= start)
			return true;
	return false;
}

static bool has_lost(const struct weft_model *model, uint32_t buffer)
{
	const uint32_t first = buffer == WEFT_NONE ? 0 : buffer;
	const uint32_t end = buffer == WEFT_NONE ? model->buffer_count : buffer + 1;
	bool has_any = false;
	for (uint32_t i = first; i < end && !has_any && model->dark_count; i++) {
		const struct weft_dark *dark = weft_model_dark(model, i, 0, UINT64_MAX);
		has_any = dark && dark->reason == WEFT_DARK_LOST; /* of a buffer it comes first */
	}
	return has_any;
}

/* True if the problem would be as grave with the missing events: a failure whose readers are known.
 */
static bool stays_grave(
	const struct weft_model *model, const struct weft_problem *problem, uint32_t buffer)
{
	const struct weft_dark *later =
		weft_model_dark(model, buffer, problem->end, model->summary.end);
	return problem->type == WEFT_PROBLEM_FAILED && problem->severity == WEFT_SEVERITY_ERROR &&
		   (!later || later->reason == WEFT_DARK_AFTER);
}

/* True if the problem was found without knowing which tasks are like this one: its create event is
 * among the missing ones. */
static bool is_of_unknown(
	const struct weft_model *model, uint32_t buffer, const struct weft_problem *problem)
{
	return problem->type == WEFT_PROBLEM_HOG && problem->task != WEFT_NONE &&
		   model->tasks.kind[problem->task] == WEFT_KIND_PREEXISTING &&
		   weft_model_dark(model, buffer, 0, problem->start);
}

bool weft__story_judge_in_the_dark(
	const struct weft_model *model, uint32_t buffer, struct weft_problem *problem)
{
	const uint64_t shown = problem->show_end ? problem->show_start : problem->start;
	const uint64_t from = shown < problem->start ? shown : problem->start;
	if (!model->dark_count || problem->type == WEFT_PROBLEM_LOSS ||
		problem->type == WEFT_PROBLEM_UNSEEN || problem->type == WEFT_PROBLEM_ALERT)
		return true;
	if (is_of_all(problem->type))
		buffer = WEFT_NONE;
	const bool is_touched = buffer == WEFT_NONE
								? is_any_dark(model, from, problem->end)
								: weft_model_dark(model, buffer, from, problem->end) != NULL;
	if (is_touched && is_absence[problem->type])
		return false;
	if (is_of_unknown(model, buffer, problem) ||
		((is_touched || has_lost(model, buffer)) && !stays_grave(model, problem, buffer)))
		problem->severity = WEFT_SEVERITY_HINT;
	return true;
}
