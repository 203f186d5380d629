/* SPDX-License-Identifier: ISC
 *
 * When the records of a trace's buffers ended.
 *
 * A program that was replaced by exec, or killed, cannot store its end. A watcher stores when the
 * process has ended, which after an exec is too late, and it does not see processes that live
 * shortly. So a record also ends where the next one of its process begins, and at its last event if
 * nothing is known of its end, but other processes were recorded.
 */
#include "model/ends.h"

#include <stdlib.h>
#include <string.h>

/* The times of a buffer's first and last known events. */
struct lifetime {
	uint64_t first, last;
};

static void widen(struct lifetime *lifetime, uint64_t first, uint64_t last)
{
	if (first < lifetime->first)
		lifetime->first = first;
	if (last > lifetime->last)
		lifetime->last = last;
}

/* Thread numbers that no event has named begin with the trace, and run nothing. */
static void widen_by_threads(const struct weft_model_builder *b,
	const struct weft_trace_description *description, struct lifetime *lifetimes)
{
	for (uint32_t i = 0; i < description->thread_count && i < b->state.thread_count; i++) {
		const struct weft__state_thread *thread = &b->state.threads[i];
		uint32_t buffer = description->threads[i].buffer;
		if (buffer < description->buffer_count && thread->running != WEFT__RUNS_UNKNOWN)
			widen(&lifetimes[buffer], thread->since, thread->since);
	}
}

/* NULL without memory. */
static struct lifetime *find_lifetimes(
	const struct weft_model_builder *b, const struct weft_trace_description *description)
{
	const uint32_t buffers = description->buffer_count;
	struct lifetime *lifetimes = malloc((buffers + (size_t)1) * sizeof(*lifetimes));
	if (!lifetimes)
		return NULL;
	for (uint32_t i = 0; i < buffers; i++)
		lifetimes[i] = (struct lifetime){.first = UINT64_MAX};
	for (uint32_t task = 0; task < b->state.tasks.count; task++)
		if (b->identities.buffer[task] < buffers)
			widen(&lifetimes[b->identities.buffer[task]], b->tasks.start[task], b->tasks.end[task]);
	widen_by_threads(b, description, lifetimes);
	return lifetimes;
}

/* A damaged time must not stretch the trace. */
static uint64_t end_of_record(
	const struct weft_model_builder *b, const struct weft_trace_buffer *buffer)
{
	const struct weft__span *span = &b->state.span;
	uint64_t end = buffer->end_ns;
	return span->any && end && end >= span->first && end - span->first <= WEFT__SPAN_NS ? end : 0;
}

/* True if the program may have ended without storing when. */
static bool is_end_vague(const struct weft_trace_buffer *buffer)
{
	bool is_vague = buffer->ending == WEFT_ENDING_UNKNOWN || buffer->ending == WEFT_ENDING_GONE;
	return is_vague && buffer->pid && !buffer->guest;
}

static bool are_of_one_process(const struct weft_trace_buffer *a, const struct weft_trace_buffer *b)
{
	return a->pid == b->pid && !b->guest && memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) == 0;
}

/* When the next record of the buffer's process begins, or UINT64_MAX. Records that overlap are of
 * two copies of the recorder in one program, or of namespaces with the same process id. */
static uint64_t begin_of_next(const struct weft_trace_description *description,
	const struct lifetime *lifetimes, uint32_t buffer)
{
	const struct weft_trace_buffer *buffers = description->buffers;
	uint64_t next = UINT64_MAX;
	for (uint32_t i = 0; i < description->buffer_count; i++) {
		bool is_later = i != buffer && lifetimes[i].first >= lifetimes[buffer].last;
		if (is_later && are_of_one_process(&buffers[buffer], &buffers[i]) &&
			lifetimes[i].first < next)
			next = lifetimes[i].first;
	}
	return next;
}

static uint64_t find_end(const struct weft_model_builder *b,
	const struct weft_trace_description *description, const struct lifetime *lifetimes, uint32_t i)
{
	const struct weft_trace_buffer *buffer = &description->buffers[i];
	uint64_t end = end_of_record(b, buffer);
	/* A range alone does not show which event of a record is its first, and which its last. */
	if (!is_end_vague(buffer) || !lifetimes[i].last || weft__model_is_range(b))
		return end;
	uint64_t next = begin_of_next(description, lifetimes, i);
	if (next != UINT64_MAX)
		return end && end < next ? end : next;
	if (!end && description->buffer_count > 1)
		return weft__ns_add(lifetimes[i].last, WEFT__UNFINISHED_NS);
	return end;
}

int weft__model_ends_find(const struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft__ends *ret_ends)
{
	struct weft__ends ends = {
		.buffers = description->buffer_count, .threads = description->thread_count};
	struct lifetime *lifetimes = find_lifetimes(b, description);
	ends.of_buffer = calloc(ends.buffers + (size_t)ends.threads + 1, sizeof(*ends.of_buffer));
	if (!ends.of_buffer || !lifetimes) {
		free(ends.of_buffer);
		free(lifetimes);
		return WEFT_ERROR_MEMORY;
	}
	ends.of_thread = ends.of_buffer + ends.buffers;
	for (uint32_t i = 0; i < ends.buffers; i++)
		ends.of_buffer[i] = find_end(b, description, lifetimes, i);
	for (uint32_t i = 0; i < ends.threads; i++) {
		uint32_t buffer = description->threads[i].buffer;
		ends.of_thread[i] = buffer < ends.buffers ? ends.of_buffer[buffer] : 0;
	}
	free(lifetimes);
	*ret_ends = ends;
	return 0;
}

void weft__model_ends_finish(struct weft__ends *ends)
{
	free(ends->of_buffer);
	*ends = (struct weft__ends){0};
}

void weft__model_ends_store(const struct weft__ends *ends, struct weft_model *model)
{
	struct weft_trace_buffer *buffers = (struct weft_trace_buffer *)(uintptr_t)model->buffers;
	for (uint32_t i = 0; i < model->buffer_count && i < ends->buffers; i++)
		if (buffers[i].end_ns)
			buffers[i].end_ns = ends->of_buffer[i];
}
