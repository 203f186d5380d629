/* SPDX-License-Identifier: ISC
 *
 * Tasks that lived far longer than others of their kind and name (digits read as one). Lives are
 * spread widely by nature, so one is remarkable only if it is far beyond both the median and the
 * slowest tenth. A slow task makes slow all that wait for it: of those that lie over each other,
 * the shortest is named, as it is next to the cause.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/sort.h"
#include "story/problems.h"

#define MEMBERS_MIN 16
#define OF_MEDIAN   8 /* times as long */
#define OF_TENTH    4
#define LEAST_SHARE 200 /* of a trace: what is shorter is not worth a word */
#define LOOKED_MAX  64
#define NAMED_MAX   10
#define LABEL_BYTES 256

struct group {
	uint64_t key;
	uint32_t count, first; /* of members */
};

/* The slowest of a group. */
struct slow {
	uint32_t task, count;
	uint64_t life_ns, usual_ns;
};

struct sorting {
	struct weft__findings *findings;
	const struct weft_story *story;
	const struct weft_model *model;
	uint32_t *group_of; /* of tasks; WEFT_NONE: does not count */
	struct group *groups;
	uint32_t group_count;
	struct weft__index by_key;
	uint32_t *members;            /* tasks by group */
	uint64_t *lives;              /* twice the room */
	uint64_t *hashes;             /* of labels; 0: not known yet */
	struct slow slow[LOOKED_MAX]; /* the longest first */
	uint32_t slow_count;
};

static bool counts(const struct weft_tasks *t, uint32_t task)
{
	return (t->flags[task] & WEFT_TASK_RESOLVED) && t->becomes[task] == WEFT_NONE;
}

static uint64_t life_of(const struct sorting *s, uint32_t task)
{
	uint64_t start = weft__start_of(s->story, task), end = s->model->tasks.end[task];
	return end > start ? end - start : 0;
}

/* Of a label's beginning, each run of digits as one. */
static uint64_t hash_label(struct weft_slice label)
{
	uint64_t hash = 1;
	bool in_number = false;
	for (size_t i = 0; i < label.size && i < LABEL_BYTES; i++) {
		char c = label.bytes[i];
		bool digit = c >= '0' && c <= '9';
		if (!digit || !in_number)
			hash = (hash ^ (uint8_t)(digit ? '#' : c)) * UINT64_C(0x100000001b3);
		in_number = digit;
	}
	return weft__index_mix(hash) | 1;
}

static uint64_t key_of(struct sorting *s, uint32_t task)
{
	uint32_t label = s->model->tasks.label[task];
	uint64_t kind = s->model->tasks.kind[task];
	if (label == WEFT_NONE)
		return weft__index_mix(kind + 1);
	if (!s->hashes[label])
		s->hashes[label] = hash_label(weft_model_string(s->model, label));
	return weft__index_mix(s->hashes[label] ^ kind << 48);
}

static uint64_t hash_group(const void *owner, uint32_t group)
{
	return ((const struct sorting *)owner)->groups[group].key;
}

static int find_group(struct sorting *s, uint64_t key, uint32_t *ret_group)
{
	uint32_t slot = weft__index_start(&s->by_key, key), group;
	while ((group = s->by_key.slots[slot]) != WEFT__INDEX_EMPTY) {
		if (s->groups[group].key == key) {
			*ret_group = group;
			return 0;
		}
		slot = weft__index_next(&s->by_key, slot);
	}
	*ret_group = s->group_count;
	s->groups[s->group_count++] = (struct group){key, 0, 0};
	return weft__index_add(&s->by_key, *ret_group, hash_group, s);
}

static int group_tasks(struct sorting *s)
{
	const struct weft_tasks *t = &s->model->tasks;
	uint32_t sum = 0;
	for (uint32_t task = 0; task < t->count; task++) {
		s->group_of[task] = WEFT_NONE;
		if (!counts(t, task))
			continue;
		int error = find_group(s, key_of(s, task), &s->group_of[task]);
		if (error)
			return error;
		s->groups[s->group_of[task]].count++;
	}
	for (uint32_t g = 0; g < s->group_count; g++) {
		s->groups[g].first = sum;
		sum += s->groups[g].count;
		s->groups[g].count = 0;
	}
	for (uint32_t task = 0; task < t->count; task++) {
		if (s->group_of[task] == WEFT_NONE)
			continue;
		struct group *group = &s->groups[s->group_of[task]];
		s->members[group->first + group->count++] = task;
	}
	return 0;
}

/* Keeps the longest ones. */
static void keep(struct sorting *s, const struct slow *slow)
{
	uint32_t place = s->slow_count;
	if (place == LOOKED_MAX) {
		if (s->slow[--place].life_ns >= slow->life_ns)
			return;
	} else {
		s->slow_count++;
	}
	for (; place > 0 && s->slow[place - 1].life_ns < slow->life_ns; place--)
		s->slow[place] = s->slow[place - 1];
	s->slow[place] = *slow;
}

