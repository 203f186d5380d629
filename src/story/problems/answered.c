/* SPDX-License-Identifier: ISC
 *
 * See answered.h.
 */
#include "story/problems/answered.h"

#include <stdlib.h>

#define EXAMINED_MAX 64 /* earlier tasks of that name */
#define LEVELS_MAX   64 /* creators of a task */

/* True if a task like this one waits, or like one that has made it, directly or not. */
static bool is_of_waiters(const struct weft__findings *findings, const bool *waits, uint32_t task)
{
	for (uint32_t level = 0; task != WEFT_NONE && level < LEVELS_MAX; level++) {
		const uint32_t group = findings->alike.group_of[task];
		if (group != WEFT_NONE && waits[group])
			return true;
		task = findings->story->model->tasks.parent[task];
	}
	return false;
}

/* For each group of alike tasks, does one of it wait? NULL if memory ran out. */
static bool *find_waiting(const struct weft__findings *findings, const struct weft__blocked *b)
{
	const uint32_t count = b->model->tasks.count, *group_of = findings->alike.group_of;
	bool *waits = calloc(count + (size_t)1, sizeof(*waits));
	for (uint32_t task = 0; waits && task < count; task++)
		if (b->next[task] != WEFT_NONE && group_of[task] != WEFT_NONE)
			waits[group_of[task]] = true;
	return waits;
}

/* The task that has ended this one, or WEFT_NONE. */
static uint32_t ended_by(const struct weft__blocked *b, uint32_t task)
{
	const struct weft_edges *e = &b->model->edges;
	struct weft__edge_list to = weft__story_edges_to(b->story, task);
	for (uint32_t i = to.count; i > 0; i--)
		if (e->type[to.edges[i - 1]] == WEFT_EDGE_RESOLVE)
			return e->from[to.edges[i - 1]];
	return WEFT_NONE;
}

static bool is_like(const struct weft_tasks *t, uint32_t task, uint32_t last)
{
	return t->label[task] == t->label[last] && t->kind[task] == t->kind[last] &&
		   t->label[last] != WEFT_NONE && (t->flags[task] & WEFT_TASK_RESOLVED);
}

bool weft__story_answered_by_others(
	const struct weft__findings *findings, const struct weft__blocked *b, uint32_t last)
{
	const struct weft_tasks *t = &b->model->tasks;
	uint32_t examined = 0;
	bool *waits = find_waiting(findings, b), is_by_others = waits != NULL;
	for (uint32_t task = 0; is_by_others && task < t->count && examined < EXAMINED_MAX; task++) {
		if (!is_like(t, task, last))
			continue;
		uint32_t by = ended_by(b, task);
		is_by_others = by != WEFT_NONE && !is_of_waiters(findings, waits, by);
		examined++;
	}
	free(waits);
	return is_by_others && examined > 0;
}
