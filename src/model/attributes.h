/* SPDX-License-Identifier: ISC
 *
 * Values with names that marks carry. The columns only grow, so snapshots share them. A note refers
 * to its attributes by a range of rows.
 */
#ifndef WEFT_MODEL_ATTRIBUTES_H
#define WEFT_MODEL_ATTRIBUTES_H

#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>
#include <weft/model.h>

#include "base/shared.h"
#include "base/strings.h"

struct weft__attributes {
	uint32_t count;
	size_t capacity;
	uint64_t *value; /* its bits; of a text the string */
	uint32_t *name;  /* string */
	uint8_t *type;   /* enum weft_field_type */
	struct weft__shared *shared;
};

/* Appends a mark's fields, whose texts become strings. *ret_range names their rows, for
 * weft__model_range_first and weft__model_range_count. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__model_attributes_add(struct weft__attributes *attributes, struct weft__strings *strings,
	const struct weft_event *mark, int64_t *ret_range);

/* A reference to the columns; NULL without memory. */
struct weft__shared *weft__model_attributes_hold(struct weft__attributes *attributes);
/* Ends the sharing. 0 or WEFT_ERROR_MEMORY. */
int weft__model_attributes_own(struct weft__attributes *attributes);
/* Frees the unused capacity of columns that are not shared. */
void weft__model_attributes_trim(struct weft__attributes *attributes);
void weft__model_attributes_finish(struct weft__attributes *attributes);

/* The columns as a model shows them. */
struct weft_attributes weft__model_attributes_show(const struct weft__attributes *attributes);

/* The `value` of a note that is a mark has its rows: the count above, the first below. */
static inline uint32_t weft__model_range_first(int64_t range)
{
	return (uint32_t)range;
}

static inline uint32_t weft__model_range_count(int64_t range)
{
	return (uint32_t)((uint64_t)range >> 32);
}

#endif
