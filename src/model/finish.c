/* SPDX-License-Identifier: ISC
 *
 * The rules for the end of a trace: tasks without an end get one, and all are counted.
 */
#include <stdlib.h>

#include "base/export.h"
#include "model/builder.h"
#include "model/dark.h"
#include "model/ends.h"
#include "model/live.h"

static uint64_t end_of_task(
	const struct weft_model_builder *b, const struct weft__ends *ends, uint32_t task)
{
	uint32_t buffer = b->identities.buffer[task];
	return buffer < ends->buffers ? ends->of_buffer[buffer] : 0;
}

/* The last sign of life of a task without an end. */
static uint64_t last_sign(const struct weft_model_builder *b, uint32_t task)
{
	uint64_t start = b->tasks.start[task], end = b->tasks.end[task];
	return end > start ? end : start;
}

/* An activation is a sign of life, as far as it is known that it went on. */
static void touch_activations(struct weft_model_builder *b)
{
	const struct activation_columns *a = &b->activations;
	const uint8_t *flags = b->state.tasks.flags;
	for (uint32_t i = 0; i < a->count; i++)
		if (!(flags[a->task[i]] & WEFT_TASK_RESOLVED) && b->tasks.end[a->task[i]] < a->end[i])
			b->tasks.end[a->task[i]] = a->end[i];
}

/* True if the task's end may be among the events that are missing. Then it lasts until the first of
 * these may have been. */
static bool end_in_the_dark(
	struct weft_model_builder *b, const struct weft__dark *dark, uint32_t task, uint64_t last)
{
	uint64_t begin = weft__model_dark_after(dark, b->identities.buffer[task], last);
	if (begin == UINT64_MAX && !weft__model_range_hides_begin(b, task))
		return false;
	uint64_t seen = weft__ns_add(last, WEFT__UNFINISHED_NS);
	b->state.tasks.outcome[task] = WEFT_OUTCOME_UNKNOWN;
	if (begin == UINT64_MAX)
		b->tasks.end[task] = seen;
	else if (begin == b->after.start && weft__model_is_unread(&b->after))
		b->tasks.end[task] = begin;
	else
		b->tasks.end[task] = begin > seen ? begin : seen;
	return true;
}

static void end_task(struct weft_model_builder *b, const struct weft__ends *ends,
	const struct weft__dark *dark, uint32_t task, uint32_t message, bool is_in_wait)
{
	struct weft__state_tasks *t = &b->state.tasks;
	uint64_t known = end_of_task(b, ends, task), last = last_sign(b, task);
	uint64_t *end = &b->tasks.end[task];
	bool is_expected = t->flags[task] & WEFT_TASK_EXPECTED;
	if (end_in_the_dark(b, dark, task, last))
		return;
	if (is_expected) {
		t->flags[task] |= WEFT_TASK_FAILED | WEFT_TASK_NEVER_RESOLVED;
		t->outcome[task] = WEFT_OUTCOME_NEVER_RESOLVED;
		t->message[task] = message;
	}
	uint64_t seen = weft__ns_add(last, WEFT__UNFINISHED_NS);
	if (known)
		*end = known > last ? known : last;
	else if (is_expected)
		*end = b->state.now;
	else
		*end = is_in_wait && b->state.now > seen ? b->state.now : seen;
}

static bool begins_wait(unsigned type)
{
	return type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_WAIT_ANY;
}

enum {
	IN_WAIT = 1 << 0,   /* it waits at the end, or is waited for */
	HAS_ACTED = 1 << 1, /* its acts before are no part of the wait any more */
};

/* Marks the tasks that wait when the trace ends, and those for which they wait: the sources of
 * their latest acts, if these are waits. */
static void mark_waits(struct weft_model_builder *b, uint8_t *marks)
{
	const struct edge_columns *e = &b->edges;
	const uint8_t *flags = b->state.tasks.flags;
	for (uint32_t i = e->count; i > 0; i--) {
		uint32_t from = weft__model_edge_actor(e, i - 1), to = e->to[i - 1];
		if (e->type[i - 1] == WEFT_EDGE_DROPPED || from == WEFT_NONE || (marks[from] & HAS_ACTED))
			continue;
		if (!begins_wait(e->type[i - 1]) || !(flags[from] & WEFT__TASK_WAITS)) {
			marks[from] |= HAS_ACTED;
			continue;
		}
		marks[from] |= IN_WAIT;
		marks[weft__model_state_forward(&b->state, to)] |= IN_WAIT;
	}
}

/* True if it is unknown when some program ended. Then a task that waits lives to the trace's end.
 */
static bool is_end_unknown(const struct weft__ends *ends)
{
	for (uint32_t i = 0; i < ends->buffers; i++)
		if (!ends->of_buffer[i])
			return true;
	return ends->buffers == 0;
}

/* Removes the flags that only the state needs and adds those of the model. */
static void settle_flags(struct weft_model_builder *b)
{
	const uint8_t passing = WEFT__TASK_WAITS | WEFT__TASK_ASKED;
	const uint8_t *remarks = b->tasks.remarks;
	uint8_t *flags = b->state.tasks.flags;
	for (uint32_t task = 0; task < b->state.tasks.count; task++)
		flags[task] =
			(uint8_t)((flags[task] & ~passing) | (remarks ? remarks[task] & TASK_NOTED : 0));
}

