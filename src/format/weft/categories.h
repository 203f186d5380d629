/* SPDX-License-Identifier: ISC
 *
 * A buffer's categories: names, levels, and the changes of levels with their times.
 */
#ifndef WEFT_FORMAT_WEFT_CATEGORIES_H
#define WEFT_FORMAT_WEFT_CATEGORIES_H

#include <stdint.h>

#include <weft/trace.h>

#include "abi/buffer_abi.h"
#include "format/weft/buffer.h"

struct weft__categories {
	struct weft_trace_category list[WEFT_ABI_LEVELS]; /* by number */
	uint32_t count;
	uint32_t change_count;
	struct weft_trace_change changes[WEFT_ABI_CHANGES];
};

/* Reads the present categories, and puts them into the description; a running program may change
 * them before the next call. */
void weft__format_categories_read(const struct weft__buffer *buffer,
	struct weft__categories *ret_categories, struct weft_trace_description *description);

#endif
