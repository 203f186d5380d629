/* SPDX-License-Identifier: ISC
 *
 * Spans of tasks, and those inside of tasks.
 */
#include <weft/otlp.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "otlp/remarks.h"
#include "otlp/zipkin.h"

static const struct weft_trace_buffer *buffer_of(const struct weft_model *model, uint32_t task)
{
	return weft_trace_buffer_at(model->buffers, model->buffer_count, model->tasks.buffer[task]);
}

/* ---- How it ended ---- */

static bool has_ended(const struct weft_model *model, uint32_t task)
{
	return model->tasks.flags[task] & WEFT_TASK_RESOLVED;
}

static void set_end(
	const struct weft_model *model, struct weft__otlp_span *span, bool is_unfinished)
{
	weft__otlp_span_set_end(span, buffer_of(model, span->task), is_unfinished,
		model->tasks.outcome[span->task] == WEFT_OUTCOME_UNKNOWN);
}

/* `room` has place for the sentence about a program that was killed. */
static void find_error(
	const struct weft_model *model, struct weft__otlp_span *span, char *room, size_t size)
{
	weft__otlp_span_set_error(span, buffer_of(model, span->task), model->tasks.outcome[span->task],
		weft_model_string(model, model->tasks.message[span->task]), room, size);
}

/* ---- One span ---- */

static const char *kind_name(const struct weft_model *model, uint32_t task)
{
	const char *name = weft_model_kind_name(model, model->tasks.kind[task]);
	return name ? name : "task";
}

static void write_about(struct weft__otlp_writer *w, uint32_t task, bool is_inferred)
{
	const struct weft_model *model = w->model;
	const struct weft_tasks *tasks = &model->tasks;
	struct weft__otlp_about about = {
		.kind = kind_name(model, task),
		.outcome = weft_outcome_key(tasks->outcome[task]),
		.category = weft_model_category_name(model, weft_model_category(model, task)),
		.knows_running = true,
		.running_ns = weft_model_running_ns(model, task),
		.off_cpu_ns = weft_model_off_cpu_ns(model, task),
		.is_inferred = is_inferred,
	};
	if (tasks->first_activation[task] != tasks->end_activation[task]) {
		const struct weft_trace_thread *thread =
			&model->threads[model->activations.thread[tasks->first_activation[task]]];
		about.thread = thread->name;
		about.tid = thread->tid;
	}
	weft__otlp_span_about(w, &about);
}

/* False if the span is left out, or complete, or there is an error. */
static bool begin_span(struct weft__otlp_writer *w, const struct weft__otlp_plan *plan,
	const struct weft__otlp_span *span, int *ret_error)
{
	const uint32_t buffer = w->model->tasks.buffer[span->task];
	*ret_error = 0;
	if (span->is_pending && w->options.pending == WEFT_OTLP_PENDING_NONE) {
		w->summary.pending++;
		return false;
	}
	if (w->options.format != WEFT_OTLP_ZIPKIN) {
		*ret_error = weft__otlp_span_begin(w, span, buffer);
		return !*ret_error;
	}
	*ret_error = weft__otlp_writer_open(w, buffer);
	if (*ret_error)
		return false;
	w->count++;
	w->summary.spans++;
	weft__otlp_write_zipkin(w, plan, span);
	*ret_error = w->encoder.text.error;
	return false;
}

/* ---- Contexts ---- */

/* The flags of a span whose trace has an id that was made here: "sampled" and "random". */
static uint8_t own_flags(const struct weft_model *model, uint32_t task)
{
	return weft__otlp_is_random(buffer_of(model, task)) ? 3 : 1;
}

static void set_context(const struct weft__otlp_plan *plan,
	const struct weft__otlp_context *context, struct weft__otlp_span *span)
{
	span->trace = context->trace;
	span->id = context->span;
	span->parent = context->parent;
	span->state = context->state;
	span->flags = context->flags;
	span->has_remote_parent =
		context->parent && weft__otlp_is_remote(&plan->contexts,
							   plan->model->tasks.buffer[span->task], context->parent);
}

