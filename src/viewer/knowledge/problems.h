/* SPDX-License-Identifier: ISC
 *
 * Problems and the story index, which need a pass over the whole trace. While a trace grows, the
 * problems of an earlier state are shown until those of a later one are found.
 */
#ifndef WEFT_VIEWER_PROBLEMS_H
#define WEFT_VIEWER_PROBLEMS_H

#include <weft/problems.h>
#include <weft/viewer.h>

struct weft_viewer;

struct weft__known {
	struct weft__known_problem *list;
	uint32_t count;
};

struct weft__problem_list {
	struct weft_problems *found; /* NULL: not yet known */
	bool is_old;                 /* they are those of an earlier state */
	struct weft__known known;    /* while the trace grows, and then: also those withdrawn */
	uint32_t current;            /* index in `order`, or WEFT_NONE */
	uint32_t count;              /* as last known, while the trace grows */
	bool is_marked;      /* the current problem is marked until something else is selected */
	bool opens_at_alert; /* and its problem is not known yet */
	bool is_pulsing;     /* the overview flashes because there are problems */
	double pulse_ms;     /* start of the flash; the time of the last search */
	double took_ms;      /* the last search, while the trace grows */
};

/* knowledge.c: compute the story index or the problems if they are missing. False if memory is
 * short. */
bool weft__viewer_know_story(struct weft_viewer *viewer);
bool weft__viewer_know_problems(struct weft_viewer *viewer);
/* Does one step of a search for problems. True if there is more to do. */
bool weft__viewer_learn_problems(struct weft_viewer *viewer);
void weft__viewer_forget(struct weft_viewer *viewer);
/* Forgets the index, but not the problems, as a later state of the trace will be shown. If a search
 * goes on, it becomes the owner of model and layout. */
void weft__viewer_leave(struct weft_viewer *viewer);
/* Does one step of a story index: 0, WEFT_AGAIN or an error. */
int weft__viewer_step_index(const struct weft_model *model, struct weft_story_index_maker **maker,
	const struct weft_story_index **index);
int weft__viewer_step_story(struct weft_viewer *viewer);
void weft__viewer_step_problem(struct weft_viewer *viewer, int step);
void weft__viewer_go_problem(struct weft_viewer *viewer, uint32_t number);
/* problem_notes.c: writes what happened at the cause and at the effect of that problem. */
void weft__viewer_draw_problem_notes(
	const struct weft_viewer *viewer, const struct weft_font *font, struct weft_canvas *canvas);
/* The problem that the user went to last, until something else is selected; or NULL. */
const struct weft_problem *weft__viewer_marked_problem(const struct weft_viewer *viewer);

/* alert.c: shows the alert of a snapshot that has just been opened; makes its problem the current
 * one, once the problems are known. */
void weft__viewer_open_at_alert(struct weft_viewer *viewer);
void weft__viewer_mark_alert(struct weft_viewer *viewer);

/* survey.c: the search. `ret_of`, if it has ended: */
struct weft__surveyed {
	double took_ms;
	bool is_old; /* the viewer shows a later state */
};

/* Begins a search if there is none, and does a step: WEFT_AGAIN, WEFT_OK and the problems, or an
 * error. */
int weft__viewer_survey_step(
	struct weft_viewer *viewer, struct weft_problems **ret_problems, struct weft__surveyed *ret_of);
/* The viewer will show a later state. True if the search has taken model, layout and index. */
bool weft__viewer_survey_keep(struct weft_viewer *viewer);
/* The viewer has another layout of the model. */
void weft__viewer_survey_relayout(struct weft_viewer *viewer);
void weft__viewer_survey_end(struct weft_viewer *viewer);

/* known.c: notes what a search has found, and which earlier findings that withdraws. */
void weft__viewer_known_note(struct weft_viewer *viewer, const struct weft_problems *problems);
void weft__viewer_known_forget(struct weft_viewer *viewer);
/* The number by gravity of the problem that is about the same as an earlier one, or WEFT_NONE. */
uint32_t weft__viewer_known_same(const struct weft_viewer *viewer,
	const struct weft_problems *problems, const struct weft_problem *problem);
/* Adds those that were withdrawn to the panel. */
void weft__viewer_known_fill(struct weft_viewer *viewer);

#endif
