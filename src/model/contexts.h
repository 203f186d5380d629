/* SPDX-License-Identifier: ISC
 *
 * Trace contexts, which are marks of certain names and fields.
 */
#ifndef WEFT_MODEL_CONTEXTS_H
#define WEFT_MODEL_CONTEXTS_H

#include <stdbool.h>

#include <weft/model.h>

/* False if the mark is none. The texts are those of the fields, without a NUL behind them unless
 * the fields have one; the time is not set. `*ret_context` must be zeroed. */
bool weft__model_read_context(struct weft_slice name, const struct weft_field *fields,
	uint32_t count, struct weft_trace_context *ret_context);

#endif
