/* SPDX-License-Identifier: ISC
 *
 * The histograms of the programs' metrics, as they were at the end of the record: side tables.
 */
#ifndef WEFT_MODEL_HISTOGRAMS_H
#define WEFT_MODEL_HISTOGRAMS_H

#include <weft/model.h>

#include "base/strings.h"

/* Reads those of all buffers; names are added to the strings. 0, WEFT_ERROR_MEMORY or
 * WEFT_ERROR_LIMIT. */
int weft__model_histograms_read(const struct weft_trace_description *description,
	struct weft__strings *strings, struct weft_model *model);

#endif
