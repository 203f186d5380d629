/* SPDX-License-Identifier: ISC
 *
 * Dark time while a model is built: the periods of model.h, before they are the model's.
 */
#ifndef WEFT_MODEL_DARK_H
#define WEFT_MODEL_DARK_H

#include "model/builder.h"
#include "model/ends.h"

struct weft__dark {
	struct weft_dark *list; /* by buffer, reason and start */
	uint32_t count;
};

/* Finds the dark time of each buffer between the trace's `start` and `end`. `ends` may be NULL:
 * then all programs go on. `builder` has the range that was read; NULL: all. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__model_dark_find(const struct weft_trace_description *description,
	const struct weft__ends *ends, uint64_t start, uint64_t end,
	const struct weft_model_builder *builder, struct weft__dark *ret_dark);

/* When events of a task may be missing that was last seen at a time: the begin of the first dark
 * period of its buffer that lasts longer than that. UINT64_MAX: none are missing. */
uint64_t weft__model_dark_after(const struct weft__dark *dark, uint32_t buffer, uint64_t seen_ns);

/* True if events of the buffer may be missing between two times. */
bool weft__model_dark_between(
	const struct weft_model *model, uint32_t buffer, uint64_t from, uint64_t to);

/* True if changes of the buffer's counters between two times may be missing: in dark time, or as a
 * category's level was another one. */
bool weft__model_dark_lacks_changes(const struct weft_trace_description *description,
	const struct weft_model *model, uint32_t buffer, uint64_t from, uint64_t to);

/* The dark time of a trace that is read up to `end`. Members of the result that are about anything
 * else are 0. 0 or WEFT_ERROR_MEMORY; the caller frees `dark`. */
int weft__model_dark_until(
	const struct weft_trace_description *description, uint64_t end, struct weft_model *ret_model);

/* Marks the counters of a model of which changes may be missing. Time up to `known_ns` that was not
 * read lacks none, as a state has their values. */
void weft__model_dark_mark_counters(struct weft_model *model, uint64_t known_ns);

/* Ends activations and bands where events of their thread begin to be missing: it is unknown what
 * the thread did from then on until it begins something else. 0 or WEFT_ERROR_MEMORY. */
int weft__model_dark_cut_periods(
	struct weft_model_builder *b, const struct weft_trace_description *description);

#endif
