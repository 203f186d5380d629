/* SPDX-License-Identifier: ISC
 *
 * Categories: parts of a program, each with a level byte in the buffer.
 */
#ifndef WEFT_RECORD_CATEGORY_H
#define WEFT_RECORD_CATEGORY_H

#include "record/recorder.h"

/* The levels of a new buffer, and the category of what names none. */
void weft__categories_prepare(struct weft_abi_buffer *header);

#endif
