/* SPDX-License-Identifier: ISC
 *
 * One task runs on a thread at a time. A period is written down when it ends: that is when it is
 * known what the running task became meanwhile, and whether it had ended before it was left.
 */
#include "base/array.h"
#include "model/builder.h"

enum {
	THREADS_MAX = 1 << 20,
};

static int reserve_thread(struct weft_model_builder *b, uint32_t thread)
{
	int error;
	if (thread < b->thread_count)
		return 0;
	if (thread >= THREADS_MAX)
		return WEFT_ERROR_LIMIT;
	error = weft__array_resize(&b->threads, thread + (size_t)1, sizeof(*b->threads));
	if (error)
		return error;
	while (b->thread_count <= thread)
		b->threads[b->thread_count++] = (struct thread_state){
			.running = RUNNING_UNKNOWN,
			.reason = WEFT_NONE,
			.interrupted = RUNNING_UNKNOWN,
			.gc_reason = WEFT_NONE,
		};
	return 0;
}

static int add_band(struct weft_model_builder *b, const struct weft_band_period *period)
{
	const struct weft__column column = {&b->bands.list, sizeof(*b->bands.list)};
	int error;
	if (period->start >= period->end)
		return 0;
	error = weft__columns_reserve(&column, 1, &b->bands.capacity, b->bands.count + (size_t)1);
	if (!error)
		b->bands.list[b->bands.count++] = *period;
	return error;
}

static int reserve_activation(struct activation_columns *a)
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
	struct weft_model_builder *b, uint32_t thread, uint32_t task, uint64_t start, uint64_t end)
{
	struct activation_columns *a = &b->activations;
	int error = a->count < a->capacity ? 0 : reserve_activation(a);
	if (error)
		return error;
	a->start[a->count] = start;
	a->end[a->count] = end;
	a->thread[a->count] = thread;
	a->task[a->count] = task;
	a->count++;
	return 0;
}

/* The thread ran `task`, and what it became one after the other, from `start` until now. */
static int close_activation(
	struct weft_model_builder *b, uint32_t thread, uint32_t task, uint64_t start)
{
	const struct task_columns *t = &b->tasks;
	for (;;) {
		bool ended = t->flags[task] & WEFT_TASK_RESOLVED;
		uint64_t end = ended && t->end[task] < b->now ? t->end[task] : b->now;
		if (start < end) {
			int error = add_activation(b, thread, task, start, end);
			if (error)
				return error;
			weft__task_touch(b, task);
			start = end;
		}
		if (t->becomes[task] == WEFT_NONE)
			return 0;
		task = t->becomes[task];
	}
}

static int close_period(struct weft_model_builder *b, uint32_t thread)
{
	const struct thread_state *state = &b->threads[thread];
	if (state->running == RUNNING_UNKNOWN)
		return 0;
	if (state->running == RUNNING_IDLE)
		return add_band(b, &(struct weft_band_period){
							   state->since, b->now, thread, state->reason, WEFT_BAND_IDLE});
	return close_activation(b, thread, state->running, state->since);
}

static bool runs_already(
	struct weft_model_builder *b, const struct thread_state *state, uint32_t running)
{
	if (state->running >= RUNNING_UNKNOWN)
		return running == state->running;
	return weft__task_forward(b, state->running) == running;
}

/* Ends the present period and begins another. */
static int begin_period(
	struct weft_model_builder *b, uint32_t thread, uint32_t running, uint32_t reason)
{
	struct thread_state *state = &b->threads[thread];
	int error = close_period(b, thread);
	state->running = running;
	state->reason = reason;
	state->since = b->now;
	return error;
}

int weft__thread_run(
	struct weft_model_builder *b, uint32_t thread, uint32_t running, uint32_t reason)
{
	int error = reserve_thread(b, thread);
	if (error)
		return error;
	b->threads[thread].in_idle_band = false;
	if (runs_already(b, &b->threads[thread], running))
		return 0;
	return begin_period(b, thread, running, reason);
}

/* An idle band puts aside what ran, be it idleness without a reason; at its end that goes on,
 * unless a switch came between. */
static int idle_band(struct weft_model_builder *b, uint32_t thread, bool begin, uint32_t reason)
{
	struct thread_state *state = &b->threads[thread];
	if (begin) {
		if (!state->in_idle_band)
			state->interrupted = state->running;
		state->in_idle_band = true;
		return begin_period(b, thread, RUNNING_IDLE, reason);
	}
	if (!state->in_idle_band)
		return 0;
	state->in_idle_band = false;
	return begin_period(b, thread, state->interrupted, WEFT_NONE);
}

static int gc_band(struct weft_model_builder *b, uint32_t thread, bool begin, uint32_t reason)
{
	struct thread_state *state = &b->threads[thread];
	if (begin && !state->in_gc_band) {
		state->gc_since = b->now;
		state->gc_reason = reason;
	}
	if (!begin && state->in_gc_band) {
		state->in_gc_band = false;
		return add_band(b, &(struct weft_band_period){
							   state->gc_since, b->now, thread, state->gc_reason, WEFT_BAND_GC});
	}
	state->in_gc_band = begin;
	return 0;
}

int weft__thread_band(struct weft_model_builder *b, const struct weft__fact *fact)
{
	int error = reserve_thread(b, fact->thread);
	if (error)
		return error;
	if (fact->band == WEFT_BAND_GC)
		return gc_band(b, fact->thread, fact->flag, fact->text);
	return idle_band(b, fact->thread, fact->flag, fact->text);
}

int weft__thread_gc(struct weft_model_builder *b, const struct weft__fact *fact)
{
	uint64_t length = fact->value > 0 ? (uint64_t)fact->value : 0;
	uint64_t past = b->now - b->summary.start;
	int error = reserve_thread(b, fact->thread);
	if (error)
		return error;
	if (length > past)
		length = past; /* it began before the trace */
	return add_band(b,
		&(struct weft_band_period){b->now - length, b->now, fact->thread, WEFT_NONE, WEFT_BAND_GC});
}

int weft__threads_close(struct weft_model_builder *b)
{
	for (uint32_t thread = 0; thread < b->thread_count; thread++) {
		int error = close_period(b, thread);
		if (!error && b->threads[thread].in_gc_band)
			error = gc_band(b, thread, false, WEFT_NONE);
		if (error)
			return error;
	}
	return 0;
}
