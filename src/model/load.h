/* SPDX-License-Identifier: ISC
 *
 * Building a model with a second thread: one thread turns events into facts, one after the other;
 * another takes earlier facts in the same order. Neither touches the other's part of the builder.
 */
#ifndef WEFT_MODEL_LOAD_H
#define WEFT_MODEL_LOAD_H

#include <weft/help.h>
#include <weft/model.h>

#include "model/facts.h"

/* The builder makes only a summary: see weft_decoder_build_summary(). Call it before the first
 * event. */
void weft__model_make_summary(struct weft_model_builder *builder);

/* A range of a trace that is read without the rest of it, in ns on the trace's clock. */
struct weft__read_range {
	uint64_t trace_start; /* the time of the trace's first event */
	uint64_t start, end;  /* [start, end) is read */
	bool has_state;       /* the first events say all that is true at its start */
};

/* The first event that the builder will get is at `first_ns`, and not all are there that come
 * before the range. Call it before the first event is taken, if the range does not begin with the
 * trace. */
void weft__model_begin_range(
	struct weft_model_builder *builder, const struct weft__read_range *range, uint64_t first_ns);
/* The events from the range's end on are not read; the last known one is at `last_ns`. Call it
 * before weft__model_finish(). */
void weft__model_end_range(
	struct weft_model_builder *builder, const struct weft__read_range *range, uint64_t last_ns);

/* The halves of weft_model_builder_add. 0, or WEFT_ERROR_MEMORY, _LIMIT or _ARGUMENT. */
int weft__model_fact(struct weft_model_builder *builder, const struct weft_event *event,
	struct weft__fact *ret_fact);
/* The builder's tables, for a reader that takes the place of the first half. */
struct weft__naming weft__model_naming(struct weft_model_builder *builder);
int weft__model_take(struct weft_model_builder *builder, const struct weft__fact *fact,
	struct weft_diagnostics *diagnostics);

/* weft_model_builder_finish that shares its work with a second thread, unless `help` is NULL. */
int weft__model_finish(struct weft_model_builder *builder,
	const struct weft_trace_description *description, const struct weft_help *help,
	struct weft_model **ret_model);

#endif
