/* SPDX-License-Identifier: ISC
 *
 * The side tables of a buffer: what a program recorded beside its events (side_tables.def, and
 * tables of later versions, which are known by their number only).
 *
 * The buffer must be one of a decoder's description (weft/decoder.h), once the decoder has ended,
 * and as long as it exists; a model's buffers have no tables. Nothing here does I/O.
 */
#ifndef WEFT_SIDE_TABLES_H
#define WEFT_SIDE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/event.h>
#include <weft/text.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_side_table {
	const char *name; /* NULL: this version does not know it */
	uint32_t number;
	uint32_t count; /* of rows */
	uint32_t row_bytes;
};

/* The number of the table with the values of metrics, which weft_side_table_rows() has in a form of
 * its own: `weft metrics FILE` shows them. */
#define WEFT_SIDE_TABLE_METRICS 2

uint32_t weft_side_table_count(const struct weft_trace_buffer *buffer);

/* The buffer's table `index`, below the count. */
struct weft_side_table weft_side_table_at(const struct weft_trace_buffer *buffer, uint32_t index);

/* The bytes of all rows, one after the other, aligned to 8 bytes if row_bytes is 8. */
const void *weft_side_table_rows(const struct weft_trace_buffer *buffer, uint32_t index);

/* The text of a name's id in a row; its bytes are NULL if there is no such name. */
struct weft_slice weft_side_table_name(const struct weft_trace_buffer *buffer, unsigned id);

/* Appends a row of a table that is known: "processors 4, allowed 2", or a JSON object. */
void weft_side_table_add_row(
	const struct weft_trace_buffer *buffer, uint32_t index, uint32_t row, struct weft_text *text);
void weft_side_table_add_json(
	const struct weft_trace_buffer *buffer, uint32_t index, uint32_t row, struct weft_text *text);

#ifdef __cplusplus
}
#endif
#endif
