/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/ns.h"
#include "otlp/stream.h"

enum {
	EVENTS_MAX = 128, /* of a span, as in OpenTelemetry's SDKs */
	LINKS_MAX = 128,
};

/* Without another sign of life, a task lasts so long after its last one, as in the model. */
#define UNFINISHED_NS 1000u

static const struct weft_trace_buffer *buffer_of(const struct weft_otlp_stream *s, uint32_t task)
{
	return weft_trace_buffer_at(
		s->trace->buffers, s->trace->buffer_count, s->identities.buffer[task]);
}

/* ---- Events ---- */

static void add_counter(struct weft_otlp_stream *s, enum weft_note_type type)
{
	const bool is_set = type == WEFT_NOTE_SET || type == WEFT_NOTE_REAL_SET;
	struct weft_field field = {
		.name = is_set ? (struct weft_slice){"weft.set", 8} : (struct weft_slice){"weft.add", 8},
		.type = s->now->is_real ? WEFT_FIELD_F64 : WEFT_FIELD_I64,
		.value.i64 = s->now->value, /* of a real one the same bits */
	};
	weft__otlp_attribute_field(&s->event, WEFT__OTLP_EVENT_ATTRIBUTE, &field);
}

static void add_value(struct weft_otlp_stream *s)
{
	const struct weft_field field = {
		.name = s->now->text, .type = WEFT_FIELD_I64, .value.i64 = s->now->value};
	weft__otlp_attribute_field(&s->event, WEFT__OTLP_EVENT_ATTRIBUTE, &field);
}

/* False if the span has no room for an event. */
static bool begin_event(
	struct weft_otlp_stream *s, struct weft__otlp_live *live, struct weft_slice name)
{
	struct weft__otlp_encoder *e = &s->event;
	if (live->event_count == EVENTS_MAX) {
		live->events_dropped++;
		return false;
	}
	weft__otlp_element(e, WEFT__OTLP_SPAN_EVENT, live->event_count++ == 0);
	weft__otlp_put_integer(e, WEFT__OTLP_EVENT_TIME, weft__otlp_unix_ns(&s->writer, s->state.now));
	weft__otlp_put_text(e, WEFT__OTLP_EVENT_NAME, name);
	return true;
}

static void end_event(struct weft_otlp_stream *s, struct weft__otlp_live *live)
{
	struct weft__otlp_encoder *e = &s->event;
	weft__otlp_end(e);
	weft_text_add(&live->events, e->text.bytes, e->text.size);
	if (e->text.error)
		live->events.error = e->text.error;
	e->text.size = 0;
}

void weft__otlp_stream_note(struct weft_otlp_stream *s, uint32_t task, enum weft_note_type type)
{
	struct weft__otlp_live *live = &s->live[task];
	struct weft__otlp_encoder *e = &s->event;
	if (!begin_event(s, live, s->now->text))
		return;
	for (uint32_t i = 0; type == WEFT_NOTE_MARK && i < s->now->field_count; i++)
		weft__otlp_attribute_field(e, WEFT__OTLP_EVENT_ATTRIBUTE, &s->now->fields[i]);
	if (type == WEFT_NOTE_VALUE)
		add_value(s);
	if (type >= WEFT_NOTE_CHANGE)
		add_counter(s, type);
	end_event(s, live);
}

void weft__otlp_stream_note_failure(struct weft_otlp_stream *s, uint32_t task, uint32_t span)
{
	struct weft__otlp_live *live = &s->live[span];
	const struct weft_text *message = &s->live[task].message;
	const struct weft_field field = {.name = {"exception.message", 17},
		.type = WEFT_FIELD_TEXT,
		.value.text = {message->bytes, message->size}};
	if (!begin_event(s, live, (struct weft_slice){"exception", 9}))
		return;
	weft__otlp_attribute_field(&s->event, WEFT__OTLP_EVENT_ATTRIBUTE, &field);
	weft__otlp_attribute_integer(
		&s->event, WEFT__OTLP_EVENT_ATTRIBUTE, "weft.task", (int64_t)s->identities.id[task]);
	end_event(s, live);
}

static void write_events(struct weft_otlp_stream *s, const struct weft__otlp_live *live)
{
	struct weft__otlp_encoder *e = &s->writer.encoder;
	if (live->event_count)
		weft__otlp_put_elements(
			e, WEFT__OTLP_SPAN_EVENT, (struct weft_slice){live->events.bytes, live->events.size});
	if (live->events_dropped)
		weft__otlp_put_integer(e, WEFT__OTLP_SPAN_EVENTS_DROPPED, live->events_dropped);
	s->writer.summary.events += live->event_count;
	s->writer.summary.dropped += live->events_dropped;
}

