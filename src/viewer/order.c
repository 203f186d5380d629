/* SPDX-License-Identifier: ISC
 *
 * In which order problems are stepped to: who looks at the first three should have seen why.
 */
#include <stdlib.h>

#include "viewer/state.h"

/* Of idle gaps: before or behind slow tasks. */
#define GAPS_FIRST 12
#define GAPS_LAST  14

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
		[WEFT_PROBLEM_STARVATION] = 5,
		[WEFT_PROBLEM_HOG] = 6,
		[WEFT_PROBLEM_GC] = 7,
		[WEFT_PROBLEM_CONTENTION] = 8,
		[WEFT_PROBLEM_HERD] = 9,
		[WEFT_PROBLEM_CLIMBING] = 10,
		[WEFT_PROBLEM_PILING_UP] = 11,
		[WEFT_PROBLEM_SLOW] = 13,
		[WEFT_PROBLEM_IDLE_GAP] = GAPS_LAST,
		[WEFT_PROBLEM_POLLING] = 15,
	};
	bool is_hint = problem->severity == WEFT_SEVERITY_HINT;
	bool is_likely_none =
		problem->type == WEFT_PROBLEM_HOG || problem->type == WEFT_PROBLEM_NEVER_RESOLVED;
	return is_hint && is_likely_none ? WEFT_PROBLEM_TYPES + 1 : ranks[problem->type];
}

/* What problems are put in order by. */
struct place {
	unsigned rank;
	uint64_t length; /* of the trace's time, with all its periods; 0 if that is not the point */
};

static bool is_by_length(const struct weft_problem *problem)
{
	return problem->type == WEFT_PROBLEM_IDLE_GAP || problem->type == WEFT_PROBLEM_SLOW ||
		   problem->type == WEFT_PROBLEM_HOG;
}

static uint64_t length_of(const struct weft_problems *problems, const struct weft_problem *problem)
{
	uint64_t sum = 0;
	if (!is_by_length(problem))
		return 0;
	for (uint32_t i = 0; i < problem->period_count; i++) {
		const struct weft_problem_period *period = &problems->periods[problem->first_period + i];
		sum += period->end - period->start;
	}
	return problem->period_count ? sum : problem->end - problem->start;
}

/* Slow tasks are mostly why nothing runs; not if that takes twice as long. */
static void find_places(const struct weft_problems *problems, struct place *places)
{
	uint64_t slow = 0, gap = 0;
	for (uint32_t i = 0; i < problems->count; i++) {
		const struct weft_problem *problem = &problems->list[i];
		places[i] = (struct place){rank_of(problem), length_of(problems, problem)};
		if (problem->type == WEFT_PROBLEM_SLOW && places[i].length > slow)
			slow = places[i].length;
		if (problem->type == WEFT_PROBLEM_IDLE_GAP && places[i].length > gap)
			gap = places[i].length;
	}
	for (uint32_t i = 0; i < problems->count && gap / 2 >= slow; i++)
		if (places[i].rank == GAPS_LAST)
			places[i].rank = GAPS_FIRST;
}

/* What has no length stays in the order of time. */
static bool comes_before(
	const struct weft_problems *problems, const struct place *places, uint32_t left, uint32_t right)
{
	const struct weft_problem *a = &problems->list[left], *b = &problems->list[right];
	if (a->severity != b->severity)
		return a->severity > b->severity;
	if (places[left].rank != places[right].rank)
		return places[left].rank < places[right].rank;
	return places[left].length > places[right].length;
}

uint32_t *weft__viewer_order(const struct weft_problems *problems)
{
	uint32_t *order = malloc((problems->count + (size_t)1) * sizeof(*order));
	struct place *places = malloc((problems->count + (size_t)1) * sizeof(*places));
	if (!order || !places) {
		free(order);
		free(places);
		return NULL;
	}
	find_places(problems, places);
	for (uint32_t i = 0; i < problems->count; i++) { /* 200 at most */
		uint32_t at = i;
		for (; at > 0 && comes_before(problems, places, i, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	free(places);
	return order;
}
