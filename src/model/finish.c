/* SPDX-License-Identifier: ISC
 *
 * The rules for the end of a trace: tasks without an end get one, and all are counted.
 */
#include <stdlib.h>

#include "base/export.h"
#include "model/builder.h"
#include "model/live.h"

/* If it is unknown when its program ended, an unfinished task is drawn until this long after its
 * last sign of life. */
static const uint64_t UNFINISHED_NS = 1000;

/* When the records of the trace's buffers ended; 0: unknown. */
struct ends {
	uint64_t *of_buffer, *of_thread;
	uint32_t buffers, threads;
};

/* A damaged time must not stretch the trace. */
static uint64_t end_of_record(
	const struct weft_model_builder *b, const struct weft_trace_buffer *buffer)
{
	const struct weft__span *span = &b->state.span;
	uint64_t end = buffer->end_ns;
	return span->any && end && end >= span->first && end - span->first <= WEFT__SPAN_NS ? end : 0;
}

static int find_ends(const struct weft_model_builder *b,
	const struct weft_trace_description *description, struct ends *ret_ends)
{
	struct ends ends = {.buffers = description->buffer_count, .threads = description->thread_count};
	ends.of_buffer = calloc(ends.buffers + (size_t)ends.threads + 1, sizeof(*ends.of_buffer));
	if (!ends.of_buffer)
		return WEFT_ERROR_MEMORY;
	ends.of_thread = ends.of_buffer + ends.buffers;
	for (uint32_t i = 0; i < ends.buffers; i++)
		ends.of_buffer[i] = end_of_record(b, &description->buffers[i]);
	for (uint32_t i = 0; i < ends.threads; i++) {
		uint32_t buffer = description->threads[i].buffer;
		ends.of_thread[i] = buffer < ends.buffers ? ends.of_buffer[buffer] : 0;
	}
	*ret_ends = ends;
	return 0;
}

static uint64_t end_of_task(
	const struct weft_model_builder *b, const struct ends *ends, uint32_t task)
{
	uint32_t buffer = b->identities.buffer[task];
	return buffer < ends->buffers ? ends->of_buffer[buffer] : 0;
}

static void end_task(
	struct weft_model_builder *b, const struct ends *ends, uint32_t task, uint32_t message)
{
	struct weft__state_tasks *t = &b->state.tasks;
	uint64_t start = b->tasks.start[task], known = end_of_task(b, ends, task);
	uint64_t *end = &b->tasks.end[task];
	uint64_t last = *end > start ? *end : start; /* its last sign of life */
	bool is_expected = t->flags[task] & WEFT_TASK_EXPECTED;
	if (is_expected) {
		t->flags[task] |= WEFT_TASK_FAILED | WEFT_TASK_NEVER_RESOLVED;
		t->outcome[task] = WEFT_OUTCOME_NEVER_RESOLVED;
		t->message[task] = message;
	}
	if (known)
		*end = known > last ? known : last;
	else
		*end = is_expected ? b->state.now : weft__ns_add(last, UNFINISHED_NS);
}

static int end_tasks(struct weft_model_builder *b, const struct ends *ends)
{
	static const char never[] = "never resolved";
	uint32_t message;
	int error = weft__strings_intern(&b->texts.strings, never, sizeof(never) - 1, &message);
	for (uint32_t task = 0; !error && task < b->state.tasks.count; task++)
		if (!(b->state.tasks.flags[task] & WEFT_TASK_RESOLVED))
			end_task(b, ends, task, message);
	return error;
}

/* A task that no create event introduced starts with the trace. */
static void start_tasks(struct weft_model_builder *b)
{
	for (uint32_t task = 0; task < b->state.tasks.count; task++)
		if (!(b->state.tasks.flags[task] & WEFT_TASK_CREATED))
			b->tasks.start[task] = b->state.start;
}

/* A task known from a rundown starts when it was created, but not before the trace. */
static void start_from_rundown(struct weft_model_builder *b)
{
	for (uint32_t i = 0; i < b->creations.count; i++) {
		uint32_t task = b->creations.list[i].task;
		if (!(b->state.tasks.flags[task] & WEFT_TASK_CREATED))
			b->tasks.start[task] = b->creations.start[i];
	}
}

/* Removes the flags that only the state needs and adds those of the model. */
static void settle_flags(struct weft_model_builder *b)
{
	const uint8_t moment = WEFT__TASK_WAITS | WEFT__TASK_ASKED;
	uint8_t *flags = b->state.tasks.flags;
	for (uint32_t task = 0; task < b->state.tasks.count; task++)
		flags[task] = (uint8_t)((flags[task] & ~moment) | (b->tasks.remarks[task] & TASK_NOTED));
}

static void count_preexisting(struct weft_model_builder *b)
{
	const uint8_t *flags = b->state.tasks.flags;
	for (uint32_t task = 0; task < b->state.tasks.count; task++)
		b->summary.preexisting += !(flags[task] & WEFT_TASK_CREATED);
	for (uint32_t i = 0; i < b->creations.count; i++) {
		bool is_created = flags[b->creations.list[i].task] & WEFT_TASK_CREATED;
		b->summary.preexisting -= !is_created && b->creations.list[i].time >= b->state.start;
	}
}

static void count_outcomes(struct weft_model_builder *b)
{
	const struct weft__state_tasks *t = &b->state.tasks;
	for (uint32_t task = 0; task < t->count; task++)
		b->summary.by_outcome[t->outcome[task]]++;
}

static int finish_tasks(struct weft_model_builder *b, const struct ends *ends)
{
	const uint64_t last = b->state.now;
	/* Facts that were made but never taken may have named more tasks: forget those. */
	int error = weft__identities_cut(&b->identities, b->state.tasks.count);
	if (!error)
		error = weft__state_close(&b->state, ends->of_thread, ends->threads);
	if (error)
		return error;
	weft__builder_touch_spans(b);
	settle_flags(b);
	start_tasks(b);
	error = end_tasks(b, ends);
	if (!error)
		error = weft__builder_end_spans(b, ends->of_thread, ends->threads);
	start_from_rundown(b);
	count_preexisting(b);
	count_outcomes(b);
	b->summary.events = b->state.events;
	b->summary.start = b->state.start;
	b->summary.last = last;
	b->summary.end = b->state.now;
	for (uint32_t i = 0; i < ends->buffers; i++)
		if (ends->of_buffer[i] > b->summary.end)
			b->summary.end = ends->of_buffer[i];
	return error;
}

/* Frees what only snapshots need, and makes the columns the builder's own again. */
static int stop_sharing(struct weft_model_builder *b)
{
	weft__live_destroy(b->live);
	b->live = NULL;
	int error = weft__identities_own(&b->identities);
	return error ? error : weft__builder_own_edges(&b->edges);
}

int weft__model_finish(struct weft_model_builder *b,
	const struct weft_trace_description *description, const struct weft_help *help,
	struct weft_model **ret_model)
{
	struct weft__model *model = calloc(1, sizeof(*model));
	if (!model)
		return WEFT_ERROR_MEMORY;
	struct ends ends = {0};
	int error = stop_sharing(b);
	if (!error)
		error = find_ends(b, description, &ends);
	if (!error)
		error = finish_tasks(b, &ends);
	free(ends.of_buffer);
	if (!error)
		error = weft__builder_freeze(b, description, help, model);
	if (error)
		weft_model_destroy(&model->public);
	else
		*ret_model = &model->public;
	return error;
}

WEFT__EXPORT int weft_model_builder_finish(struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft_model **ret_model)
{
	return weft__model_finish(b, description, NULL, ret_model);
}
