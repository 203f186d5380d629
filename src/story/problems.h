/* SPDX-License-Identifier: ISC
 *
 * What the finders of problems share: a list that grows.
 *
 *     problem_ends.c      failed, never resolved
 *     problem_losses.c    losses
 *     problem_wakes.c     lost wake-ups
 *     problem_cycles.c    tasks that wait for each other
 *     problem_idle.c      gaps in which nothing runs
 *     problem_slow.c      tasks that take far longer than their like
 *     problem_counters.c  counters that climb
 *     problem_growth.c    tasks that pile up
 *     problem_hogs.c      tasks that let others wait for their thread
 *     problem_pauses.c    garbage collection
 *     problem_herds.c     many woken for nothing
 *     problem_contention.c  queues for one semaphore
 *     problem_polling.c   tasks that wake up for nothing
 *     problems.c          the list: order, limits, sentences
 */
#ifndef WEFT_STORY_PROBLEMS_H
#define WEFT_STORY_PROBLEMS_H

#include <weft/error.h>
#include <weft/problems.h>
#include <weft/text.h>

#include "story/alike.h"
#include "story/index.h"
#include "story/words.h"

struct weft__finding {
	struct weft_problem problem;
	uint64_t weight; /* among those of its severity */
	size_t text;     /* offset of its sentence */
};

struct weft__findings {
	const struct weft_story *story;
	struct weft__alike alike; /* while the finders are at work */
	struct weft__finding *list;
	uint32_t count;
	size_t capacity;
	struct weft_text text;
	struct weft_problem_period *periods;
	uint32_t period_count, periods_taken;
	size_t period_capacity;
	int error;
	uint32_t first, last; /* tasks: who looks at one after the other looks at these only */
};

/* Adds a problem; its sentence is written here. */
void weft__find(struct weft__findings *findings, const struct weft_problem *problem,
	uint64_t weight, struct weft__sentence *sentence);

/* One of the periods of the problem that is found next; those are then put in order. */
void weft__find_period(struct weft__findings *findings, uint64_t start, uint64_t end);

/* Each finds problems of its own. Errors are kept in `findings`. */
void weft__find_ends(struct weft__findings *findings);
void weft__find_losses(struct weft__findings *findings);
void weft__find_lost_wake_ups(struct weft__findings *findings);
void weft__find_cycles(struct weft__findings *findings);
void weft__find_idle_gaps(struct weft__findings *findings);
void weft__find_slow(struct weft__findings *findings);
void weft__find_climbing(struct weft__findings *findings);
void weft__find_piling_up(struct weft__findings *findings);
void weft__find_hogs(struct weft__findings *findings);
void weft__find_pauses(struct weft__findings *findings);
void weft__find_herds(struct weft__findings *findings);
void weft__find_contention(struct weft__findings *findings);
void weft__find_polling(struct weft__findings *findings);

#endif
