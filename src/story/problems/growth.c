/* SPDX-License-Identifier: ISC
 *
 * Tasks that pile up: more and more alike tasks are alive, from one end of the trace to the other,
 * and the unended ones are not simply under way.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "story/problems/findings.h"

#define PARTS     8
#define LEFT_MIN  16 /* tasks that have not ended */
#define OF_TENTH  4  /* times the age that nine tenths reach */
#define FOUND_MAX 3

struct pile {
	uint32_t group;
	int64_t alive[PARTS]; /* at first changes in each part, later tasks at the end of each */
	uint32_t left,
		old;        /* tasks that have not ended; those of them that are older than others become */
	uint32_t first; /* the first of these tasks */
};

struct piling {
	struct weft__findings *findings;
	const struct weft_model *model;
	const struct weft__alike *alike;
	struct pile *piles;
	uint32_t *pile_of; /* pile of each group, or WEFT_NONE */
	uint32_t count;
};

static uint32_t part_of(const struct weft_model *model, uint64_t time)
{
	uint64_t length = model->summary.end - model->summary.start;
	uint64_t past = time > model->summary.start ? time - model->summary.start : 0;
	uint64_t part = length / PARTS ? past / (length / PARTS) : 0;
	return part < PARTS ? (uint32_t)part : PARTS - 1;
}

/* Tasks that have ended, and not failed. */
static uint32_t count_ended(const struct weft_model *model)
{
	const uint32_t *by = model->summary.by_outcome;
	return by[WEFT_OUTCOME_FULFILLED] + by[WEFT_OUTCOME_CANCELLED] + by[WEFT_OUTCOME_CLOSED] +
		   by[WEFT_OUTCOME_TIMED_OUT];
}

/* False for tasks without name or end: more likely, the program does not record their end. */
static bool may_pile_up(const struct piling *p, const struct weft__alike_group *group)
{
	return group->all - group->count >= LEFT_MIN && count_ended(p->model) >= LEFT_MIN;
}

static int list_piles(struct piling *p)
{
	p->pile_of = malloc((p->alike->group_count + (size_t)1) * sizeof(*p->pile_of));
	uint32_t count = 0;
	for (uint32_t g = 0; p->pile_of && g < p->alike->group_count; g++)
		p->pile_of[g] = may_pile_up(p, &p->alike->groups[g]) ? count++ : WEFT_NONE;
	p->piles = calloc(count + (size_t)1, sizeof(*p->piles));
	if (!p->pile_of || !p->piles)
		return WEFT_ERROR_MEMORY;
	p->count = count;
	for (uint32_t g = 0; g < p->alike->group_count; g++)
		if (p->pile_of[g] != WEFT_NONE)
			p->piles[p->pile_of[g]] = (struct pile){.group = g, .first = WEFT_NONE};
	return 0;
}

static void add_task(struct piling *p, uint32_t task)
{
	const struct weft_tasks *t = &p->model->tasks;
	uint32_t group = p->alike->group_of[task];
	if (group == WEFT_NONE || p->pile_of[group] == WEFT_NONE)
		return;
	struct pile *pile = &p->piles[p->pile_of[group]];
	pile->alive[part_of(p->model, t->start[task])]++;
	if (t->flags[task] & WEFT_TASK_RESOLVED) {
		pile->alive[part_of(p->model, t->end[task])]--;
		return;
	}
	uint64_t age =
		p->model->summary.end > t->start[task] ? p->model->summary.end - t->start[task] : 0;
	pile->left++;
	pile->old += age / OF_TENTH > p->alike->groups[group].p90_ns;
	if (pile->first == WEFT_NONE && t->label[task] != WEFT_NONE)
		pile->first = task;
}

/* True if there are more at the end of each part but one, and 1.5 times as many as in the middle.
 */
static bool only_grows(struct pile *pile)
{
	unsigned rises = pile->alive[0] > 0;
	for (unsigned part = 1; part < PARTS; part++) {
		pile->alive[part] += pile->alive[part - 1];
		rises += pile->alive[part] > pile->alive[part - 1];
	}
	return rises >= PARTS - 1 && pile->alive[PARTS - 1] >= LEFT_MIN &&
		   pile->alive[PARTS - 1] * 2 >= pile->alive[PARTS / 2 - 1] * 3;
}

static void add_pile(struct piling *p, const struct pile *pile)
{
	const struct weft__alike_group *group = &p->alike->groups[pile->group];
	const struct weft_model *model = p->model;
	struct weft__sentence s;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_PILING_UP,
		.severity = WEFT_SEVERITY_WARNING,
		.count = pile->left,
		.start = model->tasks.start[pile->first],
		.end = model->summary.end,
		.task = pile->first,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 4);
	weft__words_add_subject(w, model, pile->first, 40);
	weft__words_add(w, " and %" PRIu32 " more like it do not end", pile->left - 1);
	weft__words_add(weft__clause(&s, 3), ", and become more and more");
	if (group->count)
		weft__words_add(weft__clause(&s, 2), "; %" PRIu32 " others did end", group->count);
	weft__find(p->findings, &problem, pile->left, &s);
}

void weft__find_piling_up(struct weft__findings *findings)
{
	struct piling p = {
		.findings = findings, .model = findings->story->model, .alike = &findings->alike};
	uint32_t found = 0;
	int error = list_piles(&p);
	for (uint32_t task = 0; !error && p.count && task < p.model->tasks.count; task++)
		add_task(&p, task);
	for (uint32_t i = 0; !error && i < p.count && found < FOUND_MAX; i++) {
		struct pile *pile = &p.piles[i];
		if (pile->first == WEFT_NONE || pile->old < pile->left / 2 || !only_grows(pile))
			continue;
		add_pile(&p, pile);
		found++;
	}
	if (error)
		findings->error = error;
	free(p.piles);
	free(p.pile_of);
}
