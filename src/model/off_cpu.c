/* SPDX-License-Identifier: ISC
 *
 * The time in which a thread had no processor though a task ran on it. An event says how much of
 * the time since the activation began, or since the event before it, that was.
 */

#include "base/array.h"
#include "base/export.h"
#include "base/search.h"
#include "model/builder.h"
#include "model/live.h"

static int add_row(
	struct off_cpu_columns *o, uint32_t task, uint32_t thread, uint64_t start, uint64_t end)
{
	const struct weft__column columns[] = {
		{&o->start, sizeof(*o->start)},
		{&o->end, sizeof(*o->end)},
		{&o->ns, sizeof(*o->ns)},
		{&o->task, sizeof(*o->task)},
		{&o->thread, sizeof(*o->thread)},
	};
	int error = weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &o->capacity, o->count + (size_t)1);
	if (error)
		return error;
	o->start[o->count] = start;
	o->end[o->count] = end;
	o->task[o->count] = task;
	o->thread[o->count++] = thread;
	return 0;
}

/* If the task ended before the thread left it, the loss may have come after that: what is certain
 * is only what exceeds the time since the end. */
int weft__model_builder_off_cpu(
	void *builder, uint32_t task, uint32_t thread, uint64_t start, uint64_t ns)
{
	struct weft_model_builder *b = builder;
	uint64_t now = b->state.now;
	bool has_ended = b->state.tasks.flags[task] & WEFT_TASK_RESOLVED;
	uint64_t end = has_ended && b->tasks.end[task] < now ? b->tasks.end[task] : now;
	if (end <= start || ns <= now - end)
		return 0;
	ns -= now - end;
	int error = add_row(&b->off_cpu, task, thread, start, end);
	if (!error)
		b->off_cpu.ns[b->off_cpu.count - 1] = ns < end - start ? ns : end - start;
	return error;
}

int weft__model_builder_freeze_off_cpu(struct weft_model_builder *b, struct weft_model *m)
{
	struct off_cpu_columns *o = &b->off_cpu;
	const struct weft__column columns[] = {{&o->start, sizeof(*o->start)},
		{&o->end, sizeof(*o->end)}, {&o->ns, sizeof(*o->ns)}, {&o->thread, sizeof(*o->thread)}};
	uint32_t *first;
	if (o->count == 0)
		return 0;
	int error =
		weft__model_group_columns(&o->task, o->count, b->state.tasks.count, columns, 4, &first);
	if (!first)
		return error;
	m->off_cpu =
		(struct weft_off_cpu){o->count, o->start, o->end, o->ns, o->thread, first, first + 1};
	*o = (struct off_cpu_columns){0};
	return error;
}

int weft__model_builder_show_off_cpu(const struct weft_model_builder *b, struct weft_model *m)
{
	const struct weft__pool *pool = &b->live->pools[WEFT__POOL_OFF_CPU];
	if (pool->rows == 0)
		return 0;
	m->off_cpu = (struct weft_off_cpu){.count = pool->rows,
		.start = pool->column[0],
		.end = pool->column[1],
		.ns = pool->column[2],
		.thread = pool->column[3]};
	return weft__model_pool_copy_ranges(pool, &m->off_cpu.first, &m->off_cpu.last);
}

WEFT__EXPORT uint64_t weft_model_off_cpu_ns(const struct weft_model *m, uint32_t task)
{
	const struct weft_off_cpu *o = &m->off_cpu;
	uint64_t sum = 0;
	for (uint32_t i = o->first ? o->first[task] : 0, end = o->first ? o->last[task] : 0; i < end;
		 i++)
		sum += o->ns[i];
	return sum;
}

WEFT__EXPORT uint32_t weft_model_off_cpu_after(
	const struct weft_model *m, uint32_t task, uint64_t time_ns)
{
	const struct weft_off_cpu *o = &m->off_cpu;
	if (!o->first)
		return 0;
	return weft__search(o->end, o->first[task], o->last[task], weft__is_not_more_u64, time_ns);
}

/* The part of a loss that cannot have come outside of a time. */
static uint64_t certain_part(
	const struct weft_off_cpu *o, uint32_t i, uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t before = o->start[i] < start_ns ? start_ns - o->start[i] : 0;
	const uint64_t after = o->end[i] > end_ns ? o->end[i] - end_ns : 0;
	return o->ns[i] > before + after ? o->ns[i] - before - after : 0;
}

WEFT__EXPORT uint64_t weft_model_off_cpu_between(
	const struct weft_model *m, uint32_t task, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	const struct weft_off_cpu *o = &m->off_cpu;
	uint32_t i = weft_model_off_cpu_after(m, task, start_ns), last = o->first ? o->last[task] : i;
	uint64_t sum = 0;
	for (; i < last && o->start[i] < end_ns; i++)
		if (o->thread[i] == thread)
			sum += certain_part(o, i, start_ns, end_ns);
	return sum;
}

WEFT__EXPORT uint64_t weft_model_thread_off_cpu(
	const struct weft_model *m, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	const struct weft_off_cpu *o = &m->off_cpu;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < o->count; i++)
		if (o->thread[i] == thread && o->start[i] < end_ns && o->end[i] > start_ns)
			sum += certain_part(o, i, start_ns, end_ns);
	return sum;
}
