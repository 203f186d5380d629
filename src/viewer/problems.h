/* SPDX-License-Identifier: ISC
 *
 * Problems and the story index, which need a pass over the whole trace.
 */
#ifndef WEFT_VIEWER_PROBLEMS_H
#define WEFT_VIEWER_PROBLEMS_H

#include <weft/problems.h>
#include <weft/viewer.h>

struct weft_viewer;

struct weft__problem_list {
	struct weft_problems *found;       /* NULL: not yet known */
	struct weft_problems_maker *maker; /* works in steps between inputs */
	uint32_t current;                  /* index in `order`, or WEFT_NONE */
	uint32_t count;                    /* as last known, while the trace grows */
	bool is_marked;  /* the current problem is marked until something else is selected */
	bool is_pulsing; /* the overview flashes because there are problems */
	double pulse_ms; /* start of the flash; the time of the last search */
	double cost_ms;  /* of the last search, while the trace grows */
	bool is_timed;   /* the next call shows the cost */
};

/* knowledge.c: compute the story index or the problems if they are missing. False if memory is
 * short. */
bool weft__viewer_know_story(struct weft_viewer *viewer);
bool weft__viewer_know_problems(struct weft_viewer *viewer);
/* Does one step of the search for problems. True if there is more to do. */
bool weft__viewer_learn_problems(struct weft_viewer *viewer);
void weft__viewer_forget(struct weft_viewer *viewer);
void weft__viewer_step_problem(struct weft_viewer *viewer, int step);
void weft__viewer_go_problem(struct weft_viewer *viewer, uint32_t number);
/* The problem that the user went to last, until something else is selected; or NULL. */
const struct weft_problem *weft__viewer_marked_problem(const struct weft_viewer *viewer);

#endif
