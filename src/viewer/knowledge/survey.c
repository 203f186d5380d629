/* SPDX-License-Identifier: ISC
 *
 * The search for problems, in steps between inputs. While a trace grows, a search takes longer than
 * a state of it is shown. It then goes on with the state that it began with, of which it becomes
 * the owner: tasks, edges, threads and counters have the same numbers in later states.
 */
#include <stdlib.h>

#include "viewer/state.h"

struct weft__survey {
	struct weft_story story;
	struct weft_problems_maker *maker;
	double begin_ms;
	/* Once the viewer shows a later state; else these are the viewer's. */
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_story_index_maker *index_maker;
};

static struct weft__survey *begin_survey(struct weft_viewer *viewer)
{
	struct weft__survey *s = calloc(1, sizeof(*s));
	if (s) {
		s->story = viewer->story;
		s->begin_ms = viewer->now_ms;
	}
	return viewer->survey = s;
}

/* Does a step of the story index that the search needs. */
static int step_index(struct weft_viewer *viewer, struct weft__survey *s)
{
	int status = s->model ? weft__viewer_step_index(s->model, &s->index_maker, &s->story.index)
						  : weft__viewer_step_story(viewer);
	if (!s->model)
		s->story.index = viewer->story.index;
	return status ? status : WEFT_AGAIN;
}

static int step(struct weft_viewer *viewer, struct weft_problems **ret_problems)
{
	struct weft__survey *s = viewer->survey ? viewer->survey : begin_survey(viewer);
	if (!s)
		return WEFT_ERROR_MEMORY;
	if (!s->model)
		s->story.index = viewer->story.index;
	if (!s->story.index)
		return step_index(viewer, s);
	int error = s->maker ? 0 : weft_problems_maker_create(&s->story, &s->maker);
	return error ? error : weft_problems_maker_step(s->maker, ret_problems);
}

int weft__viewer_survey_step(
	struct weft_viewer *viewer, struct weft_problems **ret_problems, struct weft__surveyed *ret_of)
{
	int status = step(viewer, ret_problems);
	if (status == WEFT_AGAIN || !viewer->survey)
		return status;
	*ret_of = (struct weft__surveyed){
		viewer->now_ms - viewer->survey->begin_ms, viewer->survey->model != NULL};
	weft__viewer_survey_end(viewer);
	return status;
}

bool weft__viewer_survey_keep(struct weft_viewer *viewer)
{
	struct weft__survey *s = viewer->survey;
	if (!s || s->model)
		return false;
	s->model = viewer->model;
	s->layout = viewer->layout;
	s->index_maker = viewer->index_maker;
	s->story.index = viewer->story.index;
	return true;
}

void weft__viewer_survey_relayout(struct weft_viewer *viewer)
{
	if (viewer->survey && !viewer->survey->model)
		viewer->survey->story.layout = viewer->layout;
}

void weft__viewer_survey_end(struct weft_viewer *viewer)
{
	struct weft__survey *s = viewer->survey;
	if (!s)
		return;
	weft_problems_maker_destroy(s->maker);
	if (s->model) {
		weft_story_index_maker_destroy(s->index_maker);
		weft_story_index_destroy((struct weft_story_index *)s->story.index);
		weft_layout_destroy(s->layout);
		weft_model_destroy(s->model);
	}
	free(s);
	viewer->survey = NULL;
}