/* ---- Links ---- */

/* The link is left out if it would lead to the span itself or, if tasks are folded, to its kin. */
static void write_link(struct weft_otlp_stream *s, const struct weft__otlp_who *who,
	const struct weft__otlp_edge *edge)
{
	struct weft__otlp_encoder *e = &s->writer.encoder;
	struct weft__otlp_who *other = weft__otlp_who_shown(s, edge->other);
	if (!other || other == who)
		return;
	weft__otlp_who_settle(s, other);
	if (s->writer.options.folds && weft__otlp_who_is_kin(who, other))
		return;
	weft__otlp_begin(e, WEFT__OTLP_SPAN_LINK);
	weft__otlp_put_id(e, WEFT__OTLP_LINK_TRACE, other->trace.words, 2);
	weft__otlp_put_id(e, WEFT__OTLP_LINK_SPAN, &other->span, 1);
	weft__otlp_attribute_text(
		e, WEFT__OTLP_LINK_ATTRIBUTE, "weft.edge", weft_edge_name(edge->type));
	weft__otlp_attribute_integer(e, WEFT__OTLP_LINK_ATTRIBUTE, "weft.time_unix_nano",
		(int64_t)weft__otlp_unix_ns(&s->writer, edge->time));
	weft__otlp_end(e);
	s->writer.summary.links++;
}

static void write_links(struct weft_otlp_stream *s, uint32_t task)
{
	const struct weft__otlp_live *live = &s->live[task];
	const struct weft__otlp_who *who = live->who;
	uint32_t dropped = live->edges_dropped;
	for (uint32_t i = 0; i < live->edge_count; i++)
		write_link(s, who, &live->edges[i]);
	const struct weft__otlp_edge creator = {who->parent, live->start, WEFT_EDGE_CREATE};
	const bool has_creator = (who->has_context || who->is_request) && who->parent;
	if (has_creator && live->edge_count < LINKS_MAX)
		write_link(s, who, &creator);
	else if (has_creator)
		dropped++;
	if (dropped)
		weft__otlp_put_integer(&s->writer.encoder, WEFT__OTLP_SPAN_LINKS_DROPPED, dropped);
	s->writer.summary.dropped += dropped;
}

/* ---- Spans of tasks ---- */

/* False if the span is left out, or there is an error. */
static bool begin_span(
	struct weft_otlp_stream *s, const struct weft__otlp_span *span, int *ret_error)
{
	*ret_error = 0;
	if (span->is_pending && s->writer.options.pending == WEFT_OTLP_PENDING_NONE) {
		s->writer.summary.pending++;
		return false;
	}
	*ret_error = weft__otlp_span_begin(&s->writer, span, s->identities.buffer[span->task]);
	return !*ret_error;
}

/* Whether the parent is one of this process is only known while that lives. */
static void set_given(struct weft__otlp_span *span, const struct weft__otlp_given *given)
{
	if (!given->is_given)
		return;
	span->knows_remote = !given->context.parent || given->context.parent == span->parent;
	span->trace = given->context.trace;
	span->id = given->context.span;
	span->parent = given->context.parent;
	span->state = given->state.size ? given->state.bytes : NULL;
	span->flags = given->context.flags;
}

static const char *kind_of(const struct weft_otlp_stream *s, uint32_t task)
{
	const uint16_t kind = s->state.tasks.kind[task];
	const uint32_t named = weft__model_named_kind(kind);
	const char *name = named < s->kinds.count ? weft__strings_bytes(&s->kinds, named) : NULL;
	if (kind == WEFT_KIND_PREEXISTING)
		name = "preexisting";
	else if (!name)
		name = weft_kind_name(kind);
	return name ? name : "task";
}

static uint64_t parent_of(const struct weft_otlp_stream *s, const struct weft__otlp_who *who)
{
	if (s->writer.options.folds)
		return who->above;
	return who->parent ? who->parent->span : 0;
}

static struct weft__otlp_span describe(struct weft_otlp_stream *s, uint32_t task)
{
	const struct weft__otlp_live *live = &s->live[task];
	const char *kind = kind_of(s, task);
	weft__otlp_who_settle(s, live->who);
	struct weft__otlp_span span = {
		.task = task,
		.task_id = s->identities.id[task],
		.knows_remote = true,
		.start = live->start,
		.end = live->end,
		.trace = live->who->trace,
		.id = live->who->span,
		.parent = parent_of(s, live->who),
		.flags = live->who->flags,
		.name = {live->label.bytes, live->label.size ? live->label.size - 1 : 0},
		.is_of_task = true,
	};
	if (!span.name.size)
		span.name = (struct weft_slice){kind, strlen(kind)};
	if (!(s->state.tasks.flags[task] & WEFT_TASK_CREATED) && !live->is_of_rundown)
		span.start = s->state.start;
	set_given(&span, &live->given);
	return span;
}

