/* SPDX-License-Identifier: ISC
 *
 * The table of a trace's buffers, for the files of the model.
 */
#ifndef WEFT_MODEL_BUFFERS_H
#define WEFT_MODEL_BUFFERS_H

#include <weft/model.h>

/* Copies the table and its texts into one block of memory, which the model owns. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__model_copy_buffers(
	struct weft_model *model, const struct weft_trace_description *description);

#endif
