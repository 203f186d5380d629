/* SPDX-License-Identifier: ISC
 *
 * A heap: the children of entry i are 2i + 1 and 2i + 2.
 */
#include "format/weft/follow/queue.h"

#include <stdlib.h>

void weft__format_queue_finish(struct weft__queue *q)
{
	free(q->entries);
	*q = (struct weft__queue){0};
}

bool weft__format_queue_comes_before(
	const struct weft__queue_entry *a, const struct weft__queue_entry *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence;
	return a->offset < b->offset;
}

/* The earlier child of entry i, if it comes before `entry`; else `count`. */
static uint32_t child_before(
	const struct weft__queue *q, uint32_t i, const struct weft__queue_entry *entry)
{
	uint32_t child = 2 * i + 1;
	if (child >= q->count)
		return q->count;
	if (child + 1 < q->count &&
		weft__format_queue_comes_before(&q->entries[child + 1], &q->entries[child]))
		child++;
	return weft__format_queue_comes_before(&q->entries[child], entry) ? child : q->count;
}

static void find_second(struct weft__queue *q)
{
	q->second_ns = UINT64_MAX;
	for (uint32_t i = 1; i < q->count && i <= 2; i++)
		if (q->entries[i].time_ns < q->second_ns)
			q->second_ns = q->entries[i].time_ns;
}

void weft__format_queue_settle_first(struct weft__queue *q)
{
	struct weft__queue_entry moving = q->entries[0];
	uint32_t i = 0;
	for (uint32_t child; (child = child_before(q, i, &moving)) < q->count; i = child)
		q->entries[i] = q->entries[child];
	q->entries[i] = moving;
	find_second(q);
}

void weft__format_queue_push(struct weft__queue *q, struct weft__queue_entry entry)
{
	uint32_t i = q->count++;
	for (; i > 0 && weft__format_queue_comes_before(&entry, &q->entries[(i - 1) / 2]);
		 i = (i - 1) / 2)
		q->entries[i] = q->entries[(i - 1) / 2];
	q->entries[i] = entry;
	find_second(q);
}

void weft__format_queue_remove_first(struct weft__queue *q)
{
	q->entries[0] = q->entries[--q->count];
	if (q->count)
		weft__format_queue_settle_first(q);
}

void weft__format_queue_settle(struct weft__queue *q)
{
	uint32_t count = q->count;
	q->count = 0;
	for (uint32_t i = 0; i < count; i++)
		weft__format_queue_push(q, q->entries[i]);
}
