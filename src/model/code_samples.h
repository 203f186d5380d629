/* SPDX-License-Identifier: ISC
 *
 * The functions that threads ran: samples that `weft record` has added to a program's buffer, as
 * side tables.
 */
#ifndef WEFT_MODEL_CODE_SAMPLES_H
#define WEFT_MODEL_CODE_SAMPLES_H

#include <weft/model.h>

#include "base/strings.h"

/* Reads the samples of all buffers. The model has its threads and activations already; calls are
 * added to the strings. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__model_code_samples_read(const struct weft_trace_description *description,
	struct weft__strings *strings, struct weft_model *model);

#endif