static const char *category_of(const struct weft_otlp_stream *s, uint32_t task)
{
	const uint32_t category = s->live[task].category;
	if (category != WEFT_NONE)
		return weft__strings_bytes(&s->categories, category);
	const bool is_program =
		s->state.tasks.flags[task] & WEFT_TASK_CREATED && buffer_of(s, task)->has_categories;
	return is_program ? "program" : NULL;
}

/* The time since the thread began to run the task was not yet counted. */
static uint64_t running_now(const struct weft_otlp_stream *s, uint32_t task, uint32_t thread)
{
	const struct weft__state_thread *state = &s->state.threads[thread];
	return state->running == task ? s->state.now - state->since : 0;
}

static void write_about(struct weft_otlp_stream *s, uint32_t task, bool is_final)
{
	const struct weft__otlp_live *live = &s->live[task];
	uint32_t thread = live->thread;
	struct weft__otlp_about about = {
		.kind = kind_of(s, task),
		.outcome = weft_outcome_key(s->state.tasks.outcome[task]),
		.category = category_of(s, task),
		.knows_running = live->start >= s->lost_at,
		.running_ns = live->running_ns,
		.off_cpu_ns = live->off_cpu_ns,
	};
	for (uint32_t i = 0; !is_final && i < s->state.thread_count; i++) {
		const uint64_t more = running_now(s, task, i);
		about.running_ns += more;
		if (more && thread == WEFT_NONE)
			thread = i;
		if (more)
			about.off_cpu_ns = 0; /* that of this time is not known yet */
	}
	if (thread < s->trace->thread_count) {
		about.thread = s->trace->threads[thread].name;
		about.tid = s->trace->threads[thread].tid;
	}
	weft__otlp_span_about(&s->writer, &about);
}

/* The program has not ended the task. */
static void set_unfinished(struct weft_otlp_stream *s, uint32_t task)
{
	struct weft__otlp_live *live = &s->live[task];
	const struct weft_trace_buffer *buffer = buffer_of(s, task);
	const uint64_t start = live->start, last = live->end > start ? live->end : start;
	if (last < s->lost_at)
		s->state.tasks.outcome[task] = WEFT_OUTCOME_UNKNOWN;
	else if (s->state.tasks.flags[task] & WEFT_TASK_EXPECTED)
		s->state.tasks.outcome[task] = WEFT_OUTCOME_NEVER_RESOLVED;
	live->end = weft__ns_add(last, UNFINISHED_NS);
	if (buffer->end_ns && last >= s->lost_at)
		live->end = buffer->end_ns > last ? buffer->end_ns : last;
}

/* Writes the spans in the task that have not ended, the innermost first. */
static int write_open(struct weft_otlp_stream *s, uint32_t task, bool is_unfinished)
{
	const struct weft__otlp_live *live = &s->live[task];
	int error = 0;
	for (uint32_t depth = live->depths; !error && depth > 0; depth--) {
		struct weft__otlp_inner *inner = &live->inner[depth - 1];
		const struct weft_span span = {
			.start = inner->start, .end = live->end, .depth = (uint8_t)(depth - 1)};
		if (inner->is_open)
			error = weft__otlp_stream_write_inner(s, task, &span, is_unfinished);
		inner->is_open = false;
	}
	return error;
}

static int write_span(struct weft_otlp_stream *s, uint32_t task, bool is_unfinished, bool is_final)
{
	struct weft__otlp_live *live = &s->live[task];
	const enum weft_outcome outcome = s->state.tasks.outcome[task];
	const struct weft_trace_buffer *buffer = buffer_of(s, task);
	struct weft_slice message = {live->message.bytes, live->message.size};
	struct weft__otlp_span span = describe(s, task);
	char room[128];
	if (outcome == WEFT_OUTCOME_NEVER_RESOLVED)
		message = (struct weft_slice){"never resolved", 14};
	weft__otlp_span_set_end(&span, buffer, is_unfinished, outcome == WEFT_OUTCOME_UNKNOWN);
	weft__otlp_span_set_error(&span, buffer, outcome, message, room, sizeof(room));
	int error;
	if (!begin_span(s, &span, &error))
		return error;
	write_about(s, task, is_final);
	write_events(s, live);
	write_links(s, task);
	weft__otlp_span_status(&s->writer, &span);
	weft__otlp_end(&s->writer.encoder);
	return s->writer.encoder.text.error;
}