/* The flags of a trace that a context began are those of all its spans. */
static void set_flags(
	const struct weft__otlp_plan *plan, uint32_t shown, struct weft__otlp_span *span)
{
	const struct weft__otlp_context *context =
		shown == WEFT_NONE ? NULL : weft__otlp_plan_context(plan, plan->root[shown]);
	span->flags = context ? context->flags : own_flags(plan->model, span->task);
}

/* ---- Spans of tasks ---- */

static struct weft__otlp_span describe_task(const struct weft__otlp_plan *plan, uint32_t task)
{
	const struct weft_model *model = plan->model;
	const uint32_t parent = weft__otlp_plan_parent(plan, task);
	struct weft__otlp_span span = {
		.task = task,
		.task_id = model->tasks.id[task],
		.knows_remote = true,
		.start = model->tasks.start[task],
		.end = model->tasks.end[task],
		.trace = weft__otlp_plan_trace(plan, task),
		.id = weft__otlp_plan_span(plan, task),
		.parent = parent == WEFT_NONE ? 0 : weft__otlp_plan_span(plan, parent),
		.name = weft_model_string(model, model->tasks.label[task]),
		.is_of_task = true,
		.has_remote_parent =
			parent != WEFT_NONE && model->tasks.buffer[parent] != model->tasks.buffer[task],
	};
	if (!span.name.size)
		span.name = (struct weft_slice){kind_name(model, task), strlen(kind_name(model, task))};
	const struct weft__otlp_context *context = weft__otlp_plan_context(plan, task);
	set_flags(plan, task, &span);
	if (context)
		set_context(plan, context, &span);
	set_end(model, &span, !has_ended(model, task));
	return span;
}

static int write_task(struct weft__otlp_writer *w, const struct weft__otlp_plan *plan,
	const struct weft__otlp_span *span)
{
	int error;
	if (!begin_span(w, plan, span, &error))
		return error;
	write_about(w, span->task, plan->is_inferred[span->task]);
	weft__otlp_write_events(w, plan, span->task);
	weft__otlp_write_links(w, plan, span->task);
	weft__otlp_span_status(w, span);
	weft__otlp_end(&w->encoder);
	return w->encoder.text.error;
}

/* ---- Spans in tasks ---- */

#define DEPTHS 256

/* The innermost span of each depth while a task's spans are visited from the last end to the first:
 * a span comes after the one around it. */
struct inner {
	uint64_t id[DEPTHS]; /* 0: none */
	struct weft__otlp_trace_id trace[DEPTHS];
	uint64_t start[DEPTHS];
	uint32_t number[DEPTHS];
	uint32_t *twins; /* by span */
	size_t room;
};

/* Twins have one depth and one start. The first one to end has the number 0, as in a stream. */
static int number_twins(
	struct inner *inner, const struct weft_model *model, uint32_t task, uint32_t count)
{
	const struct weft__column column = {&inner->twins, sizeof(*inner->twins)};
	int error = weft__columns_reserve(&column, 1, &inner->room, count);
	memset(inner->number, 0, sizeof(inner->number));
	for (uint32_t i = 0; !error && i < count; i++) {
		const struct weft_span span = weft_model_span(model, task, i);
		const uint8_t depth = span.depth;
		const bool is_twin = inner->number[depth] && inner->start[depth] == span.start;
		inner->twins[i] = is_twin ? inner->number[depth] : 0;
		inner->number[depth] = inner->twins[i] + 1;
		inner->start[depth] = span.start;
	}
	return error;
}

/* Without a span around it, it is in the one of its task; without that, it is a root. */
static void place_inner(const struct weft__otlp_plan *plan, const struct inner *inner,
	uint8_t depth, struct weft__otlp_span *span)
{
	const uint32_t task = plan->shown[span->task];
	set_flags(plan, task, span);
	if (depth > 0 && inner->id[depth - 1]) {
		span->parent = inner->id[depth - 1];
		span->trace = inner->trace[depth - 1];
	} else if (task != WEFT_NONE) {
		span->parent = weft__otlp_plan_span(plan, task);
		span->trace = weft__otlp_plan_trace(plan, task);
	} else {
		span->trace = weft__otlp_trace_of(span->id, weft__otlp_plan_seed(plan, span->task));
	}
}

