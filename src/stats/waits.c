/* SPDX-License-Identifier: ISC
 *
 * Lists the waits of tasks of which the trace says where in the code they wait. A wait lasts from
 * the end of an activation to the begin of the next one. It counts if its calls were noted, or if
 * the trace shows for which task it is: then the calls are not known.
 *
 * A key has the string of the calls, and the kind of what the task waits for.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "stats/stats.h"

/* The rows of the model's stacks by task, in the order of time. */
struct noted {
	uint32_t *first, *rows; /* task t has rows[first[t]] up to first[t + 1] */
};

/* Counts, sums up and deals out: `first` is one task ahead until the end. */
static int noted_init(struct noted *noted, const struct weft_model *model)
{
	const struct weft_stacks *s = &model->stacks;
	const size_t tasks = model->tasks.count;
	noted->first = calloc(tasks + 2, sizeof(*noted->first));
	noted->rows = malloc((s->count + (size_t)1) * sizeof(*noted->rows));
	if (!noted->first || !noted->rows)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < s->count; i++)
		noted->first[s->task[i] + (size_t)2]++;
	for (size_t task = 2; task < tasks + 2; task++)
		noted->first[task] += noted->first[task - 1];
	for (uint32_t i = 0; i < s->count; i++)
		noted->rows[noted->first[s->task[i] + (size_t)1]++] = i;
	return 0;
}

static void noted_finish(struct noted *noted)
{
	free(noted->first);
	free(noted->rows);
}

struct listing {
	struct weft__stats_making *making;
	size_t capacity; /* of the items */
	uint32_t task;
	const uint32_t *rows; /* of the model's stacks: at, … end - 1 */
	uint32_t at, end;
};

/* A wait while it is listed. */
struct stay {
	uint64_t start, end;
	uint32_t text; /* WEFT_NONE: its calls are not known */
	bool is_over;
};

/* The task for which it waits. A sleep before a wait may look like a part of that wait. */
static uint32_t source_of(const struct listing *l, const struct stay *stay)
{
	struct weft_story_wait wait;
	if (!weft_story_wait_at(l->making->story, l->task, stay->start, &wait))
		return WEFT_NONE;
	const bool is_its_own = stay->text == WEFT_NONE && stay->is_over ? wait.until <= stay->end
																	 : wait.since == stay->start;
	return is_its_own ? wait.source : WEFT_NONE;
}

static int add_wait(struct listing *l, const struct stay *wait)
{
	struct weft__stats_making *m = l->making;
	const struct weft__column column = {&m->items, sizeof(*m->items)};
	const uint32_t source = source_of(l, wait);
	if (wait->end < wait->start || (wait->text == WEFT_NONE && source == WEFT_NONE) ||
		wait->start >= m->to || wait->end < m->from)
		return 0;
	const bool is_ended = wait->is_over && (m->to == UINT64_MAX || wait->end < m->to);
	const unsigned kind = source == WEFT_NONE ? WEFT__STATS_NO_KIND : m->model->tasks.kind[source];
	int error = weft__columns_reserve(&column, 1, &l->capacity, m->item_count + (size_t)1);
	if (error)
		return error;
	m->items[m->item_count++] = (struct weft__stats_item){
		.member = {wait->start, wait->end, l->task},
		.key = (uint64_t)wait->text << 16 | kind,
		.outcome = is_ended ? WEFT_OUTCOME_FULFILLED : WEFT_OUTCOME_UNFINISHED,
		.is_ended = is_ended,
	};
	return 0;
}

/* Lists the waits between two activations. There are several if the task ran for less than a tick
 * of the clock: calls that were noted later begin another wait. */
static int list_gap(struct listing *l, struct stay gap)
{
	const struct weft_stacks *s = &l->making->model->stacks;
	int error = 0;
	for (; l->at < l->end && s->time[l->rows[l->at]] < gap.end && !error; l->at++) {
		const uint64_t time = s->time[l->rows[l->at]];
		if (time < gap.start)
			continue;
		if (time > gap.start)
			error = add_wait(l,
				&(struct stay){.start = gap.start, .end = time, .text = gap.text, .is_over = true});
		gap.start = time;
		gap.text = s->text[l->rows[l->at]];
	}
	return error ? error : add_wait(l, &gap);
}

static int list_waits_of(struct listing *l)
{
	const struct weft_tasks *t = &l->making->model->tasks;
	const struct weft_activations *a = &l->making->model->activations;
	const uint32_t first = t->first_activation[l->task], last = t->end_activation[l->task];
	struct stay gap = {.start = 0, .text = WEFT_NONE, .is_over = true};
	int error = 0;
	for (uint32_t i = first; i < last && !error; i++) {
		gap.end = a->start[i];
		error = list_gap(l, gap);
		gap.start = a->end[i];
	}
	gap.end = t->end[l->task];
	gap.is_over = t->flags[l->task] & WEFT_TASK_RESOLVED;
	return error ? error : list_gap(l, gap);
}

int weft__stats_list_waits(struct weft__stats_making *m)
{
	struct noted noted;
	int error = noted_init(&noted, m->model);
	struct listing l = {.making = m, .rows = noted.rows};
	for (; l.task < m->model->tasks.count && !error; l.task++) {
		l.at = noted.first[l.task];
		l.end = noted.first[l.task + (size_t)1];
		if (l.at == l.end || weft__stats_is_hidden(m, l.task))
			continue;
		error = list_waits_of(&l);
	}
	noted_finish(&noted);
	return error;
}

static void measure(struct weft__stats_making *m, const struct weft__stats_item *item)
{
	const struct weft_activations *a = &m->model->activations;
	const struct weft_tasks *t = &m->model->tasks;
	const struct weft_stats_member *wait = &item->member;
	const uint32_t last = t->end_activation[wait->task];
	const uint32_t next =
		weft__search(a->start, t->first_activation[wait->task], last, weft__is_less_u64, wait->end);
	struct weft_stats_row *row = &m->rows[item->row];
	if (next < last && a->start[next] == wait->end)
		weft__stats_add_gap(m, item, wait->start, next);
	else
		row->waiting_ns = weft__ns_add(
			row->waiting_ns, weft__stats_overlap(wait->start, wait->end, m->from, m->to));
}

int weft__stats_measure_waits(struct weft__stats_making *m, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i < last; i++)
		measure(m, &m->items[i]);
	return 0;
}
