/* SPDX-License-Identifier: ISC
 *
 * The two halves of taking in an event, for who has two threads: facts are made from events one
 * after the other, and taken in in the same order; the one while the other is done to those before.
 */
#ifndef WEFT_MODEL_FACTS_H
#define WEFT_MODEL_FACTS_H

#include <weft/help.h>
#include <weft/model.h>

/* An event with numbers for names: WEFT_NONE for nobody, or no text. */
struct weft__fact {
	uint64_t time_ns, offset;
	int64_t value;
	uint32_t task, other;
	uint32_t text; /* string */
	uint32_t thread;
	uint16_t kind;
	uint8_t type, band;
	bool flag, has_value, is_set;
};

/* 0, or WEFT_ERROR_MEMORY, _LIMIT or _ARGUMENT. */
int weft__model_state(struct weft_model_builder *builder, const struct weft_event *event,
	struct weft__fact *ret_fact);

/* Likewise. What breaks the rules is counted in `diagnostics`. */
int weft__model_take(struct weft_model_builder *builder, const struct weft__fact *fact,
	struct weft_diagnostics *diagnostics);

/* weft_model_builder_finish, with help. */
int weft__model_finish(struct weft_model_builder *builder,
	const struct weft_trace_description *description, const struct weft_help *help,
	struct weft_model **ret_model);

#endif
