/* SPDX-License-Identifier: ISC
 *
 * See alike.h. Each label is hashed once; tasks are distributed to groups by counting.
 */
#include "story/alike.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "story/index.h"

#define TEXT_BYTES 256
#define SUFFIX_MAX 4 /* letters of a file name's end: ".java" */

struct making {
	struct weft__alike *alike;
	const struct weft_tasks *tasks;
	struct weft__index by_key;
	uint64_t *hashes; /* hash of each label; 0: not computed yet */
	/* The groups of tasks without a label, by the task that made them; the last is for none. */
	uint32_t *of_parent;
	uint32_t *next; /* the next group of the same parent, by group */
};

uint64_t weft__story_life_of(const struct weft_story *story, uint32_t task)
{
	uint64_t start = weft__story_start_of(story, task), end = story->model->tasks.end[task];
	return end > start ? end - start : 0;
}

/* True for a number behind a file and a colon, as of a line, but not behind an address: lines are
 * different code. */
static bool is_line(struct weft_slice text, size_t at)
{
	size_t letters = 0;
	if (at < 3 || text.bytes[at - 1] != ':')
		return false;
	while (letters < SUFFIX_MAX && letters + 2 < at && text.bytes[at - 2 - letters] >= 'a' &&
		   text.bytes[at - 2 - letters] <= 'z')
		letters++;
	return letters && text.bytes[at - 2 - letters] == '.';
}

/* Hashes the text's beginning. */
uint64_t weft__story_alike_hash(struct weft_slice text)
{
	uint64_t hash = 1;
	bool in_number = false, in_line = false;
	for (size_t i = 0; i < text.size && i < TEXT_BYTES; i++) {
		char c = text.bytes[i];
		bool digit = c >= '0' && c <= '9';
		in_line = digit && (in_number ? in_line : is_line(text, i));
		if (!digit || !in_number || in_line)
			hash = (hash ^ (uint8_t)(digit && !in_line ? '#' : c)) * UINT64_C(0x100000001b3);
		in_number = digit;
	}
	return weft__mix(hash) | 1;
}

static uint64_t key_of(struct making *m, uint32_t task)
{
	uint32_t label = m->tasks->label[task];
	uint64_t kind = m->tasks->kind[task];
	if (!m->hashes[label])
		m->hashes[label] = weft__story_alike_hash(weft_model_string(m->alike->story->model, label));
	return weft__mix(m->hashes[label] ^ kind << 48);
}

static uint64_t hash_group(const struct weft__hash_key *key, const void *owner, uint32_t group)
{
	return weft__hash_u64(key, ((const struct making *)owner)->alike->groups[group].key);
}

static int find_group(struct making *m, uint64_t key, uint32_t *ret_group)
{
	struct weft__alike *alike = m->alike;
	uint32_t slot = weft__index_start(&m->by_key, weft__hash_u64(&m->by_key.key, key)), group;
	while ((group = m->by_key.slots[slot]) != WEFT__INDEX_EMPTY) {
		if (alike->groups[group].key == key) {
			*ret_group = group;
			return 0;
		}
		slot = weft__index_next(&m->by_key, slot);
	}
	*ret_group = alike->group_count;
	alike->groups[alike->group_count++] = (struct weft__alike_group){.key = key};
	return weft__index_add(&m->by_key, *ret_group, hash_group, m);
}

/* Finds the group of a task without a label. These groups are many, and hardly any parent has
 * several, so a list for each parent is faster than an index. */
static uint32_t find_unnamed(struct making *m, uint32_t task)
{
	struct weft__alike *alike = m->alike;
	uint32_t parent = m->tasks->parent[task], group;
	uint32_t *first = &m->of_parent[parent == WEFT_NONE ? m->tasks->count : parent];
	for (group = *first; group != WEFT_NONE; group = m->next[group])
		if (alike->groups[group].key == m->tasks->kind[task])
			return group;
	group = alike->group_count++;
	alike->groups[group] = (struct weft__alike_group){.key = m->tasks->kind[task]};
	m->next[group] = *first;
	return *first = group;
}

static bool has_ended(const struct weft_tasks *tasks, uint32_t task)
{
	return tasks->flags[task] & WEFT_TASK_RESOLVED;
}

static int find_groups(struct making *m)
{
	struct weft__alike *alike = m->alike;
	for (uint32_t task = 0; task < m->tasks->count; task++) {
		alike->group_of[task] = WEFT_NONE;
		if (m->tasks->becomes[task] != WEFT_NONE)
			continue;
		int error = 0;
		if (m->tasks->label[task] == WEFT_NONE)
			alike->group_of[task] = find_unnamed(m, task);
		else
			error = find_group(m, key_of(m, task), &alike->group_of[task]);
		if (error)
			return error;
		struct weft__alike_group *group = &alike->groups[alike->group_of[task]];
		group->all++;
		group->count += has_ended(m->tasks, task);
	}
	return 0;
}

