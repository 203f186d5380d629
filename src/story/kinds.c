/* SPDX-License-Identifier: ISC
 *
 * How long tasks of each kind live. A key of kind and length would need more than 64 bits, so
 * lifetimes are grouped by kind, and each group is sorted.
 */
#include <stdlib.h>

#include "base/export.h"
#include "base/sort.h"
#include "story/index.h"

#define KINDS 65536

struct kind_sorting {
	const struct weft_story *story;
	uint32_t *first; /* first entry of each kind in `lives`, and the end of the last */
	uint64_t *lives, *scratch;
};

/* False for a task that became another: it continues as that task, so it has no length of its own.
 */
static bool counts(const struct weft_tasks *t, uint32_t task)
{
	return (t->flags[task] & WEFT_TASK_RESOLVED) && t->becomes[task] == WEFT_NONE;
}

static uint64_t life_ns(const struct weft_story *story, uint32_t task)
{
	uint64_t start = weft__start_of(story, task), end = story->model->tasks.end[task];
	return end > start ? end - start : 0;
}

static void group(struct kind_sorting *s)
{
	const struct weft_tasks *t = &s->story->model->tasks;
	for (uint32_t task = 0; task < t->count; task++)
		if (counts(t, task))
			s->first[t->kind[task] + 1]++;
	for (uint32_t kind = 0; kind < KINDS; kind++)
		s->first[kind + 1] += s->first[kind];
	for (uint32_t task = 0; task < t->count; task++)
		if (counts(t, task))
			s->lives[s->first[t->kind[task]]++] = life_ns(s->story, task);
	for (uint32_t kind = KINDS; kind > 0; kind--)
		s->first[kind] = s->first[kind - 1];
	s->first[0] = 0;
}

static uint64_t percentile(const uint64_t *sorted, uint32_t count, unsigned percent)
{
	return sorted[(uint64_t)(count - 1) * percent / 100];
}

static uint32_t list_kinds(const struct kind_sorting *s, struct weft_story_kind *kinds)
{
	uint32_t count = 0;
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		uint32_t members = s->first[kind + 1] - s->first[kind];
		uint64_t *lives = s->lives + s->first[kind];
		if (!members)
			continue;
		weft__sort_u64(lives, s->scratch, members);
		kinds[count++] = (struct weft_story_kind){(uint16_t)kind, members,
			percentile(lives, members, 50), percentile(lives, members, 90),
			percentile(lives, members, 99), lives[members - 1], WEFT_NONE};
	}
	return count;
}

static int by_frequency(const void *left, const void *right)
{
	const struct weft_story_kind *l = left, *r = right;
	if (l->count != r->count)
		return l->count > r->count ? -1 : 1;
	return l->kind < r->kind ? -1 : l->kind > r->kind;
}

/* Finds the first task of each kind with the longest lifetime. */
static void find_longest(const struct weft_story *story, uint32_t *index_of_kind,
	struct weft_story_kind *kinds, uint32_t count)
{
	const struct weft_tasks *t = &story->model->tasks;
	for (uint32_t i = 0; i < count; i++)
		index_of_kind[kinds[i].kind] = i;
	for (uint32_t task = 0; task < t->count; task++) {
		if (!counts(t, task))
			continue;
		struct weft_story_kind *kind = &kinds[index_of_kind[t->kind[task]]];
		if (kind->longest == WEFT_NONE && life_ns(story, task) == kind->longest_ns)
			kind->longest = task;
	}
}

WEFT__EXPORT int weft_story_kinds(
	const struct weft_story *story, struct weft_story_kind **ret_kinds, uint32_t *ret_count)
{
	uint32_t tasks = story->model->tasks.count, most = tasks < KINDS ? tasks : KINDS;
	struct kind_sorting s = {
		.story = story,
		.first = calloc(KINDS + 1, sizeof(*s.first)),
		.lives = malloc((tasks + (size_t)1) * sizeof(*s.lives)),
		.scratch = malloc((tasks + (size_t)1) * sizeof(*s.scratch)),
	};
	struct weft_story_kind *kinds = malloc((most + (size_t)1) * sizeof(*kinds));
	int error = WEFT_ERROR_MEMORY;
	if (s.first && s.lives && s.scratch && kinds) {
		group(&s);
		*ret_count = list_kinds(&s, kinds);
		qsort(kinds, *ret_count, sizeof(*kinds), by_frequency);
		find_longest(story, s.first, kinds, *ret_count);
		*ret_kinds = kinds;
		error = 0;
	} else {
		free(kinds);
	}
	free(s.first);
	free(s.lives);
	free(s.scratch);
	return error;
}
