/* SPDX-License-Identifier: ISC
 *
 * Spans as JSON of Zipkin, version 2. A message is a list of them.
 */
#ifndef WEFT_OTLP_ZIPKIN_H
#define WEFT_OTLP_ZIPKIN_H

#include "otlp/writer.h"

/* A span, of a task or in one. */
struct weft__otlp_span {
	uint32_t task;
	uint64_t start, end;
	struct weft__otlp_trace_id trace;
	uint64_t id, parent; /* parent 0: it is a root */
	struct weft_slice name;
	const char *state; /* NULL: none */
	uint8_t flags;     /* of W3C Trace Context */
	bool has_remote_parent;
	bool is_unfinished;      /* it has no end in the trace */
	bool is_pending;         /* it may still run */
	bool is_of_task;         /* else it is one in a task */
	struct weft_slice error; /* if it has failed */
	bool has_failed;
};

/* Writes a span, which is an element of the open message's list. */
void weft__otlp_write_zipkin(struct weft__otlp_writer *writer, const struct weft__otlp_plan *plan,
	const struct weft__otlp_span *span);

#endif
