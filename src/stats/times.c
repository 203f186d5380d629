/* SPDX-License-Identifier: ISC
 *
 * How tasks spend their time within the range. The time between two activations is a gap:
 *
 *     ──▇▇▇▇──────────────────────┬─────────▇▇▇▇▇▇──
 *       runs     waiting       woken  delay   runs
 *
 * In rows of threads, a gap belongs to the thread on which the task runs after it.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "model/holds.h"
#include "stats/stats.h"
#include "story/wake.h"

/* The activations of a task by start. In the model, those of a task that runs on several threads at
 * once are in the order of their ends. */
struct runs {
	uint32_t *order, *scratch;
	uint32_t first, count;
	size_t capacity;
	bool is_ordered; /* `order` is valid; otherwise they are in order already */
};

/* The row that the time of an activation belongs to, and the time up to it. */
static struct weft_stats_row *row_of(
	const struct weft__stats_making *m, const struct weft__stats_item *item, uint32_t activation)
{
	const uint32_t thread = m->model->activations.thread[activation];
	return &m->rows[m->row_of_thread ? m->row_of_thread[thread] : item->row];
}

void weft__stats_add_gap(const struct weft__stats_making *m, const struct weft__stats_item *item,
	uint64_t start, uint32_t activation)
{
	struct weft_stats_row *row = row_of(m, item, activation);
	struct weft_story_wake wake;
	const uint64_t end = m->model->activations.start[activation];
	uint64_t ready = end;
	if (!weft__stats_overlap(start, end, m->from, m->to))
		return;
	if (m->story->index &&
		weft__story_woken_for(m->story, item->member.task, activation, start, &wake) &&
		wake.time < end)
		ready = wake.time;
	uint64_t waiting = weft__stats_overlap(start, ready, m->from, m->to);
	uint64_t delay = weft__stats_overlap(ready, end, m->from, m->to);
	row->waiting_ns = weft__ns_add(row->waiting_ns, waiting);
	row->delay_ns = weft__ns_add(row->delay_ns, delay);
	if (delay > row->max_delay_ns) {
		row->max_delay_ns = delay;
		row->most_delayed = item->member.task;
	}
}

static bool are_in_order(const uint64_t *start, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (start[i] < start[i - 1])
			return false;
	return true;
}

static int runs_load(struct runs *r, const struct weft_model *model, uint32_t task)
{
	const struct weft__column columns[] = {
		{&r->order, sizeof(*r->order)}, {&r->scratch, sizeof(*r->scratch)}};
	r->first = model->tasks.first_activation[task];
	r->count = model->tasks.end_activation[task] - r->first;
	const uint64_t *start = r->count ? model->activations.start + r->first : NULL;
	r->is_ordered = !are_in_order(start, r->count);
	if (!r->is_ordered)
		return 0;
	int error = weft__columns_reserve(columns, 2, &r->capacity, r->count);
	if (!error)
		weft__order_by_u64(start, r->order, r->scratch, r->count);
	return error;
}

/* True for locks, conditions and the like: tasks wait for them, they themselves do not. */
static bool is_waited_for(const struct weft_model *model, uint32_t task)
{
	const unsigned kind = model->tasks.kind[task];
	return weft__model_is_resource(kind) || kind == WEFT_KIND_CONDITION;
}

static void measure(const struct weft__stats_making *m, const struct weft__stats_item *item,
	const struct runs *runs)
{
	const struct weft_activations *a = &m->model->activations;
	struct weft_stats_row *row = &m->rows[item->row];
	uint64_t known = item->member.start; /* up to here its time is accounted for */
	for (uint32_t k = 0; k < runs->count; k++) {
		uint32_t i = runs->first + (runs->is_ordered ? runs->order[k] : k);
		row = row_of(m, item, i);
		row->running_ns = weft__ns_add(
			row->running_ns, weft__stats_overlap(a->start[i], a->end[i], m->from, m->to));
		if (a->start[i] > known)
			weft__stats_add_gap(m, item, known, i);
		known = a->end[i] > known ? a->end[i] : known;
	}
	if (is_waited_for(m->model, item->member.task))
		return;
	row->waiting_ns =
		weft__ns_add(row->waiting_ns, weft__stats_overlap(known, item->member.end, m->from, m->to));
}

int weft__stats_measure_tasks(struct weft__stats_making *m, uint32_t first, uint32_t last)
{
	struct runs runs = {0};
	int error = 0;
	for (uint32_t i = first; i < last && !error; i++) {
		error = runs_load(&runs, m->model, m->items[i].member.task);
		if (!error)
			measure(m, &m->items[i], &runs);
	}
	free(runs.order);
	free(runs.scratch);
	return error;
}
