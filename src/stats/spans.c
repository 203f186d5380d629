/* SPDX-License-Identifier: ISC
 *
 * Lists the spans that are alive in the range, and finds how long their tasks ran in them.
 *
 * Spans of a task nest, so that many may cover the same activations. Sums over the starts and ends
 * of the activations before a time answer for each span in O(log n).
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "stats/stats.h"

static bool is_alive(const struct weft__stats_making *m, const struct weft_span *span)
{
	return span->start < m->to && span->end >= m->from;
}

static int add_span(struct weft__stats_making *m, size_t *capacity, struct weft__labels *names,
	uint32_t task, const struct weft_span *span)
{
	const struct weft__column column = {&m->items, sizeof(*m->items)};
	/* Also of spans that are not in the range, so that each range has the same keys. */
	int error = weft__layout_labels_add(names, span->name);
	if (error || !is_alive(m, span) || weft__stats_is_hidden(m, task))
		return error;
	error = weft__columns_reserve(&column, 1, capacity, m->item_count + (size_t)1);
	if (error)
		return error;
	bool is_ended = !span->is_open && (m->to == UINT64_MAX || span->end < m->to);
	m->items[m->item_count++] = (struct weft__stats_item){
		.member = {span->start, span->end, task},
		.key = names->class_of[span->name],
		.outcome = is_ended ? WEFT_OUTCOME_FULFILLED : WEFT_OUTCOME_UNFINISHED,
		.is_ended = is_ended,
		.is_at_most = span->is_at_most,
	};
	return 0;
}

int weft__stats_list_spans(struct weft__stats_making *m)
{
	const struct weft_model *model = m->model;
	struct weft__labels names;
	size_t capacity = 0;
	int error = weft__layout_labels_init(&names, model, weft_model_string_count(model));
	if (error)
		return error;
	for (uint32_t task = 0; task < model->tasks.count && !error; task++)
		for (uint32_t i = 0, all = weft_model_span_count(model, task); i < all && !error; i++) {
			struct weft_span span = weft_model_span(model, task, i);
			error = add_span(m, &capacity, &names, task, &span);
		}
	weft__layout_labels_finish(&names);
	return error;
}

/* The starts and ends of a task's activations, sorted, with the sum of those before each. The sums
 * may wrap around: differences of them are exact modulo 2^64. */
struct running {
	uint64_t *starts, *ends, *start_sums, *end_sums, *scratch;
	uint32_t count;
	size_t capacity;
};

static void running_finish(struct running *r)
{
	free(r->starts);
	free(r->ends);
	free(r->start_sums);
	free(r->end_sums);
	free(r->scratch);
}

static void add_up(struct running *r, uint64_t *times, uint64_t *sums)
{
	weft__sort_u64(times, r->scratch, r->count);
	sums[0] = 0;
	for (uint32_t i = 0; i < r->count; i++)
		sums[i + 1] = sums[i] + times[i];
}

static int running_load(struct running *r, const struct weft_model *model, uint32_t task)
{
	const struct weft__column columns[] = {
		{&r->starts, sizeof(*r->starts)},
		{&r->ends, sizeof(*r->ends)},
		{&r->start_sums, sizeof(*r->start_sums)},
		{&r->end_sums, sizeof(*r->end_sums)},
		{&r->scratch, sizeof(*r->scratch)},
	};
	uint32_t first = model->tasks.first_activation[task];
	r->count = model->tasks.end_activation[task] - first;
	int error = weft__columns_reserve(columns, 5, &r->capacity, r->count + (size_t)1);
	if (error)
		return error;
	for (uint32_t i = 0; i < r->count; i++) {
		r->starts[i] = model->activations.start[first + i];
		r->ends[i] = model->activations.end[first + i];
	}
	add_up(r, r->starts, r->start_sums);
	add_up(r, r->ends, r->end_sums);
	return 0;
}

/* How long the task ran before a time. */
static uint64_t running_until(const struct running *r, uint64_t time)
{
	uint32_t begun = weft__search(r->starts, 0, r->count, weft__is_less_u64, time);
	uint32_t over = weft__search(r->ends, 0, r->count, weft__is_less_u64, time);
	return begun * time - r->start_sums[begun] - (over * time - r->end_sums[over]);
}

static void measure(
	const struct weft__stats_making *m, const struct weft__stats_item *item, struct running *r)
{
	uint64_t start = item->member.start > m->from ? item->member.start : m->from;
	uint64_t length = weft__stats_overlap(item->member.start, item->member.end, m->from, m->to);
	uint64_t ran = length;
	uint32_t task = item->member.task;
	/* Spans of threads and tracks are work of their own. */
	if (task != WEFT_NONE && m->model->tasks.kind[task] != WEFT_KIND_TRACK && length)
		ran = running_until(r, start + length) - running_until(r, start);
	struct weft_stats_row *row = &m->rows[item->row];
	row->at_most += item->is_at_most;
	row->running_ns = weft__ns_add(row->running_ns, ran);
	row->waiting_ns = weft__ns_add(row->waiting_ns, length > ran ? length - ran : 0);
}

int weft__stats_measure_spans(struct weft__stats_making *m, uint32_t first, uint32_t last)
{
	struct running running = {0};
	uint32_t loaded = WEFT_NONE;
	int error = 0;
	for (uint32_t i = first; i < last && !error; i++) {
		uint32_t task = m->items[i].member.task;
		if (task != loaded && task != WEFT_NONE)
			error = running_load(&running, m->model, task);
		loaded = task;
		if (!error)
			measure(m, &m->items[i], &running);
	}
	running_finish(&running);
	return error;
}