/* The context that the program gave to the span comes before all that. */
static void set_inner_context(
	const struct weft__otlp_plan *plan, const struct weft_span *found, struct weft__otlp_span *span)
{
	struct weft__otlp_context context;
	if (weft__otlp_context_of_span(plan->model, span->task, found, &context))
		set_context(plan, &context, span);
}

static int write_inner(struct weft__otlp_writer *w, const struct weft__otlp_plan *plan,
	const struct weft__otlp_span *span)
{
	int error;
	if (!begin_span(w, plan, span, &error))
		return error;
	weft__otlp_span_status(w, span);
	weft__otlp_end(&w->encoder);
	return w->encoder.text.error;
}

static int write_inners(struct weft__otlp_writer *w, const struct weft__otlp_plan *plan,
	uint32_t task, struct inner *inner)
{
	const struct weft_model *model = w->model;
	const uint32_t count = weft_model_span_count(model, task);
	const uint64_t seed = weft__otlp_plan_seed(plan, task);
	char room[128];
	if (count == 0)
		return 0;
	int error = number_twins(inner, model, task, count);
	memset(inner->id, 0, sizeof(inner->id));
	for (uint32_t i = count; !error && i > 0; i--) {
		const struct weft_span found = weft_model_span(model, task, i - 1);
		struct weft__otlp_span span = {.task = task,
			.task_id = model->tasks.id[task],
			.knows_remote = true,
			.start = found.start,
			.end = found.end,
			.name = weft_model_string(model, found.name)};
		span.id = weft__otlp_inner_id(
			weft__otlp_task_id(model, task, seed), &found, inner->twins[i - 1], seed);
		place_inner(plan, inner, found.depth, &span);
		set_inner_context(plan, &found, &span);
		inner->id[found.depth] = span.id;
		inner->trace[found.depth] = span.trace;
		/* A span that ends with a task that has not ended was not ended by the program. */
		set_end(model, &span,
			found.is_open || (!has_ended(model, task) && found.end >= model->tasks.end[task]));
		find_error(model, &span, room, sizeof(room));
		error = write_inner(w, plan, &span);
	}
	return error;
}

/* ---- All spans ---- */

static int write_all(struct weft__otlp_writer *w, const struct weft__otlp_plan *plan)
{
	struct inner *inner = calloc(1, sizeof(*inner));
	char room[128];
	int error = inner ? 0 : WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; !error && i < w->model->tasks.count; i++) {
		const uint32_t task = plan->order[i];
		if (plan->shown[task] == task) {
			struct weft__otlp_span span = describe_task(plan, task);
			find_error(w->model, &span, room, sizeof(room));
			error = write_task(w, plan, &span);
		}
		if (!error)
			error = write_inners(w, plan, task, inner);
	}
	if (inner)
		free(inner->twins);
	free(inner);
	return error ? error : weft__otlp_writer_flush(w);
}

WEFT__EXPORT const char *weft_otlp_pending_name(enum weft_otlp_pending pending)
{
	static const char *const names[] = {"none", "omit-end", "logfire"};
	return (unsigned)pending < WEFT_OTLP_PENDINGS ? names[pending] : NULL;
}

WEFT__EXPORT int weft_otlp_write_spans(const struct weft_model *model,
	const struct weft_otlp_options *options, const struct weft_otlp_sink *sink,
	struct weft_otlp_summary *ret_summary)
{
	struct weft__otlp_writer writer;
	struct weft__otlp_plan plan;
	int error = weft__otlp_writer_init(&writer, model, options, sink, WEFT_OTLP_TRACES);
	if (error)
		return error;
	error = weft__otlp_plan_init(&plan, model, writer.options.folds);
	if (!error)
		error = write_all(&writer, &plan);
	writer.summary.folded = plan.folded;
	weft__otlp_plan_finish(&plan);
	weft__otlp_writer_finish(&writer);
	if (!error)
		*ret_summary = writer.summary;
	return error;
}
