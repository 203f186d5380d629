/* SPDX-License-Identifier: ISC
 *
 * Counts the spans that have ids, and their traces, for a summary: it has no notes.
 */
#ifndef WEFT_MODEL_CONTEXT_COUNT_H
#define WEFT_MODEL_CONTEXT_COUNT_H

#include <stddef.h>

#include <weft/model.h>

struct weft__context_ids;

struct weft__context_count {
	struct weft__context_ids *list;
	size_t count, capacity;
};

/* Notes the ids of an event that gives a task or span a context. 0 or WEFT_ERROR_MEMORY. */
int weft__model_context_count_add(
	struct weft__context_count *count, const struct weft_event *event);

void weft__model_context_count_finish(
	struct weft__context_count *count, struct weft_context_sums *ret_sums);

#endif
