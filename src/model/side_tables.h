/* SPDX-License-Identifier: ISC
 *
 * The side tables of a buffer (src/abi/table_abi.h), as its decoder has read them. Most of a
 * program's tables have a meaning that only one module knows; the others carry them.
 */
#ifndef WEFT_MODEL_SIDE_TABLES_H
#define WEFT_MODEL_SIDE_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>

#include "abi/table_abi.h"

struct weft__side_table {
	const struct weft_abi_table *entry;
	const uint8_t *rows;
	/* As in the entry. */
	uint32_t number, row_bytes, count;
};

struct weft__side_tables {
	const struct weft__side_table *list;
	uint32_t count;
	const void *buffer; /* for the functions */
	/* Converts ticks of a row into ns on the trace's clock. */
	uint64_t (*to_ns)(const void *buffer, uint64_t ticks);
	/* The text of a name; its bytes are NULL if there is no such name. */
	struct weft_slice (*name)(const void *buffer, unsigned id);
};

/* The table of that number with rows of at least so many bytes; NULL: there is none, or no row. */
const struct weft__side_table *weft__model_side_table_find(
	const struct weft_trace_buffer *buffer, uint32_t number, size_t row_bytes);

#endif
