/* SPDX-License-Identifier: ISC
 *
 * What takes a look at the whole trace, and so waits until the first picture stands: who did what
 * to whom, and what is wrong.
 */
#include <stdlib.h>

#include "viewer/state.h"

bool weft__viewer_know_story(struct weft_viewer *viewer)
{
	struct weft_story_index *index;
	if (viewer->story.index)
		return true;
	if (!viewer->model || weft_story_index_create(viewer->model, &index))
		return false;
	viewer->story.index = index;
	return true;
}

bool weft__viewer_know_problems(struct weft_viewer *viewer)
{
	if (viewer->problems)
		return true;
	if (!weft__viewer_know_story(viewer) || weft_problems_create(&viewer->story, &viewer->problems))
		return false;
	weft__viewer_place_buttons(viewer);
	viewer->changes |= WEFT_VIEWER_CANVAS;
	return true;
}

void weft__viewer_forget(struct weft_viewer *viewer)
{
	weft_problems_destroy(viewer->problems);
	weft_story_index_destroy((struct weft_story_index *)viewer->story.index);
	viewer->problems = NULL;
	viewer->story = (struct weft_story){.model = NULL};
}

void weft__viewer_go_problem(struct weft_viewer *viewer, uint32_t number)
{
	if (!weft__viewer_know_problems(viewer) || number >= viewer->problems->count)
		return;
	const struct weft_problem *problem = &viewer->problems->list[number];
	uint32_t row = problem->task != WEFT_NONE ? viewer->layout->row[problem->task] : WEFT_NONE;
	uint64_t at = problem->end > problem->start ? problem->end - 1 : problem->start;
	weft__viewer_select(viewer, problem->task, at);
	weft__viewer_reveal(viewer, row, problem->start, problem->end, true);
	viewer->problem = number;
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
