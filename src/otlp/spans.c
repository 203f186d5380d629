/* SPDX-License-Identifier: ISC
 *
 * Spans of tasks, and those inside of tasks.
 */
#include <weft/otlp.h>

#include <stdlib.h>
#include <string.h>

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

static bool has_died(const struct weft_trace_buffer *buffer)
{
	return buffer->ending == WEFT_ENDING_EXIT || buffer->ending == WEFT_ENDING_GONE ||
		   buffer->ending == WEFT_ENDING_CRASHED || buffer->ending == WEFT_ENDING_DESTROYED;
}

static bool was_killed(const struct weft_trace_buffer *buffer)
{
	return buffer->ending == WEFT_ENDING_CRASHED ||
		   (has_died(buffer) && buffer->wait_status & WEFT_WAIT_KNOWN &&
			   (buffer->wait_status & 0x7f) != 0);
}

/* A task whose end may be among lost events need not run any more. */
static void set_end(
	const struct weft_model *model, struct weft__otlp_span *span, bool is_unfinished)
{
	span->is_unfinished = is_unfinished;
	span->is_pending = is_unfinished && !has_died(buffer_of(model, span->task)) &&
					   model->tasks.outcome[span->task] != WEFT_OUTCOME_UNKNOWN;
}

static void set_error(struct weft__otlp_span *span, struct weft_slice message)
{
	span->has_failed = true;
	span->error = message;
}

/* `room` has place for the sentence about a program that was killed. */
static void find_error(
	const struct weft_model *model, struct weft__otlp_span *span, char *room, size_t size)
{
	const struct weft_tasks *tasks = &model->tasks;
	const struct weft_trace_buffer *buffer = buffer_of(model, span->task);
	const enum weft_outcome outcome = tasks->outcome[span->task];
	if (span->is_unfinished && !span->is_pending && was_killed(buffer)) {
		weft_trace_format_ending(buffer, room, size);
		set_error(span, (struct weft_slice){room, strlen(room)});
	} else if (span->is_of_task && !span->is_pending &&
			   (outcome == WEFT_OUTCOME_FAILED || outcome == WEFT_OUTCOME_NEVER_RESOLVED)) {
		set_error(span, weft_model_string(model, tasks->message[span->task]));
	} else if (span->is_of_task && outcome == WEFT_OUTCOME_TIMED_OUT) {
		set_error(span, (struct weft_slice){"timed out", 9});
	}
}

static void write_status(struct weft__otlp_writer *w, const struct weft__otlp_span *span)
{
	struct weft__otlp_encoder *e = &w->encoder;
	if (!span->has_failed)
		return;
	weft__otlp_begin(e, WEFT__OTLP_SPAN_STATUS);
	if (span->error.size)
		weft__otlp_put_text(e, WEFT__OTLP_STATUS_MESSAGE, span->error);
	weft__otlp_put_integer(e, WEFT__OTLP_STATUS_CODE, 2);
	weft__otlp_end(e);
}

/* ---- One span ---- */

static const char *kind_name(const struct weft_model *model, uint32_t task)
{
	const char *name = weft_model_kind_name(model, model->tasks.kind[task]);
	return name ? name : "task";
}

static void write_head(struct weft__otlp_writer *w, const struct weft__otlp_span *span, uint64_t id,
	uint64_t parent, bool has_end)
{
	struct weft__otlp_encoder *e = &w->encoder;
	const uint64_t start = weft__otlp_unix_ns(w, span->start);
	weft__otlp_put_id(e, WEFT__OTLP_SPAN_TRACE, span->trace.words, 2);
	weft__otlp_put_id(e, WEFT__OTLP_SPAN_ID, &id, 1);
	if (span->state)
		weft__otlp_put_text(
			e, WEFT__OTLP_SPAN_STATE, (struct weft_slice){span->state, strlen(span->state)});
	if (parent)
		weft__otlp_put_id(e, WEFT__OTLP_SPAN_PARENT, &parent, 1);
	/* Whether the parent is remote is known. */
	weft__otlp_put_integer(
		e, WEFT__OTLP_SPAN_FLAGS, 0x100u | span->flags | (span->has_remote_parent ? 0x200u : 0));
	weft__otlp_put_text(e, WEFT__OTLP_SPAN_NAME, span->name);
	weft__otlp_put_integer(e, WEFT__OTLP_SPAN_KIND, 1); /* internal */
	weft__otlp_put_integer(e, WEFT__OTLP_SPAN_START, start);
	if (has_end) {
		const uint64_t end = weft__otlp_unix_ns(w, span->end);
		weft__otlp_put_integer(e, WEFT__OTLP_SPAN_END, end > start ? end : start);
	}
}

