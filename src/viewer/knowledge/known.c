/* SPDX-License-Identifier: ISC
 *
 * The problems that were found in a trace while it grew. A problem that a later search does not
 * find again, such as a task that seemed not to end, stays in the panel as a withdrawn one: it may
 * be the one that the user is looking at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "viewer/state.h"

#define WITHDRAWN_MAX 100

/* The task, thread or counter that a problem is about, and the period. */
struct subject {
	enum weft_problem_type type;
	uint64_t start, end;
	uint64_t task; /* the task's id, because its index may change when the trace ends */
	uint32_t buffer, thread, counter;
	bool has_task;
};

struct weft__known_problem {
	struct subject of;
	bool is_withdrawn;
	char sentence[WEFT_SENTENCE_BYTES];
};

static struct subject subject_of(const struct weft_model *model, const struct weft_problem *problem)
{
	struct subject of = {
		.type = problem->type,
		.start = problem->start,
		.end = problem->end,
		.thread = problem->thread,
		.counter = problem->counter,
		.has_task = problem->task != WEFT_NONE,
	};
	if (of.has_task) {
		of.task = model->tasks.id[problem->task];
		of.buffer = model->tasks.buffer[problem->task];
	}
	return of;
}

/* True if both are the same problem. The periods need only overlap, because a problem may last
 * longer in a longer trace. */
static bool is_same(const struct subject *a, const struct subject *b)
{
	bool is_same_task = a->has_task == b->has_task && a->task == b->task && a->buffer == b->buffer;
	bool is_same_thread = a->has_task || a->thread == b->thread;
	return a->type == b->type && a->counter == b->counter && is_same_task && is_same_thread &&
		   a->start <= b->end && b->start <= a->end;
}

/* True if `problem` is a summary of several findings, and `of` is one of these. */
static bool is_joined(const struct weft_problems *problems, const struct weft_problem *problem,
	const struct subject *of)
{
	if (problem->type != of->type || problem->count < 2)
		return false;
	for (uint32_t i = 0; i < problem->period_count; i++) {
		const struct weft_problem_period *period = &problems->periods[problem->first_period + i];
		if (period->start <= of->end && of->start <= period->end)
			return true;
	}
	return problem->period_count == 0;
}

/* True if the latest search found `of`: as *ret_same or, if that is NULL, in a summary. */
static bool is_found(const struct weft_model *model, const struct weft_problems *problems,
	const struct subject *of, const struct weft_problem **ret_same)
{
	bool is_in_group = false;
	*ret_same = NULL;
	for (uint32_t i = 0; i < problems->count; i++) {
		const struct subject found = subject_of(model, &problems->list[i]);
		if (is_same(&found, of))
			*ret_same = &problems->list[i];
		is_in_group |= is_joined(problems, &problems->list[i], of);
	}
	return *ret_same || is_in_group;
}

/* Keeps only the problems that the latest search did not find again, the newest WITHDRAWN_MAX of
 * them, and returns their number. weft__viewer_known_note() adds the others from the search. */
static uint32_t withdraw(
	struct weft__known *known, const struct weft_model *model, const struct weft_problems *problems)
{
	const struct weft_problem *same;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < known->count; i++) {
		if (is_found(model, problems, &known->list[i].of, &same))
			continue;
		known->list[i].is_withdrawn = true;
		memmove(&known->list[kept++], &known->list[i], sizeof(*known->list));
	}
	uint32_t extra = kept > WITHDRAWN_MAX ? kept - WITHDRAWN_MAX : 0;
	memmove(known->list, known->list + extra, (kept - extra) * sizeof(*known->list));
	return kept - extra;
}

void weft__viewer_known_note(struct weft_viewer *viewer, const struct weft_problems *problems)
{
	struct weft__known *known = &viewer->problems.known;
	struct weft__known_problem *list;
	if (known->count)
		known->count = withdraw(known, viewer->model, problems);
	size_t count = known->count + (size_t)problems->count;
	list = realloc(known->list, (count + 1) * sizeof(*list));
	if (!list)
		return;
	known->list = list;
	for (uint32_t i = 0; i < problems->count; i++) {
		struct weft__known_problem *f = &list[known->count++];
		f->of = subject_of(viewer->model, &problems->list[i]);
		f->is_withdrawn = false;
		snprintf(f->sentence, sizeof(f->sentence), "%s", problems->list[i].sentence);
	}
}

void weft__viewer_known_forget(struct weft_viewer *viewer)
{
	free(viewer->problems.known.list);
	viewer->problems.known = (struct weft__known){NULL, 0};
}

uint32_t weft__viewer_known_same(const struct weft_viewer *viewer,
	const struct weft_problems *problems, const struct weft_problem *problem)
{
	const struct subject of = subject_of(viewer->model, problem);
	const struct weft_problem *same;
	(void)is_found(viewer->model, problems, &of, &same);
	for (uint32_t i = 0; same && i < problems->count; i++)
		if (&problems->list[problems->by_gravity[i]] == same)
			return i;
	return WEFT_NONE;
}

static void add_withdrawn(struct weft_viewer *viewer, const struct weft__known_problem *f)
{
	const struct subject *of = &f->of;
	uint32_t task =
		of->has_task ? weft_model_find_task(viewer->model, of->buffer, of->task) : WEFT_NONE;
	char text[WEFT_SENTENCE_BYTES + 16], time[32], name[64], command[256];
	snprintf(text, sizeof(text), "Withdrawn: %s", f->sentence);
	weft__viewer_write_duration(of->end - viewer->view.start, time);
	command[0] = '\0';
	if (task != WEFT_NONE) {
		weft__viewer_write_task(viewer->model, task, name);
		weft__viewer_panel_format(command, "select %s %s", name, time);
	}
	weft_format_duration(of->start - viewer->view.start, 5, time);
	weft__viewer_panel_add(
		viewer, command[0] ? WEFT_VIEWER_LINK : WEFT_VIEWER_TEXT, text, time, command);
	weft__viewer_panel_last(viewer)->role = WEFT_VIEWER_ROLE_DIM;
}

void weft__viewer_known_fill(struct weft_viewer *viewer)
{
	const struct weft__known *known = &viewer->problems.known;
	bool has_heading = false;
	for (uint32_t i = 0; i < known->count; i++) {
		if (!known->list[i].is_withdrawn)
			continue;
		if (!has_heading)
			weft__viewer_panel_add(
				viewer, WEFT_VIEWER_HEADING, "withdrawn as the trace grew", "", "");
		has_heading = true;
		add_withdrawn(viewer, &known->list[i]);
	}
}
