/* SPDX-License-Identifier: ISC
 *
 * The story index and the problems. Both need a pass over the whole trace, so they are made after
 * the first picture, in steps between inputs.
 */
#include <stdlib.h>

#include <weft/chain.h>

#include "viewer/state.h"

#define SMALL (1 << 18) /* edges and tasks that are indexed within one frame */

static int step_story(struct weft_viewer *viewer)
{
	struct weft_story_index *index = NULL;
	int status = 0;
	if (!viewer->index_maker)
		status = weft_story_index_maker_create(viewer->model, &viewer->index_maker);
	if (!status)
		status = weft_story_index_maker_step(viewer->index_maker, &index);
	if (status == WEFT_AGAIN)
		return status;
	weft_story_index_maker_destroy(viewer->index_maker);
	viewer->index_maker = NULL;
	viewer->story.index = index;
	return status;
}

bool weft__viewer_know_story(struct weft_viewer *viewer)
{
	int status = WEFT_AGAIN;
	if (viewer->story.index)
		return true;
	while (viewer->model && status == WEFT_AGAIN)
		status = step_story(viewer);
	return viewer->story.index != NULL;
}

static void take_problems(struct weft_viewer *viewer, struct weft_problems *problems)
{
	viewer->problems.found = problems;
	viewer->problems.is_pulsing =
		viewer->problems.found->count && !viewer->is_live && !viewer->reduced_motion;
	viewer->problems.pulse_ms = viewer->now_ms;
	viewer->problems.count = viewer->problems.found->count;
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_CHAIN;
	weft__viewer_place_buttons(viewer);
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

/* WEFT_AGAIN if there is more to do. */
static int step_problems(struct weft_viewer *viewer)
{
	struct weft_problems *problems = NULL;
	int status = 0;
	if (!viewer->story.index) {
		status = step_story(viewer);
		return status ? status : WEFT_AGAIN;
	}
	if (!viewer->problems.maker)
		status = weft_problems_maker_create(&viewer->story, &viewer->problems.maker);
	if (!status)
		status = weft_problems_maker_step(viewer->problems.maker, &problems);
	if (status == WEFT_AGAIN)
		return status;
	weft_problems_maker_destroy(viewer->problems.maker);
	viewer->problems.maker = NULL;
	if (problems)
		take_problems(viewer, problems);
	return status;
}

/* For a small trace everything is done at once, before the user can act. */
bool weft__viewer_learn_problems(struct weft_viewer *viewer)
{
	const struct weft_model *model = viewer->model;
	if (model->edges.count + (size_t)model->tasks.count < SMALL) {
		(void)weft__viewer_know_problems(viewer);
		return false;
	}
	return step_problems(viewer) == WEFT_AGAIN;
}

bool weft__viewer_know_problems(struct weft_viewer *viewer)
{
	while (viewer->model && !viewer->problems.found && step_problems(viewer) == WEFT_AGAIN)
		;
	return viewer->problems.found != NULL;
}

void weft__viewer_forget(struct weft_viewer *viewer)
{
	weft__viewer_forget_statistics(viewer);
	weft_problems_destroy(viewer->problems.found);
	weft_problems_maker_destroy(viewer->problems.maker);
	weft_story_index_maker_destroy(viewer->index_maker);
	viewer->problems.maker = NULL;
	viewer->index_maker = NULL;
	weft_story_index_destroy((struct weft_story_index *)viewer->story.index);
	viewer->problems.found = NULL;
	viewer->story = (struct weft_story){.model = NULL};
}

const struct weft_problem *weft__viewer_marked_problem(const struct weft_viewer *viewer)
{
	const struct weft_problems *found = viewer->problems.found;
	if (!viewer->problems.is_marked || !found)
		return NULL;
	return &found->list[found->by_gravity[viewer->problems.current]];
}

/* The time that is asked about: in the longest wait of the task, if the problem is mostly that
 * wait; else the problem's end. */
static uint64_t moment_of(const struct weft_story *story, const struct weft_problem *problem)
{
	const uint64_t start = problem->start, end = problem->end;
	struct weft_story_wait wait;
	uint64_t at;
	if (problem->task != WEFT_NONE && weft_chain_moment(story, problem->task, start, end, &at) &&
		weft_story_wait_at(story, problem->task, at, &wait)) {
		uint64_t since = wait.since > start ? wait.since : start;
		uint64_t until = wait.until < end ? wait.until : end;
		if (until > since && until - since >= (end - start) / 2)
			return at;
	}
	return end > start ? end - 1 : start;
}

void weft__viewer_go_problem(struct weft_viewer *viewer, uint32_t number)
{
	if (!weft__viewer_know_problems(viewer) || number >= viewer->problems.found->count)
		return;
	const struct weft_problem *problem =
		&viewer->problems.found->list[viewer->problems.found->by_gravity[number]];
	uint32_t row = problem->task != WEFT_NONE ? viewer->layout->row[problem->task] : WEFT_NONE;
	weft__viewer_select(viewer, problem->task, moment_of(&viewer->story, problem));
	if (problem->counter != WEFT_NONE)
		weft__viewer_see_counter(viewer, problem->counter);
	weft__viewer_reveal(viewer, row, problem->show_start, problem->show_end, true);
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
