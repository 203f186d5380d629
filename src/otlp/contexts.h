/* SPDX-License-Identifier: ISC
 *
 * The contexts that a program gave to its tasks (weft/context.h). Their spans have these ids, and
 * the parents that the program received.
 */
#ifndef WEFT_OTLP_CONTEXTS_H
#define WEFT_OTLP_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/model.h>

#include "otlp/ids.h"

struct weft__otlp_context {
	uint32_t task;
	struct weft__otlp_trace_id trace;
	uint64_t span, parent; /* parent 0: a root */
	const char *state;     /* of the model; NULL: none */
	uint8_t flags;
};

/* A span id that a process made. */
struct weft__otlp_made {
	uint64_t span;
	uint32_t buffer;
};

struct weft__otlp_contexts {
	uint32_t count, made_count;
	size_t room, made_room;
	struct weft__otlp_context *list; /* of tasks, in the order of tasks */
	struct weft__otlp_made *made;    /* of tasks and the spans in them, sorted */
};

/* 0 or WEFT_ERROR_MEMORY; the caller calls finish in any case. */
int weft__otlp_contexts_init(struct weft__otlp_contexts *contexts, const struct weft_model *model);
void weft__otlp_contexts_finish(struct weft__otlp_contexts *contexts);

/* The digits become numbers. */
struct weft__otlp_context weft__otlp_context_convert(
	uint32_t task, const struct weft_trace_context *from);

/* NULL: the task has none of its own. */
const struct weft__otlp_context *weft__otlp_context_of(
	const struct weft__otlp_contexts *contexts, uint32_t task);

/* The context of a span in a task. */
bool weft__otlp_context_of_span(const struct weft_model *model, uint32_t task,
	const struct weft_span *span, struct weft__otlp_context *ret_context);

/* True if no context of that buffer's process has this span id. */
bool weft__otlp_is_remote(
	const struct weft__otlp_contexts *contexts, uint32_t buffer, uint64_t span);

#endif
