/* SPDX-License-Identifier: ISC
 *
 * A range of a trace that is read without the rest of it. What was not read is dark time: nothing
 * can be concluded from events that are not there.
 *
 * A decoder that left packets out gives some events from before the range, first which task each
 * thread runs. They are true but incomplete, so a task that only they show may have ended since.
 * Tasks that no event introduces began before all of these.
 */
#include "base/export.h"
#include "model/builder.h"
#include "model/ends.h"

void weft__model_begin_range(
	struct weft_model_builder *b, const struct weft__read_range *range, uint64_t first_ns)
{
	const uint64_t first = first_ns < range->start ? first_ns : range->start;
	const uint64_t ago =
		2 * WEFT__UNFINISHED_NS; /* a task that is only named ends before `first` */
	b->before = (struct weft__unread){range->trace_start, range->start};
	b->known_ns = range->has_state ? range->start : 0;
	b->state.has_begun = true;
	b->state.start = b->state.now = first > ago ? first - ago : 0;
}

void weft__model_end_range(
	struct weft_model_builder *b, const struct weft__read_range *range, uint64_t last_ns)
{
	const uint64_t end = last_ns > range->end ? last_ns : weft__ns_add(range->end, 1);
	if (!b->state.has_begun)
		b->state.start = b->state.now = range->trace_start;
	b->after = (struct weft__unread){range->end, end};
}

WEFT__EXPORT void weft_model_builder_set_part(
	struct weft_model_builder *builder, const struct weft_model_part *part)
{
	const struct weft__read_range range = {
		.trace_start = part->trace_start_ns,
		.start = part->start_ns,
		.end = part->end_ns,
		.has_state = true,
	};
	builder->is_part = true;
	if (range.start > range.trace_start)
		weft__model_begin_range(builder, &range, range.start);
	if (range.end <= part->trace_end_ns)
		weft__model_end_range(builder, &range, part->trace_end_ns);
}

void weft__model_range_leave_vague(struct weft_model_builder *b)
{
	for (uint32_t i = 0; i < b->state.thread_count && weft__model_is_unread(&b->before); i++)
		if (b->state.threads[i].is_idle_vague)
			b->state.threads[i].running = WEFT__RUNS_UNKNOWN;
}

uint64_t weft__model_trace_start(const struct weft_model_builder *b)
{
	return weft__model_is_unread(&b->before) ? b->before.start : b->state.start;
}

void weft__model_range_stop(const struct weft_model_builder *b, struct weft__ends *ends)
{
	const uint64_t stop = b->after.start;
	for (uint32_t i = 0; i < ends->threads && weft__model_is_unread(&b->after); i++)
		if (!ends->of_thread[i] || ends->of_thread[i] > stop)
			ends->of_thread[i] = stop;
}

bool weft__model_range_goes_on(const struct weft_model_builder *b, uint64_t end_ns)
{
	const bool is_over = !b->is_part && end_ns && end_ns <= b->after.start;
	return weft__model_is_unread(&b->after) && !is_over;
}

bool weft__model_range_hides_begin(const struct weft_model_builder *b, uint32_t task)
{
	const unsigned begun = WEFT_TASK_CREATED | WEFT_TASK_FROM_RUNDOWN;
	return weft__model_is_unread(&b->before) && !(b->state.tasks.flags[task] & begun);
}

void weft__model_range_describe(
	const struct weft_model_builder *b, struct weft_model_summary *summary)
{
	if (!weft__model_is_range(b))
		return;
	summary->read_start = weft__model_is_unread(&b->before) ? b->before.end : summary->start;
	summary->read_end =
		weft__model_is_unread(&b->after) ? b->after.start : weft__ns_add(summary->end, 1);
	if (summary->read_end < summary->read_start)
		summary->read_end = summary->read_start;
}
