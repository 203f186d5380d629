/* SPDX-License-Identifier: ISC
 *
 * The story index and the problems. Both need a pass over the whole trace, so they are made after
 * the first picture, in steps between inputs.
 */
#include <stdlib.h>

#include <weft/chain.h>

#include "story/index.h"
#include "viewer/state.h"

int weft__viewer_step_index(const struct weft_model *model, struct weft_story_index_maker **maker,
	const struct weft_story_index **index)
{
	struct weft_story_index *made = NULL;
	int status = *maker ? 0 : weft_story_index_maker_create(model, maker);
	if (!status)
		status = weft_story_index_maker_step(*maker, &made);
	if (status == WEFT_AGAIN)
		return status;
	weft_story_index_maker_destroy(*maker);
	*maker = NULL;
	*index = made;
	return status;
}

int weft__viewer_step_story(struct weft_viewer *viewer)
{
	return weft__viewer_step_index(viewer->model, &viewer->index_maker, &viewer->story.index);
}

bool weft__viewer_know_story(struct weft_viewer *viewer)
{
	int status = WEFT_AGAIN;
	if (viewer->story.index)
		return true;
	while (viewer->model && status == WEFT_AGAIN)
		status = weft__viewer_step_story(viewer);
	return viewer->story.index != NULL;
}

/* The problem that the user went to last is the current one also in the new list. */
static void keep_current(struct weft_viewer *viewer, const struct weft_problems *problems)
{
	struct weft__problem_list *p = &viewer->problems;
	if (p->found && p->current != WEFT_NONE)
		p->current = weft__viewer_known_same(
			viewer, problems, &p->found->list[p->found->by_gravity[p->current]]);
	p->is_marked = p->is_marked && p->current != WEFT_NONE;
}

