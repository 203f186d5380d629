/* SPDX-License-Identifier: ISC
 *
 * Activations and bands. A period becomes a row when it ends, because only then it is known which
 * tasks the running task became meanwhile, and whether it ended before the thread left it.
 */
#include <stdlib.h>

#include "base/array.h"
#include "model/builder.h"

void weft__model_presence_widen(struct weft_presence *presence, uint64_t start, uint64_t end)
{
	if (start < presence->start)
		presence->start = start;
	if (end > presence->end)
		presence->end = end;
}

struct weft_presence *weft__model_presences_copy(
	const struct presences *presences, uint32_t threads)
{
	struct weft_presence *copy = malloc((threads + (size_t)1) * sizeof(*copy));
	for (uint32_t i = 0; copy && i < threads; i++)
		copy[i] =
			i < presences->count ? presences->list[i] : (struct weft_presence){.start = UINT64_MAX};
	return copy;
}

__attribute__((noinline)) static int reserve_presence(struct presences *p, uint32_t thread)
{
	int error = weft__array_resize(&p->list, thread + (size_t)1, sizeof(*p->list));
	while (!error && p->count <= thread)
		p->list[p->count++] = (struct weft_presence){.start = UINT64_MAX};
	return error;
}

static int note_presence(
	struct weft_model_builder *b, uint32_t thread, uint64_t start, uint64_t end)
{
	int error = thread < b->presences.count ? 0 : reserve_presence(&b->presences, thread);
	if (!error)
		weft__model_presence_widen(&b->presences.list[thread], start, end);
	return error;
}

static int add_band(struct weft_model_builder *b, const struct weft_band_period *period)
{
	const struct weft__column column = {&b->bands.list, sizeof(*b->bands.list)};
	if (period->start >= period->end)
		return 0;
	int error = note_presence(b, period->thread, period->start, period->end);
	if (error || b->is_summary)
		return error;
	error = weft__columns_reserve(&column, 1, &b->bands.capacity, b->bands.count + (size_t)1);
	if (!error)
		b->bands.list[b->bands.count++] = *period;
	return error;
}

__attribute__((noinline)) static int reserve_activation(struct activation_columns *a)
{
	const struct weft__column columns[] = {
		{&a->start, sizeof(*a->start)},
		{&a->end, sizeof(*a->end)},
		{&a->thread, sizeof(*a->thread)},
		{&a->task, sizeof(*a->task)},
	};
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &a->capacity, a->count + (size_t)1);
}

static int add_activation(
	void *builder, uint32_t thread, uint32_t task, uint64_t start, uint64_t end)
{
	struct weft_model_builder *b = builder;
	struct activation_columns *a = &b->activations;
	int error = a->count < a->capacity ? 0 : reserve_activation(a);
	if (!error)
		error = note_presence(b, thread, start, end);
	if (error || (b->is_summary && (b->state.tasks.flags[task] & WEFT_TASK_RESOLVED)))
		return error;
	a->start[a->count] = start;
	a->end[a->count] = end;
	a->thread[a->count] = thread;
	a->task[a->count] = task;
	a->count++;
	return 0;
}

int weft__model_builder_divide(const struct weft_model_builder *b, uint32_t task,
	const struct weft_band_period *period, weft__model_run_taker *take, void *context)
{
	const struct weft__state_tasks *t = &b->state.tasks;
	uint64_t start = period->start, now = period->end;
	for (;;) {
		bool ended = t->flags[task] & WEFT_TASK_RESOLVED;
		uint64_t end = ended && b->tasks.end[task] < now ? b->tasks.end[task] : now;
		if (start < end) {
			int error = take(context, period->thread, task, start, end);
			if (error)
				return error;
			start = end;
		}
		if (t->becomes[task] == WEFT_NONE)
			return 0;
		task = t->becomes[task];
	}
}

int weft__model_builder_period(void *builder, uint32_t thread)
{
	struct weft_model_builder *b = builder;
	const struct weft__state_thread *state = &b->state.threads[thread];
	const struct weft_band_period period = {
		state->since, b->state.now, thread, state->reason, WEFT_BAND_IDLE};
	if (state->running != WEFT__RUNS_IDLE)
		return weft__model_builder_divide(b, state->running, &period, add_activation, b);
	return add_band(b, &period);
}

int weft__model_builder_gc(void *builder, uint32_t thread, uint64_t start, uint32_t reason)
{
	struct weft_model_builder *b = builder;
	return add_band(
		b, &(struct weft_band_period){start, b->state.now, thread, reason, WEFT_BAND_GC});
}
