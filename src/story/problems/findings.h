/* SPDX-License-Identifier: ISC
 *
 * Declarations that the finders of problems share: the list that they add to.
 * include/weft/problems.def says which finder finds what; list.c calls them.
 */
#ifndef WEFT_STORY_PROBLEMS_FINDINGS_H
#define WEFT_STORY_PROBLEMS_FINDINGS_H

#include <weft/error.h>
#include <weft/problems.h>
#include <weft/text.h>

#include "story/alike.h"
#include "story/index.h"
#include "story/words.h"

struct weft__finding {
	struct weft_problem problem;
	uint64_t weight; /* rank among problems of equal severity */
	size_t text;     /* offset of the sentence */
};

struct weft__findings {
	const struct weft_story *story;
	struct weft__alike alike; /* while the finders run */
	struct weft__finding *list;
	uint32_t count;
	size_t capacity;
	struct weft_text text;
	struct weft_problem_period *periods;
	uint32_t period_count, periods_taken;
	size_t period_capacity;
	int error;
	uint32_t first, last; /* range of tasks that finders with unit TASKS examine */
};

/* Adds a problem, and writes its sentence. */
void weft__find(struct weft__findings *findings, const struct weft_problem *problem,
	uint64_t weight, struct weft__sentence *sentence);

/* Adds a period of the problem that is added next; periods are sorted then. */
void weft__find_period(struct weft__findings *findings, uint64_t start, uint64_t end);

/* The indices of a list of at most WEFT_PROBLEMS_MAX problems, the gravest first. */
void weft__problems_order(const struct weft_problems *problems, uint32_t *ret_order);

/* The finders. Each stores an error in `findings`. */
#define PROBLEM(identifier, name, plural, rank, hint_rank, order, unit, finder, meaning) \
	void weft__find_##finder(struct weft__findings *findings);
#include <weft/problems.def>
#undef PROBLEM

#endif
