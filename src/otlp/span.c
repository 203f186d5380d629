/* SPDX-License-Identifier: ISC */
#include "otlp/span.h"

#include <string.h>

/* ---- How it ended ---- */

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

void weft__otlp_span_set_end(struct weft__otlp_span *span, const struct weft_trace_buffer *buffer,
	bool is_unfinished, bool is_lost)
{
	span->is_unfinished = is_unfinished;
	span->is_pending = is_unfinished && !has_died(buffer) && !is_lost;
}

static void set_error(struct weft__otlp_span *span, struct weft_slice message)
{
	span->has_failed = true;
	span->error = message;
}

void weft__otlp_span_set_error(struct weft__otlp_span *span, const struct weft_trace_buffer *buffer,
	enum weft_outcome outcome, struct weft_slice message, char *room, size_t size)
{
	if (span->is_unfinished && !span->is_pending && was_killed(buffer)) {
		weft_trace_format_ending(buffer, room, size);
		set_error(span, (struct weft_slice){room, strlen(room)});
	} else if (span->is_of_task && !span->is_pending &&
			   (outcome == WEFT_OUTCOME_FAILED || outcome == WEFT_OUTCOME_NEVER_RESOLVED)) {
		set_error(span, message);
	} else if (span->is_of_task && outcome == WEFT_OUTCOME_TIMED_OUT) {
		set_error(span, (struct weft_slice){"timed out", 9});
	}
}

void weft__otlp_span_status(struct weft__otlp_writer *w, const struct weft__otlp_span *span)
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

/* ---- The span ---- */

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
	const uint32_t remote =
		(span->knows_remote ? 0x100u : 0) | (span->has_remote_parent ? 0x200u : 0);
	weft__otlp_put_integer(e, WEFT__OTLP_SPAN_FLAGS, remote | span->flags);
	weft__otlp_put_text(e, WEFT__OTLP_SPAN_NAME, span->name);
	weft__otlp_put_integer(e, WEFT__OTLP_SPAN_KIND, 1); /* internal */
	weft__otlp_put_integer(e, WEFT__OTLP_SPAN_START, start);
	if (has_end) {
		const uint64_t end = weft__otlp_unix_ns(w, span->end);
		weft__otlp_put_integer(e, WEFT__OTLP_SPAN_END, end > start ? end : start);
	}
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

int weft__otlp_span_begin(
	struct weft__otlp_writer *w, const struct weft__otlp_span *span, uint32_t buffer)
{
	int error = weft__otlp_writer_open(w, buffer);
	if (error)
		return error;
	w->count++;
	w->summary.spans++;
	weft__otlp_begin(&w->encoder, WEFT__OTLP_SPAN);
	if (span->is_pending && w->options.pending == WEFT_OTLP_PENDING_LOGFIRE)
		write_pending(w, span);
	else
		write_head(w, span, span->id, span->parent, !span->is_pending);
	if (span->is_unfinished)
		weft__otlp_attribute_bool(&w->encoder, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.unfinished", true);
	weft__otlp_attribute_integer(
		&w->encoder, WEFT__OTLP_SPAN_ATTRIBUTE, "weft.task", (int64_t)span->task_id);
	return 0;
}

static void add_text(struct weft__otlp_writer *w, const char *key, const char *value)
{
	weft__otlp_attribute_text(&w->encoder, WEFT__OTLP_SPAN_ATTRIBUTE, key, value);
}

static void add_integer(struct weft__otlp_writer *w, const char *key, uint64_t value)
{
	weft__otlp_attribute_integer(&w->encoder, WEFT__OTLP_SPAN_ATTRIBUTE, key, (int64_t)value);
}

void weft__otlp_span_about(struct weft__otlp_writer *w, const struct weft__otlp_about *about)
{
	add_text(w, "weft.kind", about->kind);
	add_text(w, "weft.outcome", about->outcome);
	add_text(w, "weft.category", about->category);
	if (about->knows_running)
		add_integer(w, "weft.running_ns", about->running_ns);
	if (about->knows_running && about->off_cpu_ns)
		add_integer(w, "weft.off_cpu_ns", about->off_cpu_ns);
	if (about->is_inferred)
		add_text(w, "weft.parent", "message");
	if (about->tid)
		add_integer(w, "thread.id", about->tid);
	add_text(w, "thread.name", about->thread);
}
