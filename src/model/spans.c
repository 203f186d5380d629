/* SPDX-License-Identifier: ISC
 *
 * Spans that have begun and not ended: a stack for each task and for each thread. The stacks are
 * lists in one array, and the tasks' column is only as long as the last task that had a span, so
 * that a trace without spans pays nothing.
 */
#include "base/array.h"
#include "model/state.h"

static int reserve_tasks(struct weft__state *s)
{
	struct weft__state_spans *spans = &s->spans;
	const struct weft__column column = {&spans->innermost, sizeof(*spans->innermost)};
	int error = weft__columns_reserve(&column, 1, &spans->task_capacity, s->tasks.count);
	while (!error && spans->task_count < s->tasks.count)
		spans->innermost[spans->task_count++] = WEFT_NONE;
	return error;
}

/* The top of the stack of a task, or of a thread if there is no task. NULL: nothing has begun
 * there. */
static uint32_t *top_of(struct weft__state *s, uint32_t task, uint32_t thread)
{
	if (task != WEFT_NONE)
		return task < s->spans.task_count ? &s->spans.innermost[task] : NULL;
	return thread < s->thread_count ? &s->threads[thread].innermost : NULL;
}

uint32_t weft__model_state_innermost(const struct weft__state *s, uint32_t task)
{
	return task < s->spans.task_count ? s->spans.innermost[task] : WEFT_NONE;
}

/* Takes an unused element of the array. */
static int allocate(struct weft__state_spans *spans, uint32_t *ret_span)
{
	const struct weft__column column = {&spans->list, sizeof(*spans->list)};
	if (spans->unused) {
		*ret_span = spans->unused - 1;
		spans->unused = spans->list[*ret_span].outer;
		return 0;
	}
	int error = weft__columns_reserve(&column, 1, &spans->capacity, spans->count + (size_t)1);
	if (!error)
		*ret_span = spans->count++;
	return error;
}

static void release(struct weft__state_spans *spans, uint32_t span)
{
	spans->list[span].outer = spans->unused;
	spans->unused = span + 1;
}

static int push(
	struct weft__state_spans *spans, uint32_t *top, uint64_t since, const struct weft__fact *fact)
{
	uint32_t span, outer = *top;
	int error = allocate(spans, &span);
	if (error)
		return error;
	uint32_t depth = outer == WEFT_NONE ? 0 : spans->list[outer].depth + 1;
	spans->list[span] = (struct weft__state_span){since, fact->text, outer, depth, fact->flag};
	*top = span;
	return 0;
}

static int pop(struct weft__state *s, uint32_t *top, uint32_t task, uint32_t thread)
{
	uint32_t span = *top;
	const struct weft__state_span ended = s->spans.list[span];
	*top = ended.outer;
	release(&s->spans, span);
	return s->listener->span ? s->listener->span(s->context, task, thread, &ended) : 0;
}

int weft__model_state_begin(struct weft__state *s, uint32_t task, const struct weft__fact *fact)
{
	int error =
		task == WEFT_NONE ? weft__model_state_reserve_thread(s, fact->thread) : reserve_tasks(s);
	if (error)
		return error;
	return push(&s->spans, top_of(s, task, fact->thread), s->now, fact);
}

int weft__model_state_end(
	struct weft__state *s, uint32_t task, const struct weft__fact *fact, bool *ret_had_begun)
{
	uint32_t *top = top_of(s, task, fact->thread);
	*ret_had_begun = top && *top != WEFT_NONE;
	return *ret_had_begun ? pop(s, top, task, fact->thread) : 0;
}

/* Reverses the list, so that the outermost span comes first. */
static uint32_t reverse(struct weft__state_spans *spans, uint32_t span)
{
	uint32_t reversed = WEFT_NONE;
	while (span != WEFT_NONE) {
		uint32_t outer = spans->list[span].outer;
		spans->list[span].outer = reversed;
		reversed = span;
		span = outer;
	}
	return reversed;
}

/* Reports each span of the stack as ended, the innermost first. */
static int report_span(struct weft__state *s, uint32_t task)
{
	int error = 0;
	for (uint32_t i = s->spans.innermost[task]; !error && i != WEFT_NONE;
		 i = s->spans.list[i].outer)
		if (s->listener->span)
			error = s->listener->span(s->context, task, WEFT_NONE, &s->spans.list[i]);
	return error;
}

int weft__model_state_move_spans(struct weft__state *s, uint32_t task, uint32_t target)
{
	struct weft__state_spans *spans = &s->spans;
	if (weft__model_state_innermost(s, task) == WEFT_NONE)
		return 0;
	int error = reserve_tasks(s);
	if (!error)
		error = report_span(s, task);
	if (error)
		return error;
	uint32_t span = reverse(spans, spans->innermost[task]);
	spans->innermost[task] = WEFT_NONE;
	while (span != WEFT_NONE) {
		uint32_t next = spans->list[span].outer, outer = spans->innermost[target];
		spans->list[span].outer = outer;
		spans->list[span].depth = outer == WEFT_NONE ? 0 : spans->list[outer].depth + 1;
		spans->list[span].since = s->now;
		spans->innermost[target] = span;
		span = next;
	}
	return 0;
}

void weft__model_state_forget_spans(struct weft__state *s, const uint32_t *new_index, uint32_t kept)
{
	struct weft__state_spans *spans = &s->spans;
	uint32_t count = 0;
	for (uint32_t task = 0; task < spans->task_count; task++) {
		uint32_t span = spans->innermost[task];
		if (new_index[task] != WEFT_NONE) {
			spans->innermost[new_index[task]] = span;
			count = new_index[task] + 1;
			continue;
		}
		while (span != WEFT_NONE) {
			uint32_t outer = spans->list[span].outer;
			release(spans, span);
			span = outer;
		}
	}
	spans->task_count = count < kept ? count : kept;
}