static void write_thread(struct weft__otlp_writer *w, uint32_t task)
{
	const struct weft_model *model = w->model;
	struct weft__otlp_encoder *e = &w->encoder;
	if (model->tasks.first_activation[task] == model->tasks.end_activation[task])
		return;
	const struct weft_trace_thread *thread =
		&model->threads[model->activations.thread[model->tasks.first_activation[task]]];
	if (thread->tid)
		weft__otlp_attribute_integer(
			e, WEFT__OTLP_SPAN_ATTRIBUTE, "thread.id", (int64_t)thread->tid);
	weft__otlp_attribute_text(e, WEFT__OTLP_SPAN_ATTRIBUTE, "thread.name", thread->name);
}

static void write_task_attributes(struct weft__otlp_writer *w, uint32_t task, bool is_inferred)
{
	const struct weft_model *model = w->model;
	struct weft__otlp_encoder *e = &w->encoder;
	weft__otlp_attribute_integer(
		e, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.task", (int64_t)model->tasks.id[task]);
	weft__otlp_attribute_text(e, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.kind", kind_name(model, task));
	weft__otlp_attribute_text(
		e, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.outcome", weft_outcome_key(model->tasks.outcome[task]));
	weft__otlp_attribute_text(e, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.category",
		weft_model_category_name(model, weft_model_category(model, task)));
	weft__otlp_attribute_integer(e, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.running_ns",
		(int64_t)weft_model_running_ns(model, task));
	const uint64_t off_cpu = weft_model_off_cpu_ns(model, task);
	if (off_cpu)
		weft__otlp_attribute_integer(
			e, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.off_cpu_ns", (int64_t)off_cpu);
	if (is_inferred)
		weft__otlp_attribute_text(e, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.parent", "message");
	write_thread(w, task);
}

/* Logfire's form of a span that still runs: one of no length, below it. */
static void write_pending(struct weft__otlp_writer *w, const struct weft__otlp_span *span)
{
	static const char digits[] = "0123456789abcdef";
	char parent[17] = "";
	for (int i = 0; i < 16; i++)
		parent[i] = digits[span->parent >> (60 - 4 * i) & 15];
	struct weft__otlp_span pending = *span;
	pending.end = pending.start;
	pending.has_remote_parent = false;
	write_head(w, &pending, weft__otlp_pending_id(span->id), span->id, true);
	weft__otlp_attribute_text(
		&w->encoder, WEFT__OTLP_SPAN_ATTRIBUTE, "logfire.span_type", "pending_span");
	weft__otlp_attribute_text(
		&w->encoder, WEFT__OTLP_SPAN_ATTRIBUTE, "logfire.pending_parent_id", parent);
}

/* The head and what all spans have. False if the span is left out, or complete, or there is an
 * error. */
static bool begin_span(struct weft__otlp_writer *w, const struct weft__otlp_plan *plan,
	const struct weft__otlp_span *span, int *ret_error)
{
	*ret_error = 0;
	if (span->is_pending && w->options.pending == WEFT_OTLP_PENDING_NONE) {
		w->summary.pending++;
		return false;
	}
	*ret_error = weft__otlp_writer_open(w, w->model->tasks.buffer[span->task]);
	if (*ret_error)
		return false;
	w->count++;
	w->summary.spans++;
	if (w->options.format == WEFT_OTLP_ZIPKIN) {
		weft__otlp_write_zipkin(w, plan, span);
		*ret_error = w->encoder.text.error;
		return false;
	}
	weft__otlp_begin(&w->encoder, WEFT__OTLP_SPAN);
	if (span->is_pending && w->options.pending == WEFT_OTLP_PENDING_LOGFIRE)
		write_pending(w, span);
	else
		write_head(w, span, span->id, span->parent, !span->is_pending);
	if (span->is_unfinished)
		weft__otlp_attribute_bool(&w->encoder, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.unfinished", true);
	return true;
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
	write_task_attributes(w, span->task, plan->is_inferred[span->task]);
	weft__otlp_write_events(w, plan, span->task);
	weft__otlp_write_links(w, plan, span->task);
	write_status(w, span);
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
	uint32_t twins[DEPTHS];
};

static uint64_t enter_inner(
	struct inner *inner, const struct weft_span *span, uint64_t task_id, uint64_t seed)
{
	const uint8_t depth = span->depth;
	inner->twins[depth] =
		inner->id[depth] && inner->start[depth] == span->start ? inner->twins[depth] + 1 : 0;
	inner->start[depth] = span->start;
	inner->id[depth] = weft__otlp_inner_id(task_id, span, inner->twins[depth], seed);
	return inner->id[depth];
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
	weft__otlp_attribute_integer(&w->encoder, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.task",
		(int64_t)w->model->tasks.id[span->task]);
	write_status(w, span);
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
	int error = 0;
	if (count == 0)
		return 0;
	memset(inner->id, 0, sizeof(inner->id));
	for (uint32_t i = count; !error && i > 0; i--) {
		const struct weft_span found = weft_model_span(model, task, i - 1);
		struct weft__otlp_span span = {.task = task,
			.start = found.start,
			.end = found.end,
			.name = weft_model_string(model, found.name)};
		span.id = enter_inner(inner, &found, weft__otlp_plan_span(plan, task), seed);
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
	struct inner *inner = malloc(sizeof(*inner));
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
