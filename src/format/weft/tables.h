/* SPDX-License-Identifier: ISC
 *
 * Reads a buffer's side tables (src/abi/table_abi.h), whatever their numbers are. What a table says
 * of itself is copied and checked once; only the number of its rows is loaded again.
 */
#ifndef WEFT_FORMAT_WEFT_TABLES_H
#define WEFT_FORMAT_WEFT_TABLES_H

#include "abi/table_abi.h"
#include "format/weft/buffer.h"
#include "format/weft/stream.h"

/* A table in memory that a program may be writing. */
struct weft__live_table {
	struct weft_abi_table entry; /* checked */
	const uint8_t *rows;         /* `room` of them */
	const uint8_t *count;        /* 32 bits; NULL: there are always `room` rows */
};

/* Finds the tables between the header and the packets. Returns their number. A stream has none
 * there. */
uint32_t weft__format_tables_find(
	const struct weft__buffer *buffer, struct weft__live_table ret_tables[WEFT_ABI_TABLES_MAX]);

/* Only those that were added behind the packets. */
uint32_t weft__format_tables_find_added(
	const struct weft__buffer *buffer, struct weft__live_table ret_tables[WEFT_ABI_TABLES_MAX]);

/* Where the next table could be described, if there were room behind the tables: they are followed
 * by the packets. UINT64_MAX: nowhere, as the list is damaged or full, or ends elsewhere. */
uint64_t weft__format_tables_end(const struct weft__buffer *buffer);

/* The number of rows that are complete; of a table of the newest rows, those so far, modulo 2^32.
 */
uint32_t weft__format_table_count(const struct weft__live_table *table);

/* Copies the rows from number `*from` on; those of a state, all. `to` has room for `room` rows.
 * Returns how many were copied, and sets `*from` to the number of the next row. */
uint32_t weft__format_table_load(const struct weft__live_table *table, uint32_t *from, uint8_t *to);

/* Adds the rows of a stream's chunk. 0 or WEFT_ERROR_MEMORY. */
int weft__format_tables_add_chunk(struct weft__buffer *buffer, const struct weft__chunk *chunk,
	struct weft_diagnostics *diagnostics);

/* Copies the tables of a whole buffer, or ends those of a stream, and puts them into the
 * description. 0 or WEFT_ERROR_MEMORY. */
int weft__format_tables_read(struct weft__buffer *buffer);
/* The rows of a table that were read; NULL: there are none of at least that size. */
const uint8_t *weft__format_tables_rows(const struct weft__buffer *buffer, uint16_t number,
	size_t row_bytes, struct weft_abi_table *ret_table);
/* Forgets all tables. */
void weft__format_tables_finish(struct weft__buffer *buffer);

#endif
