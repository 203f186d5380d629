/* SPDX-License-Identifier: ISC
 *
 * Problems, and what else needs a look at the whole trace.
 */
#ifndef WEFT_VIEWER_PROBLEMS_H
#define WEFT_VIEWER_PROBLEMS_H

#include <weft/problems.h>
#include <weft/viewer.h>

struct weft_viewer;

struct weft__problem_list {
	struct weft_problems *found;       /* NULL: not yet known */
	struct weft_problems_maker *maker; /* works in steps between inputs */
	uint32_t *order;                   /* the most severe first, then by rank and time */
	uint32_t current;                  /* in that order, or WEFT_NONE */
	uint32_t count;                    /* as last known, of a trace that grows */
	bool is_marked;                    /* the current one, until something else is selected */
	bool is_pulsing;                   /* the overview shows that there are any */
	double pulse_ms;                   /* since when */
};

/* knowledge.c: computes the story index or the problems if they are not there yet. False without
 * memory. */
bool weft__viewer_know_story(struct weft_viewer *viewer);
bool weft__viewer_know_problems(struct weft_viewer *viewer);
/* Indices of the list in the order to step through; NULL without memory. */
uint32_t *weft__viewer_order(const struct weft_problems *problems);
/* Does one step of the search for problems; whether there is more to do. */
bool weft__viewer_learn_problems(struct weft_viewer *viewer);
void weft__viewer_forget(struct weft_viewer *viewer);
void weft__viewer_step_problem(struct weft_viewer *viewer, int step);
void weft__viewer_go_problem(struct weft_viewer *viewer, uint32_t number);

#endif