int weft__otlp_stream_write(struct weft_otlp_stream *s, uint32_t task, bool is_final)
{
	struct weft__otlp_live *live = &s->live[task];
	const bool is_unfinished = !(s->state.tasks.flags[task] & WEFT_TASK_RESOLVED);
	int error = 0;
	if (live->is_written)
		return 0;
	const bool is_folded = weft__otlp_who_shown(s, live->who) != live->who;
	live->is_written = true;
	if (live->who->is_sure) {
		if (is_unfinished)
			set_unfinished(s, task);
		error = write_open(s, task, is_unfinished);
		if (!error && !is_folded)
			error = write_span(s, task, is_unfinished, is_final);
	}
	if (is_folded && !error)
		error = weft__otlp_stream_fold(s, task);
	live->who->has_ended = true;
	if (is_folded)
		return error;
	weft__otlp_who_release(live->who->parent);
	live->who->parent = NULL;
	return error;
}

/* ---- Spans in tasks ---- */

static uint64_t inner_id(
	const struct weft_otlp_stream *s, uint32_t task, const struct weft_span *span)
{
	const struct weft__otlp_inner *inner = &s->live[task].inner[span->depth];
	const uint64_t seed = weft__otlp_stream_seed(s, s->identities.buffer[task]);
	if (inner->given.is_given)
		return inner->given.context.span;
	return weft__otlp_inner_id(
		weft__otlp_plain_id(s->identities.id[task], seed), span, inner->number - 1, seed);
}

struct inner_ids {
	struct weft__otlp_trace_id trace;
	uint64_t id, parent;
	uint8_t flags;
};

/* In the span of its task; without that, it is a root. */
static struct inner_ids place_inner(
	struct weft_otlp_stream *s, uint32_t task, const struct weft_span *found)
{
	struct weft__otlp_who *who = weft__otlp_who_shown(s, s->live[task].who);
	struct inner_ids ids = {.id = inner_id(s, task, found)};
	if (who) {
		weft__otlp_who_settle(s, who);
		ids.trace = who->trace;
		ids.parent = who->span;
		ids.flags = who->flags;
		return ids;
	}
	const uint64_t seed = weft__otlp_stream_seed(s, s->identities.buffer[task]);
	const struct weft_span outermost = {.start = s->live[task].inner[0].start};
	ids.trace = weft__otlp_trace_of(inner_id(s, task, &outermost), seed);
	ids.flags = weft__otlp_is_random(buffer_of(s, task)) ? 3 : 1;
	return ids;
}

int weft__otlp_stream_write_inner(
	struct weft_otlp_stream *s, uint32_t task, const struct weft_span *found, bool is_unfinished)
{
	const struct weft__otlp_live *live = &s->live[task];
	const struct weft__otlp_inner *inner = &live->inner[found->depth];
	const struct weft_trace_buffer *buffer = buffer_of(s, task);
	char room[128];
	if (!live->who->is_sure)
		return 0;
	const struct inner_ids ids = place_inner(s, task, found);
	struct weft__otlp_span span = {
		.task = task,
		.task_id = s->identities.id[task],
		.knows_remote = true,
		.start = found->start,
		.end = found->end,
		.trace = ids.trace,
		.id = ids.id,
		.parent = ids.parent,
		.flags = ids.flags,
		.name = {inner->name.bytes, inner->name.size},
	};
	if (found->depth > 0) {
		const struct weft__otlp_inner *around = inner - 1;
		const struct weft_span outer = {
			.start = around->start, .depth = (uint8_t)(found->depth - 1)};
		span.parent = inner_id(s, task, &outer);
		for (uint32_t i = found->depth; i > 0; i--)
			if (live->inner[i - 1].given.is_given) {
				span.trace = live->inner[i - 1].given.context.trace;
				break;
			}
	}
	set_given(&span, &inner->given);
	weft__otlp_span_set_end(
		&span, buffer, is_unfinished, s->state.tasks.outcome[task] == WEFT_OUTCOME_UNKNOWN);
	weft__otlp_span_set_error(&span, buffer, s->state.tasks.outcome[task],
		(struct weft_slice){"", 0}, room, sizeof(room));
	int error;
	if (!begin_span(s, &span, &error))
		return error;
	weft__otlp_span_status(&s->writer, &span);
	weft__otlp_end(&s->writer.encoder);
	return s->writer.encoder.text.error;
}
