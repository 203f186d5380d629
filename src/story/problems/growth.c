/* SPDX-License-Identifier: ISC
 *
 * Tasks that pile up: of alike tasks, some are left when all work is done, and they began all
 * along, from one end of the trace to the other. The number of living tasks says less: at the end
 * of a sound program it falls, because the program closes down, and so it does where some leak. A
 * task that the program only stops when it closes down was left, too.
 *
 * Each process has piles of its own: tasks of many short processes, one in each, pile up nowhere.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "story/problems/findings.h"
#include "story/problems/overlaps.h"

#define PARTS     8
#define LEFT_MIN  16 /* tasks that are left */
#define OF_TENTH  2  /* times the age that nine tenths reach */
#define SPREAD    24 /* a part has at least 1 / SPREAD of those that are left, … */
#define QUIET     2 /* … or at least 1 / QUIET of the usual share of the few that begin in it: … */
#define FULL_MIN  5 /* … in this many of the first parts … */
#define FULL_OF   6 /* … of these */
#define FOUND_MAX 3

/* Tasks of one group and process. */
struct pile {
	uint32_t group;
	uint32_t begun[PARTS]; /* those that are left, by the part of the trace in which they began */
	uint32_t all[PARTS];   /* the same of all tasks of the group */
	uint32_t count;        /* all of them */
	uint32_t ended;
	uint32_t left;       /* tasks that have not ended, or were stopped at the end */
	uint32_t old;        /* those of them that are older than others become */
	uint32_t stopped;    /* those of them that were stopped */
	uint32_t first;      /* the first of these tasks */
	uint32_t closed;     /* tasks that were stopped at the end, old or not */
	uint64_t last_start; /* of all tasks of the group */
};

struct piling {
	struct weft__findings *findings;
	const struct weft_model *model;
	const struct weft__alike *alike;
	struct pile *piles;
	uint64_t *keys; /* of each pile, ascending */
	uint32_t count;
	uint32_t *ended; /* tasks of each process that have ended, and not failed */
};

static uint32_t part_of(const struct weft_model *model, uint64_t time)
{
	uint64_t length = model->summary.end - model->summary.start;
	uint64_t past = time > model->summary.start ? time - model->summary.start : 0;
	uint64_t part = length / PARTS ? past / (length / PARTS) : 0;
	return part < PARTS ? (uint32_t)part : PARTS - 1;
}

static bool has_succeeded(const struct weft_model *model, uint32_t task)
{
	const unsigned outcome = model->tasks.outcome[task];
	return outcome == WEFT_OUTCOME_FULFILLED || outcome == WEFT_OUTCOME_CANCELLED ||
		   outcome == WEFT_OUTCOME_CLOSED || outcome == WEFT_OUTCOME_TIMED_OUT;
}

static uint32_t process_of(const struct weft_model *model, uint32_t task)
{
	return model->tasks.buffer[task] < model->buffer_count ? model->tasks.buffer[task] : 0;
}

static int count_ended(struct piling *p)
{
	p->ended = calloc(p->model->buffer_count + (size_t)1, sizeof(*p->ended));
	if (!p->ended)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < p->model->tasks.count; task++)
		p->ended[process_of(p->model, task)] += has_succeeded(p->model, task);
	return 0;
}

/* False for tasks without name or end: more likely, the program does not record their end. */
static bool may_pile_up(const struct piling *p, uint32_t task)
{
	const uint32_t group = p->alike->group_of[task];
	return group != WEFT_NONE && p->alike->groups[group].all >= LEFT_MIN &&
		   p->ended[process_of(p->model, task)] >= LEFT_MIN;
}

static uint64_t key_of(const struct piling *p, uint32_t task)
{
	return (uint64_t)p->alike->group_of[task] << 32 | p->model->tasks.buffer[task];
}

/* True if the task may be one that is left. */
static bool may_be_left(const struct piling *p, uint32_t task)
{
	const unsigned flags = p->model->tasks.flags[task];
	return (!(flags & WEFT_TASK_RESOLVED) || flags & WEFT_TASK_STOPPED) && may_pile_up(p, task);
}

static int list_keys(struct piling *p)
{
	uint32_t count = 0, i = 0;
	for (uint32_t task = 0; task < p->model->tasks.count; task++)
		count += may_be_left(p, task);
	p->keys = malloc((2 * (size_t)count + 1) * sizeof(*p->keys));
	if (!p->keys)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < p->model->tasks.count; task++)
		if (may_be_left(p, task))
			p->keys[i++] = key_of(p, task);
	weft__sort_u64(p->keys, p->keys + count, count);
	p->count = (uint32_t)weft__unique_u64(p->keys, count);
	return 0;
}

static int list_piles(struct piling *p)
{
	int error = count_ended(p);
	if (!error)
		error = list_keys(p);
	p->piles = error ? NULL : calloc(p->count + (size_t)1, sizeof(*p->piles));
	if (!p->piles)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < p->count; i++)
		p->piles[i] = (struct pile){.group = (uint32_t)(p->keys[i] >> 32), .first = WEFT_NONE};
	return 0;
}

static bool is_before(const void *keys, uint32_t row, uint64_t key)
{
	return ((const uint64_t *)keys)[row] < key;
}

static struct pile *pile_of(const struct piling *p, uint32_t task)
{
	if (!may_pile_up(p, task))
		return NULL;
	uint64_t key = key_of(p, task);
	uint32_t i = weft__search(p->keys, 0, p->count, is_before, key);
	return i < p->count && p->keys[i] == key ? &p->piles[i] : NULL;
}

