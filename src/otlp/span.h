/* SPDX-License-Identifier: ISC
 *
 * One span, of a task or in one, however it was found: in a model, or in a stream of events.
 */
#ifndef WEFT_OTLP_SPAN_H
#define WEFT_OTLP_SPAN_H

#include "otlp/writer.h"

struct weft__otlp_span {
	uint32_t task; /* in the model or the stream */
	weft_task_id task_id;
	uint64_t start, end;
	struct weft__otlp_trace_id trace;
	uint64_t id, parent; /* parent 0: it is a root */
	struct weft_slice name;
	const char *state; /* NULL: none */
	uint8_t flags;     /* of W3C Trace Context */
	bool has_remote_parent;
	bool knows_remote;       /* whether it has one */
	bool is_unfinished;      /* it has no end in the trace */
	bool is_pending;         /* it may still run */
	bool is_of_task;         /* else it is one in a task */
	struct weft_slice error; /* if it has failed */
	bool has_failed;
};

/* Attributes of a task; NULL or 0: unknown. */
struct weft__otlp_about {
	const char *kind, *outcome, *category, *thread;
	uint64_t tid;
	bool knows_running;
	uint64_t running_ns, off_cpu_ns;
	bool is_inferred; /* its parent is known by a message */
};

/* Sets whether the span is unfinished, and whether it is pending. `is_lost`: its end may be among
 * lost events, so it need not run any more. */
void weft__otlp_span_set_end(struct weft__otlp_span *span, const struct weft_trace_buffer *buffer,
	bool is_unfinished, bool is_lost);

/* Sets whether the span has failed. `message` is that of a failed task; `room` has place for the
 * sentence about a program that was killed. */
void weft__otlp_span_set_error(struct weft__otlp_span *span, const struct weft_trace_buffer *buffer,
	enum weft_outcome outcome, struct weft_slice message, char *room, size_t size);

/* Begins a message if none is open, and the span in it, which the caller ends by weft__otlp_end().
 * Not for Zipkin. 0, or an error of the sink. */
int weft__otlp_span_begin(
	struct weft__otlp_writer *writer, const struct weft__otlp_span *span, uint32_t buffer);

/* The attributes of a task's span. */
void weft__otlp_span_about(struct weft__otlp_writer *writer, const struct weft__otlp_about *about);
void weft__otlp_span_status(struct weft__otlp_writer *writer, const struct weft__otlp_span *span);

#endif