static void take_problems(struct weft_viewer *viewer, struct weft_problems *problems)
{
	struct weft__problem_list *p = &viewer->problems;
	keep_current(viewer, problems);
	if (weft__viewer_has_pill(viewer))
		weft__viewer_known_note(viewer, problems);
	weft_problems_destroy(p->found);
	p->found = problems;
	p->is_pulsing = problems->count && !viewer->is_live && !viewer->reduced_motion;
	p->pulse_ms = viewer->now_ms;
	p->count = problems->count;
	weft__viewer_mark_alert(viewer);
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_CHAIN ||
							 viewer->panel.kind == WEFT__PANEL_PROBLEMS;
	weft__viewer_place_buttons(viewer);
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

/* WEFT_AGAIN if there is more to do. */
static int step_problems(struct weft_viewer *viewer)
{
	struct weft_problems *problems = NULL;
	struct weft__surveyed of;
	int status = weft__viewer_survey_step(viewer, &problems, &of);
	if (status == WEFT_AGAIN || !problems)
		return status;
	viewer->problems.took_ms = of.took_ms;
	viewer->problems.is_old = of.is_old;
	take_problems(viewer, problems);
	return status;
}

/* For a small trace everything is done at once, before the user can act. */
bool weft__viewer_learn_problems(struct weft_viewer *viewer)
{
	int status;
	do
		status = step_problems(viewer);
	while (status == WEFT_AGAIN && weft__viewer_is_small(viewer));
	return status == WEFT_AGAIN;
}

bool weft__viewer_know_problems(struct weft_viewer *viewer)
{
	while (viewer->model && !viewer->problems.found && step_problems(viewer) == WEFT_AGAIN)
		;
	return viewer->problems.found != NULL;
}

static void forget_story(struct weft_viewer *viewer)
{
	weft__viewer_forget_statistics(viewer);
	weft__viewer_leave_flame(viewer);
	weft_story_index_maker_destroy(viewer->index_maker);
	weft_story_index_destroy((struct weft_story_index *)viewer->story.index);
	viewer->index_maker = NULL;
	viewer->story = (struct weft_story){.model = NULL};
}

void weft__viewer_forget(struct weft_viewer *viewer)
{
	weft__viewer_survey_end(viewer);
	weft_problems_destroy(viewer->problems.found);
	viewer->problems.found = NULL;
	forget_story(viewer);
}

void weft__viewer_leave(struct weft_viewer *viewer)
{
	viewer->problems.is_old = true;
	if (weft__viewer_survey_keep(viewer)) {
		viewer->model = NULL;
		viewer->layout = NULL;
		viewer->index_maker = NULL;
		viewer->story.index = NULL;
	}
	forget_story(viewer);
}

const struct weft_problem *weft__viewer_marked_problem(const struct weft_viewer *viewer)
{
	const struct weft_problems *found = viewer->problems.found;
	if (!viewer->problems.is_marked || !found)
		return NULL;
	return &found->list[found->by_gravity[viewer->problems.current]];
}

/* True if the problem is mostly the wait of its task at that time. */
static bool is_mostly_wait(
	const struct weft_story *story, const struct weft_problem *problem, uint64_t at)
{
	struct weft_story_wait wait;
	if (!weft_story_wait_at(story, problem->task, at, &wait))
		return false;
	uint64_t since = wait.since > problem->start ? wait.since : problem->start;
	uint64_t until = wait.until < problem->end ? wait.until : problem->end;
	return until > since && until - since >= (problem->end - problem->start) / 2;
}

/* True if the task has run before, and does not run at that time. */
static bool rests_at(const struct weft_model *model, uint32_t task, uint64_t time)
{
	const uint32_t first = model->tasks.first_activation[task];
	uint32_t runs = weft__story_activations_until(model, task, time);
	return runs > 0 && model->activations.end[first + runs - 1] <= time;
}

/* The time that is asked about: in the longest wait of the task, if the problem is mostly that
 * wait; in the middle, if the trace does not show what the task waits for, as that of a lock's
 * holder that sleeps; else the problem's end. */
static uint64_t time_of(const struct weft_story *story, const struct weft_problem *problem)
{
	const uint64_t start = problem->start, end = problem->end;
	uint64_t middle = start + (end - start) / 2, at;
	if (problem->task != WEFT_NONE && weft_chain_time(story, problem->task, start, end, &at) &&
		is_mostly_wait(story, problem, at))
		return at;
	if (problem->task != WEFT_NONE && end > start && rests_at(story->model, problem->task, middle))
		return middle;
	return end > start ? end - 1 : start;
}

static uint32_t row_of_cause(const struct weft_viewer *viewer, const struct weft_problem *problem)
{
	return problem->cause.words[0] ? viewer->layout->row[problem->cause.task] : WEFT_NONE;
}

void weft__viewer_go_problem(struct weft_viewer *viewer, uint32_t number)
{
	if (!weft__viewer_know_problems(viewer) || number >= viewer->problems.found->count)
		return;
	const struct weft_problem *problem =
		&viewer->problems.found->list[viewer->problems.found->by_gravity[number]];
	uint32_t row = problem->task != WEFT_NONE ? viewer->layout->row[problem->task] : WEFT_NONE;
	weft__viewer_pause(viewer);
	weft__viewer_select(viewer, problem->task, time_of(&viewer->story, problem));
	if (problem->counter != WEFT_NONE)
		weft__viewer_see_counter(viewer, problem->counter);
	weft__viewer_frame(
		viewer, row, row_of_cause(viewer, problem), problem->show_start, problem->show_end);
	viewer->problems.current = number;
	viewer->problems.is_marked = true;
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_PROBLEMS;
	weft__viewer_show_message(viewer, "%u of %u: %s", (unsigned)number + 1,
		(unsigned)viewer->problems.found->count, problem->sentence);
}

void weft__viewer_step_problem(struct weft_viewer *viewer, int step)
{
	if (!weft__viewer_know_problems(viewer))
		return;
	uint32_t count = viewer->problems.found->count, number = viewer->problems.current;
	if (count == 0) {
		weft__viewer_show_message(viewer, "No problems found.");
		return;
	}
	if (number == WEFT_NONE)
		number = step > 0 ? 0 : count - 1;
	else
		number = (number + count + (uint32_t)step) % count;
	weft__viewer_go_problem(viewer, number);
}