/* Tasks are in the order of their first mention, which is not always that of their start. */
static void find_starts(struct piling *p)
{
	for (uint32_t task = 0; task < p->model->tasks.count; task++) {
		struct pile *pile = pile_of(p, task);
		uint64_t start = p->model->tasks.start[task];
		if (!pile)
			continue;
		pile->count++;
		pile->ended += p->model->tasks.flags[task] & WEFT_TASK_RESOLVED ? 1 : 0;
		pile->all[part_of(p->model, start)]++;
		if (start > pile->last_start)
			pile->last_start = start;
	}
}

/* True if the program stopped the task when it closed down: no task like it began after that. */
static bool is_closed(const struct piling *p, const struct pile *pile, uint32_t task)
{
	const struct weft_tasks *t = &p->model->tasks;
	return (t->flags[task] & WEFT_TASK_STOPPED) && t->end[task] >= pile->last_start;
}

static void count_closed(struct piling *p)
{
	for (uint32_t task = 0; task < p->model->tasks.count; task++) {
		struct pile *pile = pile_of(p, task);
		if (pile && is_closed(p, pile, task))
			pile->closed++;
	}
}

/* The age that nine tenths of the group's other tasks reach; the median, if too many tasks were
 * stopped at the end to know; 0 if nearly all were. */
static uint64_t usual_age(const struct piling *p, const struct pile *pile)
{
	const struct weft__alike_group *group = &p->alike->groups[pile->group];
	if (pile->closed > pile->ended / 2)
		return 0;
	return pile->closed > pile->ended / 10 ? group->p50_ns : group->p90_ns;
}

/* When the task's process ended, or the trace. */
static uint64_t end_of_process(const struct weft_model *model, uint32_t task)
{
	uint32_t buffer = model->tasks.buffer[task];
	uint64_t end = buffer < model->buffer_count ? model->buffers[buffer].end_ns : 0;
	return end && end < model->summary.end ? end : model->summary.end;
}

static void add_task(struct piling *p, uint32_t task)
{
	const struct weft_tasks *t = &p->model->tasks;
	struct pile *pile = pile_of(p, task);
	bool has_ended = t->flags[task] & WEFT_TASK_RESOLVED;
	if (!pile || (has_ended && !is_closed(p, pile, task)))
		return;
	uint64_t end = has_ended ? t->end[task] : end_of_process(p->model, task);
	uint64_t age = end > t->start[task] ? end - t->start[task] : 0;
	bool is_old = age / OF_TENTH > usual_age(p, pile);
	if (has_ended && !is_old)
		return;
	pile->left++;
	pile->old += is_old;
	pile->stopped += has_ended;
	pile->begun[part_of(p->model, t->start[task])]++;
	if (pile->first == WEFT_NONE && t->label[task] != WEFT_NONE)
		pile->first = task;
}

/* True if tasks are left of a part: many, or a usual share if the program did little then. */
static bool is_full(const struct pile *pile, unsigned part)
{
	bool is_usual =
		(uint64_t)pile->begun[part] * QUIET * pile->count >= (uint64_t)pile->left * pile->all[part];
	return pile->begun[part] >= 1 && (pile->begun[part] >= pile->left / SPREAD || is_usual);
}

/* True if tasks are left of nearly all parts of the trace, but for its end. */
static bool is_spread(const struct pile *pile)
{
	unsigned full = 0;
	for (unsigned part = 0; part < FULL_OF; part++)
		full += is_full(pile, part);
	return pile->left >= LEFT_MIN && full >= FULL_MIN;
}

static void add_pile(struct piling *p, const struct pile *pile)
{
	const struct weft_model *model = p->model;
	struct weft__sentence s;
	/* Tasks that all last until the program stops them may be meant so. */
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_PILING_UP,
		pile->closed > pile->ended / 2 ? WEFT_SEVERITY_HINT : WEFT_SEVERITY_WARNING, pile->left,
		(struct weft__case){pile->first, model->tasks.start[pile->first], model->summary.end});
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 4);
	weft__story_words_add_subject(w, model, pile->first, 40);
	weft__story_words_add(w, " and %" PRIu32 " more like it ", pile->left - 1);
	weft__story_words_add(
		w, pile->stopped > pile->left / 2 ? "are left until the program stops them" : "do not end");
	weft__story_words_add(weft__story_clause(&s, 3), ", ever more of them");
	if (pile->ended > pile->stopped)
		weft__story_words_add(weft__story_clause(&s, 2),
			pile->ended - pile->stopped == 1 ? "; 1 other did end" : "; %" PRIu32 " others did end",
			pile->ended - pile->stopped);
	weft__story_find(p->findings, &problem, pile->left, &s);
}

void weft__find_piling_up(struct weft__findings *findings)
{
	struct piling p = {
		.findings = findings, .model = findings->story->model, .alike = &findings->alike};
	uint32_t found = 0;
	int error = list_piles(&p);
	if (!error && p.count) {
		find_starts(&p);
		count_closed(&p);
	}
	for (uint32_t task = 0; !error && p.count && task < p.model->tasks.count; task++)
		add_task(&p, task);
	for (uint32_t i = 0; !error && i < p.count && found < FOUND_MAX; i++) {
		struct pile *pile = &p.piles[i];
		if (pile->first == WEFT_NONE || pile->old < pile->left / 2 || !is_spread(pile))
			continue;
		add_pile(&p, pile);
		found++;
	}
	if (error)
		findings->error = error;
	free(p.piles);
	free(p.keys);
	free(p.ended);
	if (!error)
		weft__story_find_overlaps(findings);
}
