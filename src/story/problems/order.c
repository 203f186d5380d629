/* SPDX-License-Identifier: ISC
 *
 * The order of problems by gravity, by the ranks of problems.def: the first three should explain
 * the trace.
 */
#include "story/problems/findings.h"

struct ranks {
	int8_t rank, hint_rank;
	bool is_by_length;
};

#define ORDER_TIME   false
#define ORDER_LENGTH true
static const struct ranks rows[WEFT_PROBLEM_TYPES] = {
#define PROBLEM(identifier, name, plural, rank, hint_rank, order, ...) \
	{rank, hint_rank, ORDER_##order},
#include <weft/problems.def>
#undef PROBLEM
};

static int rank_of(const struct weft_problem *problem)
{
	const struct ranks *row = &rows[problem->type];
	return problem->severity == WEFT_SEVERITY_HINT ? row->hint_rank : row->rank;
}

struct sort_key {
	int rank;
	uint64_t length; /* ns, the sum of all periods; 0: ordered by time */
};

static uint64_t length_of(const struct weft_problems *problems, const struct weft_problem *problem)
{
	uint64_t sum = 0;
	if (!rows[problem->type].is_by_length)
		return 0;
	for (uint32_t i = 0; i < problem->period_count; i++) {
		const struct weft_problem_period *period = &problems->periods[problem->first_period + i];
		sum += period->end - period->start;
	}
	return problem->period_count ? sum : problem->end - problem->start;
}

/* Slow tasks explain most idle gaps, so gaps rank behind them; unless the longest gap is twice as
 * long as the longest slow task. */
static void find_keys(const struct weft_problems *problems, struct sort_key *keys)
{
	uint64_t slow = 0, gap = 0;
	for (uint32_t i = 0; i < problems->count; i++) {
		const struct weft_problem *problem = &problems->list[i];
		keys[i] = (struct sort_key){rank_of(problem), length_of(problems, problem)};
		if (problem->type == WEFT_PROBLEM_SLOW && keys[i].length > slow)
			slow = keys[i].length;
		if (problem->type == WEFT_PROBLEM_IDLE_GAP && keys[i].length > gap)
			gap = keys[i].length;
	}
	for (uint32_t i = 0; i < problems->count && gap / 2 >= slow; i++)
		if (problems->list[i].type == WEFT_PROBLEM_IDLE_GAP)
			keys[i].rank = rows[WEFT_PROBLEM_SLOW].rank - 1;
}

/* Problems without a length keep their order, which is by time. */
static int compare(const struct weft_problems *problems, const struct sort_key *keys, uint32_t left,
	uint32_t right)
{
	const struct weft_problem *a = &problems->list[left], *b = &problems->list[right];
	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (keys[left].rank != keys[right].rank)
		return keys[left].rank < keys[right].rank ? -1 : 1;
	if (keys[left].length != keys[right].length)
		return keys[left].length > keys[right].length ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* Consequences come right after their reason. */
static bool comes_before(const struct weft_problems *problems, const struct sort_key *keys,
	uint32_t left, uint32_t right)
{
	const uint32_t left_reason = problems->list[left].reason,
				   right_reason = problems->list[right].reason;
	const uint32_t left_first = left_reason == WEFT_NONE ? left : left_reason;
	const uint32_t right_first = right_reason == WEFT_NONE ? right : right_reason;
	if (left_first != right_first)
		return compare(problems, keys, left_first, right_first) < 0;
	if (left == left_first || right == right_first)
		return left == left_first;
	return compare(problems, keys, left, right) < 0;
}

void weft__story_problems_order(const struct weft_problems *problems, uint32_t *ret_order)
{
	struct sort_key keys[WEFT_PROBLEMS_MAX];
	find_keys(problems, keys);
	for (uint32_t i = 0; i < problems->count; i++) {
		uint32_t at = i;
		for (; at > 0 && comes_before(problems, keys, i, ret_order[at - 1]); at--)
			ret_order[at] = ret_order[at - 1];
		ret_order[at] = i;
	}
}
