/* SPDX-License-Identifier: ISC
 *
 * Makes a row for each key, and sorts what ended by row and length: all lengths are sorted at once,
 * and then distributed to the rows by counting.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/index.h"
#include "base/sort.h"
#include "stats/stats.h"

struct grouping {
	struct weft__stats_making *making;
	struct weft__index by_key;
	size_t capacity; /* of the rows */
};

static uint64_t hash_row(const struct weft__hash_key *key, const void *owner, uint32_t row)
{
	return weft__hash_u64(key, ((const struct weft__stats_making *)owner)->rows[row].key);
}

static int add_row(struct grouping *g, uint64_t key, uint32_t example)
{
	struct weft__stats_making *m = g->making;
	const struct weft__column column = {&m->rows, sizeof(*m->rows)};
	int error = weft__columns_reserve(&column, 1, &g->capacity, m->row_count + (size_t)1);
	if (error)
		return error;
	m->rows[m->row_count++] =
		(struct weft_stats_row){.key = key, .example = example, .most_delayed = WEFT_NONE};
	return weft__index_add(&g->by_key, m->row_count - 1, hash_row, m);
}

/* Finds the row of a key, or adds it. */
static int find_row(struct grouping *g, uint64_t key, uint32_t example, uint32_t *ret_row)
{
	const struct weft__stats_making *m = g->making;
	struct weft__index *index = &g->by_key;
	uint32_t slot = weft__index_start(index, weft__hash_u64(&index->key, key)), row;
	while ((row = index->slots[slot]) != WEFT__INDEX_EMPTY) {
		if (m->rows[row].key == key) {
			*ret_row = row;
			return 0;
		}
		slot = weft__index_next(index, slot);
	}
	*ret_row = m->row_count;
	return add_row(g, key, example);
}

/* A task's time belongs to the threads that it ran on, so each of these has a row. */
static int find_threads(struct grouping *g)
{
	struct weft__stats_making *m = g->making;
	const struct weft_tasks *tasks = &m->model->tasks;
	int error = 0;
	if (m->by != WEFT_STATS_BY_THREAD)
		return 0;
	m->row_of_thread = malloc((m->model->thread_count + (size_t)1) * sizeof(*m->row_of_thread));
	if (!m->row_of_thread)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < m->model->thread_count; i++)
		m->row_of_thread[i] = WEFT_NONE;
	for (uint32_t i = 0; i < m->item_count && !error; i++) {
		const uint32_t task = m->items[i].member.task;
		for (uint32_t k = tasks->first_activation[task]; k < tasks->end_activation[task] && !error;
			 k++) {
			const uint32_t thread = m->model->activations.thread[k];
			if (m->row_of_thread[thread] == WEFT_NONE)
				error = find_row(g, thread, task, &m->row_of_thread[thread]);
		}
	}
	return error;
}

static int find_rows(struct weft__stats_making *m)
{
	struct grouping g = {.making = m};
	int error = weft__index_init(&g.by_key);
	if (error)
		return error;
	for (uint32_t i = 0; i < m->item_count && !error; i++) {
		struct weft__stats_item *item = &m->items[i];
		error = find_row(&g, item->key, item->member.task, &item->row);
		if (error)
			break;
		struct weft_stats_row *row = &m->rows[m->items[i].row];
		row->count++;
		row->ended += m->items[i].is_ended;
		row->by_outcome[m->items[i].outcome]++;
		if (row->example == WEFT_NONE)
			row->example = m->items[i].member.task;
	}
	if (!error)
		error = find_threads(&g);
	weft__index_finish(&g.by_key);
	return error;
}

/* Lists the ended items, the shortest first; returns their number. */
static uint32_t order_ended(
	const struct weft__stats_making *m, uint64_t *lengths, uint32_t *order, uint32_t *scratch)
{
	uint32_t count = 0;
	uint32_t *ended = scratch + m->item_count;
	for (uint32_t i = 0; i < m->item_count; i++) {
		if (!m->items[i].is_ended)
			continue;
		lengths[count] = m->items[i].member.end - m->items[i].member.start;
		ended[count++] = i;
	}
	weft__order_by_u64(lengths, order, scratch, count);
	for (uint32_t i = 0; i < count; i++)
		order[i] = ended[order[i]];
	return count;
}

static void deal_out(struct weft__stats_making *m, const uint32_t *order, uint32_t count)
{
	uint32_t sum = 0;
	for (uint32_t row = 0; row < m->row_count; row++) {
		m->rows[row].first = sum;
		sum += m->rows[row].ended;
		m->rows[row].ended = 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct weft__stats_item *item = &m->items[order[i]];
		struct weft_stats_row *row = &m->rows[item->row];
		row->lifetime_ns = weft__ns_add(row->lifetime_ns, item->member.end - item->member.start);
		m->members[row->first + row->ended++] = item->member;
	}
}

/* The length that `percent` of the members do not exceed: that of number floor((n - 1) percent /
 * 100), counted from 0. So it is always the length of one of them. */
static uint64_t percentile(
	const struct weft__stats_making *m, const struct weft_stats_row *row, unsigned percent)
{
	if (!row->ended)
		return 0;
	uint32_t number = (uint32_t)((uint64_t)(row->ended - 1) * percent / 100);
	const struct weft_stats_member *member = &m->members[row->first + number];
	return member->end - member->start;
}

static void set_percentiles(struct weft__stats_making *m)
{
	for (uint32_t i = 0; i < m->row_count; i++) {
		struct weft_stats_row *row = &m->rows[i];
		row->quickest_ns = percentile(m, row, 0);
		row->p50_ns = percentile(m, row, 50);
		row->p90_ns = percentile(m, row, 90);
		row->p99_ns = percentile(m, row, 99);
		row->max_ns = percentile(m, row, 100);
	}
}

int weft__stats_group(struct weft__stats_making *m)
{
	size_t room = m->item_count + (size_t)1;
	uint64_t *lengths = malloc(room * sizeof(*lengths));
	uint32_t *order = malloc(3 * room * sizeof(*order));
	m->members = malloc(room * sizeof(*m->members));
	int error = lengths && order && m->members ? find_rows(m) : WEFT_ERROR_MEMORY;
	if (!error) {
		uint32_t count = order_ended(m, lengths, order, order + room);
		deal_out(m, order, count);
		set_percentiles(m);
	}
	free(lengths);
	free(order);
	return error;
}
