/* SPDX-License-Identifier: ISC
 *
 * Ids of spans and traces. In one buffer, a span id is a bijection of the task's id, so no two
 * tasks have the same one; over buffers and for the spans in tasks it is a hash. Every export of a
 * trace, and of its parts and snapshots, has the same ids.
 */
#ifndef WEFT_OTLP_IDS_H
#define WEFT_OTLP_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__otlp_trace_id {
	uint64_t words[2];
};

/* The identity of a buffer as a number: from its UUID, or else from all that is known of it. */
uint64_t weft__otlp_seed(const struct weft_trace_buffer *buffer, uint32_t number);

/* True if nobody can guess the seed, so that the ids are as good as random. */
bool weft__otlp_is_random(const struct weft_trace_buffer *buffer);

/* The span id of a task whose id is used once. */
uint64_t weft__otlp_plain_id(weft_task_id id, uint64_t seed);
uint64_t weft__otlp_task_id(const struct weft_model *model, uint32_t task, uint64_t seed);

/* The id of a span in a task: `twin` counts those that begin at one time and depth. */
uint64_t weft__otlp_inner_id(
	uint64_t task_id, const struct weft_span *span, uint32_t twin, uint64_t seed);

/* Another id that belongs to a span. */
uint64_t weft__otlp_pending_id(uint64_t span_id);

/* The id of the trace whose root has that span id. */
struct weft__otlp_trace_id weft__otlp_trace_of(uint64_t root_id, uint64_t seed);

#endif