/* Marks need flags of the state, which are then removed. */
static int end_tasks(
	struct weft_model_builder *b, const struct weft__ends *ends, const struct weft__dark *dark)
{
	static const char never[] = "never resolved";
	uint32_t message;
	uint8_t *marks = calloc(b->state.tasks.count + (size_t)1, 1);
	int error = marks ? weft__strings_intern(&b->texts.strings, never, sizeof(never) - 1, &message)
					  : WEFT_ERROR_MEMORY;
	if (!error && !b->is_summary && is_end_unknown(ends))
		mark_waits(b, marks);
	settle_flags(b);
	for (uint32_t task = 0; !error && task < b->state.tasks.count; task++)
		if (!(b->state.tasks.flags[task] & WEFT_TASK_RESOLVED))
			end_task(b, ends, dark, task, message, marks[task] & IN_WAIT);
	free(marks);
	return error;
}

/* A track lasts to the end of its program's record, and has ended well. */
static void end_tracks(struct weft_model_builder *b, const struct weft__ends *ends)
{
	struct weft__state_tasks *t = &b->state.tasks;
	for (uint32_t i = 0; i < b->tracks.count; i++) {
		uint32_t task = b->tracks.lines[i].task;
		if (task >= t->count || t->flags[task] & (WEFT_TASK_RESOLVED | WEFT_TASK_EXPECTED) ||
			weft__model_range_goes_on(b, end_of_task(b, ends, task)))
			continue;
		t->flags[task] |= WEFT_TASK_RESOLVED;
		t->outcome[task] = WEFT_OUTCOME_FULFILLED;
		uint64_t known = end_of_task(b, ends, task), last = last_sign(b, task);
		b->tasks.end[task] = !known ? b->state.now : known > last ? known : last;
	}
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

static uint64_t end_of_trace(const struct weft_model_builder *b, const struct weft__ends *ends)
{
	uint64_t end = b->state.now > b->after.end ? b->state.now : b->after.end;
	for (uint32_t i = 0; i < ends->buffers; i++)
		if (ends->of_buffer[i] > end)
			end = ends->of_buffer[i];
	return end;
}

/* Applies the losses to the periods of threads, and finds the dark time, for the ends of tasks. */
static int find_dark(struct weft_model_builder *b, const struct weft_trace_description *description,
	const struct weft__ends *ends, struct weft__dark *ret_dark)
{
	int error = weft__model_dark_cut_periods(b, description);
	if (!error)
		error = weft__model_dark_find(
			description, ends, weft__model_trace_start(b), end_of_trace(b, ends), b, ret_dark);
	if (error)
		return error;
	b->dark = ret_dark->list;
	b->dark_count = ret_dark->count;
	return 0;
}

static int finish_tasks(struct weft_model_builder *b,
	const struct weft_trace_description *description, struct weft__ends *ends)
{
	const uint64_t last = b->state.now;
	struct weft__dark dark = {0};
	/* Facts that were made but never taken may have named more tasks: forget those. */
	int error = weft__model_identities_cut(&b->identities, b->state.tasks.count);
	weft__model_range_stop(b, ends);
	weft__model_range_leave_vague(b);
	if (!error)
		error = weft__model_state_close(&b->state, ends->of_thread, ends->threads);
	if (!error)
		error = find_dark(b, description, ends, &dark);
	if (error)
		return error;
	touch_activations(b);
	if (b->is_summary)
		weft__model_builder_drop_activations(b);
	weft__model_builder_touch_spans(b);
	start_tasks(b);
	end_tracks(b, ends);
	error = end_tasks(b, ends, &dark);
	if (!error && !b->is_summary)
		error = weft__model_builder_end_spans(b);
	weft__model_builder_name_tracks(
		b, b->state.tasks.count, b->state.tasks.kind, b->state.tasks.label);
	start_from_rundown(b);
	count_preexisting(b);
	count_outcomes(b);
	weft__model_builder_count_tracks(b, b->state.tasks.outcome, &b->summary);
	b->summary.events = b->state.events;
	b->summary.start = weft__model_trace_start(b);
	b->summary.last = last;
	b->summary.end = end_of_trace(b, ends);
	weft__model_range_describe(b, &b->summary);
	weft__model_context_count_finish(&b->contexts, &b->summary.contexts);
	return error;
}

/* Frees what only snapshots need, and makes the columns the builder's own again. */
static int stop_sharing(struct weft_model_builder *b)
{
	weft__model_live_destroy(b->live);
	b->live = NULL;
	int error = weft__model_identities_own(&b->identities);
	if (!error)
		error = weft__model_attributes_own(&b->texts.attributes);
	return error ? error : weft__model_builder_own_edges(&b->edges);
}

int weft__model_finish(struct weft_model_builder *b,
	const struct weft_trace_description *description, const struct weft_help *help,
	struct weft_model **ret_model)
{
	struct weft__model *model = calloc(1, sizeof(*model));
	if (!model)
		return WEFT_ERROR_MEMORY;
	struct weft__ends ends = {0};
	int error = stop_sharing(b);
	if (!error)
		error = weft__model_ends_find(b, description, &ends);
	if (!error)
		error = weft__model_builder_name_threads(b, description);
	if (!error)
		error = finish_tasks(b, description, &ends);
	if (!error)
		error = weft__model_builder_freeze(b, description, help, model);
	if (!error)
		weft__model_ends_store(&ends, &model->public);
	weft__model_ends_finish(&ends);
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
