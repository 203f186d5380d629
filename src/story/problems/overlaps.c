/* SPDX-License-Identifier: ISC
 *
 * A timer fires again and again, and begins a task each time, as setInterval() does with an async
 * function. If a task takes longer than the interval, several run at once. That may be meant so;
 * but if each takes longer than the one before, they stand in each other's way, and there are ever
 * more.
 *
 * Of the tasks that one firing begins, the first counts.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "story/problems/findings.h"
#include "story/problems/overlaps.h"

#define FIRED_MIN 16
#define AT_ONCE   8
#define ENDED_MIN 4 /* tasks that have ended */
#define LONGER    2 /* times as long as the first ones the last ones take */

/* The tasks that one timer begins. */
struct overlap {
	uint32_t timer, first, last, count;
	uint64_t *starts, *ends;    /* with room for twice as many */
	uint64_t first_ns, last_ns; /* how long the first and the last take that have ended */
	uint32_t ended;
};

static void add_task(struct overlap *o, const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *t = &model->tasks;
	const bool has_ended =
		(t->flags[task] & WEFT_TASK_RESOLVED) && !(t->flags[task] & WEFT_TASK_STOPPED);
	o->starts[o->count] = t->start[task];
	o->ends[o->count] = has_ended ? t->end[task] : UINT64_MAX;
	if (!o->count++)
		o->first = task;
	o->last = task;
	if (!has_ended)
		return;
	o->last_ns = t->end[task] - t->start[task];
	if (!o->ended++)
		o->first_ns = o->last_ns;
}

/* Finds the first task of each firing that is like the first of all. */
static void find_tasks(
	struct overlap *o, const struct weft__findings *findings, struct weft__edge_list made)
{
	const struct weft_model *model = findings->story->model;
	const uint32_t *group_of = findings->alike.group_of;
	uint32_t fired = 0;
	for (uint32_t i = 0; i < made.count; i++) {
		const uint32_t task = model->edges.to[made.edges[i]];
		const uint32_t firing =
			weft__story_activations_until(model, o->timer, model->edges.time[made.edges[i]]);
		if (model->edges.type[made.edges[i]] != WEFT_EDGE_CREATE || firing == fired ||
			group_of[task] == WEFT_NONE || (o->count && group_of[task] != group_of[o->first]))
			continue;
		fired = firing;
		add_task(o, model, task);
	}
}

/* How many are alive when the last one begins, at which time there have to be most. */
static uint32_t count_at_once(const struct overlap *o)
{
	uint32_t most = 0, now = 0;
	weft__sort_u64(o->starts, o->starts + o->count, o->count);
	weft__sort_u64(o->ends, o->ends + o->count, o->count);
	for (uint32_t i = 0, ended = 0; i < o->count; i++) {
		while (ended <= i && o->ends[ended] <= o->starts[i])
			ended++;
		now = i + 1 - ended;
		most = now > most ? now : most;
	}
	return now >= most - most / 4 ? now : 0;
}

static void report(struct weft__findings *findings, const struct overlap *o, uint32_t at_once)
{
	const struct weft_model *model = findings->story->model;
	const uint64_t since = o->starts[0], until = o->starts[o->count - 1];
	const struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_PILING_UP,
		WEFT_SEVERITY_WARNING, at_once, (struct weft__case){o->last, since, until});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, model, o->timer, 36);
	weft__story_words_add(w, " begins one ");
	weft__story_words_add_task(w, model, o->last, 28);
	weft__story_words_add(w, " after the other");
	w = weft__story_clause(&s, 6);
	weft__story_words_add(w, ": %" PRIu32 " run at once", at_once);
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, ", and take ");
	weft__story_words_add_length(w, o->last_ns);
	weft__story_words_add(w, ", at first ");
	weft__story_words_add_length(w, o->first_ns);
	weft__story_find(findings, &problem, at_once, &s);
}

static void look_at_timer(struct weft__findings *findings, uint32_t timer)
{
	const struct weft_story *story = findings->story;
	const struct weft__edge_list made = weft__story_edges_made(story, timer);
	struct overlap o = {.timer = timer};
	o.starts = malloc(4 * ((size_t)made.count + 1) * sizeof(*o.starts));
	if (!o.starts) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	o.ends = o.starts + 2 * ((size_t)made.count + 1);
	find_tasks(&o, findings, made);
	const uint32_t at_once = o.count >= FIRED_MIN ? count_at_once(&o) : 0;
	if (at_once >= AT_ONCE && o.ended >= ENDED_MIN && o.last_ns / LONGER >= o.first_ns)
		report(findings, &o, at_once);
	free(o.starts);
}

void weft__story_find_overlaps(struct weft__findings *findings)
{
	const struct weft_tasks *t = &findings->story->model->tasks;
	for (uint32_t task = 0; task < t->count; task++)
		if (t->kind[task] == WEFT_KIND_TIMER &&
			t->end_activation[task] - t->first_activation[task] >= FIRED_MIN)
			look_at_timer(findings, task);
}
