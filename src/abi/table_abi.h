/* SPDX-License-Identifier: ISC
 *
 * Side tables: rows that a buffer has beside its events. A table describes itself, so that a
 * program that does not know its number can still copy, stream and cut it.
 *
 *     buffer   header ─ tables_offset ─▶ ┌───────┬────────────┬───────┬────────────┬───┬──────┐
 *                                        │ table │ room rows  │ table │ room rows  │ … │ zero │
 *                                        └───────┴────────────┴───────┴────────────┴───┴──────┘
 *     stream   a chunk:                  ┌───────┬────────────┐
 *                                        │ table │ count rows │
 *                                        └───────┴────────────┘
 */
#ifndef WEFT_ABI_TABLE_H
#define WEFT_ABI_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* The values that the program's metrics had at its end, as packed in metric_abi.h. Its rows are the
 * words of these bytes. No buffer has room for it: it is added behind the packets, by the program
 * or by the process that records it. The number is none of side_tables.def. */
#define WEFT_ABI_TABLE_METRICS      2
#define WEFT_ABI_TABLE_METRICS_NAME "metrics"

#define WEFT_ABI_TABLES_MAX      32      /* further ones are ignored */
#define WEFT_ABI_TABLE_MAX_BYTES 1048576 /* of a table's rows */
#define WEFT_ABI_ROW_MAX_BYTES   4096

/* How a table changes while the program records. */
enum weft_abi_table_growth {
	/* `count` rows, which stay as they are; `count` is stored after the new row. */
	WEFT_ABI_TABLE_GROWS = 0,
	/* The newest `room` of `count` rows: row n is at n % room. A writer gets n by an atomic add to
	 * `count`. A row's last four bytes are n + 1, stored last; 0 while the row changes. */
	WEFT_ABI_TABLE_NEWEST = 1,
	/* `count` rows, each of which may change at any time. */
	WEFT_ABI_TABLE_STATE = 2,
	WEFT_ABI_TABLE_GROWTHS
};

/* Which rows a part of the trace has. The time of a row is the first one that it has. */
enum weft_abi_table_cut {
	WEFT_ABI_TABLE_WHOLE = 0,    /* all */
	WEFT_ABI_TABLE_UNTIL = 1,    /* those before the part's end: earlier ones still hold */
	WEFT_ABI_TABLE_IN_RANGE = 2, /* those in the part */
	WEFT_ABI_TABLE_OF_CLOCK = 3, /* all, if the part keeps the trace's clock; otherwise none */
	WEFT_ABI_TABLE_OF_WHOLE = 4, /* none: they are true of the whole trace only */
	WEFT_ABI_TABLE_CUTS
};

/* Before a table's rows. */
struct weft_abi_table {
	uint16_t number;    /* of its meaning; 0 ends the list */
	uint8_t growth;     /* enum weft_abi_table_growth */
	uint8_t cut;        /* enum weft_abi_table_cut */
	uint32_t row_bytes; /* a multiple of 8 */
	uint32_t room;      /* rows that there is memory for */
	uint32_t count;     /* rows so far, modulo 2^32; in a chunk: the rows in it */
	uint32_t times;     /* bit n: the 64-bit word n of a row is a time in ticks; 0 ticks: none */
	uint32_t names;     /* bit n: the 16-bit word n of a row is the id of a name; 0: none */
	uint64_t reserved;
};

_Static_assert(sizeof(struct weft_abi_table) == 32, "table");

/* Texts in rows, padded with NULs. */
typedef char weft_side_text_128[128];
typedef char weft_side_text_256[256];
typedef char weft_side_text_1024[1024];

/* The rows of the tables in side_tables.def: struct weft_abi_machine_row and so on. */
#define TABLE(number, name, growth, room, cut, sentence) struct weft_abi_##name##_row {
#define COLUMN(table, type, name, kind, sentence)        type name;
#define END(table) \
	}              \
	;
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
#undef END

/* Their numbers, and the bits of their times and names. */
enum weft_abi_side_table {
#define TABLE(number, name, growth, room, cut, sentence) WEFT_ABI_TABLE_##name = number,
#define COLUMN(table, type, name, kind, sentence)
#define END(table)
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
#undef END
};

#define WEFT_ABI_TIMES_OF_NUMBER(offset) 0
#define WEFT_ABI_TIMES_OF_NAME(offset)   0
#define WEFT_ABI_TIMES_OF_TICKS(offset)  1u << (offset) / 8
#define WEFT_ABI_TIMES_OF_TEXT(offset)   0
#define WEFT_ABI_NAMES_OF_NUMBER(offset) 0
#define WEFT_ABI_NAMES_OF_NAME(offset)   1u << (offset) / 2
#define WEFT_ABI_NAMES_OF_TICKS(offset)  0
#define WEFT_ABI_NAMES_OF_TEXT(offset)   0

enum {
#define TABLE(number, name, growth, room, cut, sentence) WEFT_ABI_TIMES_##name = 0
#define COLUMN(table, type, name, kind, sentence) \
	| WEFT_ABI_TIMES_OF_##kind(offsetof(struct weft_abi_##table##_row, name))
#define END(table) ,
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
#define TABLE(number, name, growth, room, cut, sentence) WEFT_ABI_NAMES_##name = 0
#define COLUMN(table, type, name, kind, sentence) \
	| WEFT_ABI_NAMES_OF_##kind(offsetof(struct weft_abi_##table##_row, name))
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
#undef END
	/* All tables with rows, and the zeros that end the list, in cache lines. */
	WEFT_ABI_TABLES_BYTES = (0
#define TABLE(number, name, growth, room, cut, sentence) \
	+((room) ? sizeof(struct weft_abi_table) + (room) * sizeof(struct weft_abi_##name##_row) : 0)
#define COLUMN(table, type, name, kind, sentence)
#define END(table)
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
#undef END
								+ 63) /
							64 * 64
};

#define TABLE(number, name, growth, room, cut, sentence) \
	_Static_assert(sizeof(struct weft_abi_##name##_row) % 8 == 0, #name);
#define COLUMN(table, type, name, kind, sentence)
#define END(table)
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
#undef END

#endif
