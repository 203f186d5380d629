/* SPDX-License-Identifier: ISC
 *
 * When the records of a trace's buffers ended.
 */
#ifndef WEFT_MODEL_ENDS_H
#define WEFT_MODEL_ENDS_H

#include "model/builder.h"

/* If it is unknown when its program ended, an unfinished task is drawn until this long after its
 * last sign of life. */
#define WEFT__UNFINISHED_NS 1000u

/* 0: unknown. */
struct weft__ends {
	uint64_t *of_buffer, *of_thread;
	uint32_t buffers, threads;
};

/* 0 or WEFT_ERROR_MEMORY. */
int weft__model_ends_find(const struct weft_model_builder *builder,
	const struct weft_trace_description *description, struct weft__ends *ret_ends);
void weft__model_ends_finish(struct weft__ends *ends);

/* Stores the ends in a model's table of buffers, for those of which the trace says when they ended.
 */
void weft__model_ends_store(const struct weft__ends *ends, struct weft_model *model);

#endif
