/* SPDX-License-Identifier: ISC
 *
 * What takes a look at the whole trace, and so waits until the first picture stands: who did what
 * to whom, and what is wrong.
 */
#include <stdlib.h>

#include "viewer/state.h"

#define SMALL (1 << 18) /* edges and tasks: known within a frame */

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

/* What explains more comes first: a deadlock is why its tasks are never resolved, a slow task or a
 * lost wake-up why nothing runs. A stretch that is not that long may be the system's doing, and
 * what is under way at the end is mostly nobody's. */
static unsigned rank_of(const struct weft_problem *problem)
{
	static const uint8_t ranks[WEFT_PROBLEM_TYPES] = {
		[WEFT_PROBLEM_DEADLOCK] = 0,
		[WEFT_PROBLEM_FAILED] = 1,
		[WEFT_PROBLEM_LOST_WAKE_UP] = 2,
		[WEFT_PROBLEM_NEVER_RESOLVED] = 3,
		[WEFT_PROBLEM_LOSS] = 4,
		[WEFT_PROBLEM_HOG] = 5,
		[WEFT_PROBLEM_GC] = 6,
		[WEFT_PROBLEM_CONTENTION] = 7,
		[WEFT_PROBLEM_HERD] = 8,
		[WEFT_PROBLEM_CLIMBING] = 9,
		[WEFT_PROBLEM_PILING_UP] = 10,
		[WEFT_PROBLEM_SLOW] = 11,
		[WEFT_PROBLEM_IDLE_GAP] = 12,
	};
	bool is_hint = problem->severity == WEFT_SEVERITY_HINT;
	bool is_likely_none =
		problem->type == WEFT_PROBLEM_HOG || problem->type == WEFT_PROBLEM_NEVER_RESOLVED;
	return is_hint && is_likely_none ? WEFT_PROBLEM_TYPES : ranks[problem->type];
}

static bool comes_before(const struct weft_problem *a, const struct weft_problem *b)
{
	if (a->severity != b->severity)
		return a->severity > b->severity;
	if (a->type != b->type)
		return rank_of(a) < rank_of(b);
	if (a->type == WEFT_PROBLEM_IDLE_GAP) /* the longest */
		return a->end - a->start > b->end - b->start;
	return false; /* those of a type stay in the order of time */
}

static bool order_problems(struct weft_viewer *viewer)
{
	const struct weft_problems *problems = viewer->problems;
	uint32_t *order = malloc((problems->count + (size_t)1) * sizeof(*order));
	if (!order)
		return false;
	for (uint32_t i = 0; i < problems->count; i++) { /* 200 at most */
		uint32_t at = i;
		for (; at > 0 && comes_before(&problems->list[i], &problems->list[order[at - 1]]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	viewer->problem_order = order;
	return true;
}

static void take_problems(struct weft_viewer *viewer, struct weft_problems *problems)
{
	viewer->problems = problems;
	if (!order_problems(viewer)) {
		weft_problems_destroy(viewer->problems);
		viewer->problems = NULL;
		return;
	}
	viewer->is_pulsing = viewer->problems->count && !viewer->is_live && !viewer->reduced_motion;
	viewer->pulse_ms = viewer->now_ms;
	viewer->problem_count = viewer->problems->count;
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
	if (!viewer->problems_maker)
		status = weft_problems_maker_create(&viewer->story, &viewer->problems_maker);
	if (!status)
		status = weft_problems_maker_step(viewer->problems_maker, &problems);
	if (status == WEFT_AGAIN)
		return status;
	weft_problems_maker_destroy(viewer->problems_maker);
	viewer->problems_maker = NULL;
	if (problems)
		take_problems(viewer, problems);
	return status;
}

/* A small trace is known before anybody could do anything. */
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
	while (viewer->model && !viewer->problems && step_problems(viewer) == WEFT_AGAIN)
		;
	return viewer->problems != NULL;
}

void weft__viewer_forget(struct weft_viewer *viewer)
{
	weft_problems_destroy(viewer->problems);
	weft_problems_maker_destroy(viewer->problems_maker);
	weft_story_index_maker_destroy(viewer->index_maker);
	viewer->problems_maker = NULL;
	viewer->index_maker = NULL;
	weft_story_index_destroy((struct weft_story_index *)viewer->story.index);
	free(viewer->problem_order);
	viewer->problems = NULL;
	viewer->problem_order = NULL;
	viewer->story = (struct weft_story){.model = NULL};
}

void weft__viewer_go_problem(struct weft_viewer *viewer, uint32_t number)
{
	if (!weft__viewer_know_problems(viewer) || number >= viewer->problems->count)
		return;
	const struct weft_problem *problem = &viewer->problems->list[viewer->problem_order[number]];
	uint32_t row = problem->task != WEFT_NONE ? viewer->layout->row[problem->task] : WEFT_NONE;
	uint64_t at = problem->end > problem->start ? problem->end - 1 : problem->start;
	weft__viewer_select(viewer, problem->task, at);
	weft__viewer_reveal(viewer, row, problem->show_start, problem->show_end, true);
	viewer->problem = number;
	viewer->shows_problem = true;
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_PROBLEMS;
	weft__viewer_tell(viewer, "%u of %u: %s", (unsigned)number + 1,
		(unsigned)viewer->problems->count, problem->sentence);
}

void weft__viewer_step_problem(struct weft_viewer *viewer, int step)
{
	if (!weft__viewer_know_problems(viewer))
		return;
	uint32_t count = viewer->problems->count, number = viewer->problem;
	if (count == 0) {
		weft__viewer_tell(viewer, "No problems found.");
		return;
	}
	if (number == WEFT_NONE)
		number = step > 0 ? 0 : count - 1;
	else
		number = (number + count + (uint32_t)step) % count;
	weft__viewer_go_problem(viewer, number);
}
