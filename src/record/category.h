/* SPDX-License-Identifier: ISC
 *
 * Categories: parts of a program, each with a level byte in the buffer.
 *
 * A category's object belongs to the program or library that defines it, and points at its level:
 * at a byte of the buffer while something records, at a zero else. So a call that is not to be
 * recorded costs two loads, in the caller.
 */
#ifndef WEFT_RECORD_CATEGORY_H
#define WEFT_RECORD_CATEGORY_H

#include "record/recorder.h"

/* The levels of a new buffer, and the categories that it begins with: one of what names none; and
 * those of `parent`, with their levels, if that is not NULL. */
void weft__categories_prepare(struct weft_abi_buffer *header, const struct weft_abi_buffer *parent);

/* After each change of the generation: all objects point at where their levels are now. */
void weft__categories_point(void);

/* The category's number in the buffer; it gets one if it has none. */
uint32_t weft__category_number(
	struct weft_abi_buffer *header, const char *name, const char *description);

/* ---- level.c ---- */

/* What categories begin with that are nowhere named, and what one of this name begins with. */
uint8_t weft__level_standard(void);
uint8_t weft__level_wanted(const char *name);

/* What the exported function of that name does in the copy that leads. */
int weft__set_level(const char *pattern, enum weft_level level);

#endif
