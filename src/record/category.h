/* SPDX-License-Identifier: ISC
 *
 * Categories: parts of a program, each with a level byte in the buffer.
 *
 * A category's object belongs to the program or library that defines it, and points at its level:
 * at a byte of the buffer while something records, at a constant zero otherwise. So a call that
 * does not record costs two loads in the caller.
 */
#ifndef WEFT_RECORD_CATEGORY_H
#define WEFT_RECORD_CATEGORY_H

#include "record/recorder.h"

/* Initializes a new buffer's levels and its first categories: "program" and, if `parent` is not
 * NULL, those of this process that have a number in the parent's buffer, with their levels. */
void weft__record_categories_prepare(
	const struct weft__region *region, const struct weft_abi_buffer *parent);

/* Called after each change of the generation: makes all objects point at their current level. */
void weft__record_categories_point(void);

/* Returns the category's number in the buffer; allocates one if it has none. */
uint32_t weft__record_category_number(
	const struct weft__region *region, const char *name, const char *description);

/* The id of the category's name in the slot's buffer; 0 for a category without a name. */
static inline uint16_t weft__record_category_name(
	const struct weft_abi_slot *slot, const struct weft_category *category)
{
	const struct weft_abi_buffer *header = weft__record_header_of(slot);
	uintptr_t number = (uintptr_t)weft__load(&category->level) - (uintptr_t)header->levels;
	return number < WEFT_ABI_LEVELS ? (uint16_t)weft__load(&header->categories[number]) : 0;
}

/* ---- level.c ---- */

/* The initial level of categories without a rule; the initial level of a category with that name.
 */
uint8_t weft__record_level_standard(void);
uint8_t weft__record_level_wanted(const char *name);

/* weft_set_level() in the leading copy. */
int weft__record_set_level(const char *pattern, enum weft_level level);

#endif