static void deal_out(struct making *m)
{
	struct weft__alike *alike = m->alike;
	uint32_t sum = 0;
	for (uint32_t g = 0; g < alike->group_count; g++) {
		alike->groups[g].first = sum;
		sum += alike->groups[g].count;
		alike->groups[g].count = 0;
	}
	for (uint32_t task = 0; task < m->tasks->count; task++) {
		if (alike->group_of[task] == WEFT_NONE || !has_ended(m->tasks, task))
			continue;
		struct weft__alike_group *group = &alike->groups[alike->group_of[task]];
		uint32_t index = group->first + group->count++;
		alike->members[index] = task;
		alike->lives[index] = weft__story_life_of(alike->story, task);
	}
}

/* Computes the figures. `sorted` has room for twice the largest group. */
static void measure(const struct weft__alike *alike, uint64_t *sorted)
{
	for (uint32_t g = 0; g < alike->group_count; g++) {
		struct weft__alike_group *group = &alike->groups[g];
		if (group->count < WEFT__ALIKE_MIN)
			continue;
		memcpy(sorted, alike->lives + group->first, group->count * sizeof(*sorted));
		weft__sort_u64(sorted, sorted + group->count, group->count);
		group->p50_ns = sorted[(group->count - 1) / 2];
		group->p90_ns = sorted[(uint64_t)(group->count - 1) * 9 / 10];
		group->p99_ns = sorted[(uint64_t)(group->count - 1) * 99 / 100];
		group->longest_ns = sorted[group->count - 1];
	}
}

static int measure_all(const struct weft__alike *alike)
{
	size_t most = 1;
	for (uint32_t g = 0; g < alike->group_count; g++)
		if (alike->groups[g].count > most)
			most = alike->groups[g].count;
	uint64_t *sorted = malloc(2 * most * sizeof(*sorted));
	if (!sorted)
		return WEFT_ERROR_MEMORY;
	measure(alike, sorted);
	free(sorted);
	return 0;
}

static uint32_t count_labels(const struct weft_tasks *t)
{
	uint32_t count = 0;
	for (uint32_t task = 0; task < t->count; task++)
		if (t->label[task] != WEFT_NONE && t->label[task] >= count)
			count = t->label[task] + 1;
	return count;
}

int weft__story_alike_init(struct weft__alike *alike, const struct weft_story *story)
{
	const struct weft_tasks *tasks = &story->model->tasks;
	size_t room = tasks->count + (size_t)1;
	*alike = (struct weft__alike){
		.story = story,
		.group_of = malloc(room * sizeof(*alike->group_of)),
		.groups = malloc(room * sizeof(*alike->groups)),
		.members = malloc(room * sizeof(*alike->members)),
		.lives = malloc(room * sizeof(*alike->lives)),
	};
	struct making m = {.alike = alike, .tasks = tasks};
	m.hashes = calloc(count_labels(tasks) + (size_t)1, sizeof(*m.hashes));
	m.of_parent = malloc(room * sizeof(*m.of_parent));
	m.next = malloc(room * sizeof(*m.next));
	int error = weft__index_init(&m.by_key);
	if (!alike->group_of || !alike->groups || !alike->members || !alike->lives || !m.hashes ||
		!m.of_parent || !m.next)
		error = WEFT_ERROR_MEMORY;
	else
		memset(m.of_parent, 0xff, room * sizeof(*m.of_parent)); /* WEFT_NONE */
	if (!error)
		error = find_groups(&m);
	if (!error) {
		deal_out(&m);
		error = measure_all(alike);
	}
	weft__index_finish(&m.by_key);
	free(m.hashes);
	free(m.of_parent);
	free(m.next);
	if (error)
		weft__story_alike_finish(alike);
	return error;
}

/* Times the age that nine tenths reach. */
#define OF_TENTH 4

bool weft__story_alike_is_usual(const struct weft__alike *alike, uint32_t task)
{
	if (alike->group_of[task] == WEFT_NONE)
		return false;
	const struct weft__alike_group *group = &alike->groups[alike->group_of[task]];
	uint64_t age = weft__story_life_of(alike->story, task);
	return group->count >= WEFT__ALIKE_MIN &&
		   (age / OF_TENTH <= group->p90_ns || age <= group->longest_ns);
}

bool weft__story_alike_are(const struct weft__alike *alike, uint32_t a, uint32_t b)
{
	if (alike->group_of[a] == WEFT_NONE || alike->group_of[b] == WEFT_NONE)
		return false;
	return weft__story_alike_name(alike, a) == weft__story_alike_name(alike, b);
}

uint64_t weft__story_alike_name(const struct weft__alike *alike, uint32_t task)
{
	const struct weft_tasks *t = &alike->story->model->tasks;
	return t->label[task] == WEFT_NONE ? (uint64_t)t->kind[task] << 32 | WEFT_NONE
									   : alike->group_of[task];
}

void weft__story_alike_finish(struct weft__alike *alike)
{
	free(alike->group_of);
	free(alike->groups);
	free(alike->members);
	free(alike->lives);
	*alike = (struct weft__alike){0};
}
