/* SPDX-License-Identifier: ISC
 *
 * The side tables of a buffer: see weft/side_tables.def and abi/table_abi.h.
 */
#ifndef WEFT_RECORD_SIDE_TABLES_H
#define WEFT_RECORD_SIDE_TABLES_H

#include <stdbool.h>

#include "abi/table_abi.h"
#include "record/region.h"

/* All tables, as they lie in a buffer: `machine`, `machine_rows` and so on. Those without room are
 * not there; they are the last ones. */
struct weft__side_tables_layout {
#define TABLE(number, name, growth, room, cut, sentence) \
	struct weft_abi_table name;                          \
	struct weft_abi_##name##_row name##_rows[(room) + !(room)];
#define COLUMN(table, type, name, kind, sentence)
#define END(table)
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
#undef END
};

static inline struct weft__side_tables_layout *weft__record_side_tables_layout(
	const struct weft__region *region)
{
	return (struct weft__side_tables_layout *)(void *)region->tables;
}

/* Describes all tables in a new buffer; they have no rows. */
void weft__record_side_tables_prepare(const struct weft__region *region);

/* Adds a row, which is of the table's struct. To a table that grows, one thread at a time may add;
 * to one of the newest rows, any may, also in a signal handler. False if the table is full. */
bool weft__record_side_table_add(
	const struct weft__region *region, enum weft_abi_side_table table, const void *row);

#endif