static void look_at(struct sorting *s, const struct group *group)
{
	uint64_t trace_ns = s->model->summary.end - s->model->summary.start;
	struct slow slow = {WEFT_NONE, 0, 0, 0};
	if (group->count < MEMBERS_MIN)
		return;
	for (uint32_t i = 0; i < group->count; i++)
		s->lives[i] = life_of(s, s->members[group->first + i]);
	weft__sort_u64(s->lives, s->lives + group->count, group->count);
	uint64_t p50 = s->lives[(group->count - 1) / 2];
	uint64_t p90 = s->lives[(uint64_t)(group->count - 1) * 9 / 10];
	for (uint32_t i = 0; i < group->count; i++) {
		uint32_t task = s->members[group->first + i];
		uint64_t life = life_of(s, task);
		if (life / OF_MEDIAN < p50 || life / OF_TENTH < p90 || life < trace_ns / LEAST_SHARE ||
			life == 0)
			continue;
		slow.count++;
		if (slow.task == WEFT_NONE || life > slow.life_ns) {
			slow.task = task;
			slow.life_ns = life;
		}
	}
	slow.usual_ns = p50;
	if (slow.count)
		keep(s, &slow);
}

/* Do two lives lie over each other, but for a fifth of the longer one? */
static bool are_one_story(const struct sorting *s, const struct slow *a, const struct slow *b)
{
	uint64_t a_start = weft__start_of(s->story, a->task),
			 b_start = weft__start_of(s->story, b->task);
	uint64_t a_end = a_start + a->life_ns, b_end = b_start + b->life_ns;
	uint64_t start = a_start > b_start ? a_start : b_start, end = a_end < b_end ? a_end : b_end;
	uint64_t longer = a->life_ns > b->life_ns ? a->life_ns : b->life_ns;
	return end > start && end - start >= longer - longer / 5;
}

static void name(struct sorting *s, const struct slow *slow)
{
	const struct weft_model *model = s->model;
	struct weft__sentence t;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_SLOW,
		.severity = WEFT_SEVERITY_HINT,
		.count = slow->count,
		.start = weft__start_of(s->story, slow->task),
		.end = model->tasks.end[slow->task],
		.task = slow->task,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
	};
	weft__sentence_init(&t);
	struct weft__words *w = weft__clause(&t, 9);
	weft__say_subject(w, model, slow->task, 36);
	weft__say(w, " takes ");
	weft__say_length(w, slow->life_ns);
	w = weft__clause(&t, 7);
	weft__say(w, " from ");
	weft__say_time(w, model, problem.start);
	w = weft__clause(&t, 8);
	weft__say(w, "; others like it take ");
	weft__say_length(w, slow->usual_ns);
	if (slow->count > 1)
		weft__say(weft__clause(&t, 6), ", %" PRIu32 " more are slow", slow->count - 1);
	weft__find(s->findings, &problem, slow->life_ns, &t);
}

/* From the shortest to the longest: a longer one over it is the same story. */
static void name_all(struct sorting *s)
{
	uint32_t named[LOOKED_MAX], count = 0;
	for (uint32_t i = s->slow_count; i > 0; i--) {
		bool known = false;
		for (uint32_t k = 0; k < count && !known; k++)
			known = are_one_story(s, &s->slow[named[k]], &s->slow[i - 1]);
		if (!known)
			named[count++] = i - 1;
	}
	for (uint32_t k = count > NAMED_MAX ? count - NAMED_MAX : 0; k < count; k++)
		name(s, &s->slow[named[k]]);
}

static uint32_t count_labels(const struct weft_tasks *t)
{
	uint32_t count = 0;
	for (uint32_t task = 0; task < t->count; task++)
		if (t->label[task] != WEFT_NONE && t->label[task] >= count)
			count = t->label[task] + 1;
	return count;
}

static int find_slow(struct sorting *s)
{
	int error = group_tasks(s);
	for (uint32_t g = 0; !error && g < s->group_count; g++)
		look_at(s, &s->groups[g]);
	if (!error)
		name_all(s);
	return error;
}

void weft__find_slow(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	size_t room = model->tasks.count + (size_t)1;
	struct sorting s = {
		.findings = findings,
		.story = findings->story,
		.model = model,
		.group_of = malloc(room * sizeof(*s.group_of)),
		.groups = malloc(room * sizeof(*s.groups)),
		.members = malloc(room * sizeof(*s.members)),
		.lives = malloc(2 * room * sizeof(*s.lives)),
		.hashes = calloc(count_labels(&model->tasks) + (size_t)1, sizeof(*s.hashes)),
	};
	int error = weft__index_init(&s.by_key);
	if (!error && s.group_of && s.groups && s.members && s.lives && s.hashes)
		error = find_slow(&s);
	else
		error = WEFT_ERROR_MEMORY;
	if (error)
		findings->error = error;
	weft__index_finish(&s.by_key);
	void *columns[] = {s.group_of, s.groups, s.members, s.lives, s.hashes};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		free(columns[i]);
}
