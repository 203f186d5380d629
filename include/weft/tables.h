/* SPDX-License-Identifier: ISC
 *
 * A finished model as tables of rows and columns, for query languages and other tools that know
 * neither its structs nor its rules. src/tables/tables.def lists them.
 *
 * Nothing is copied: a cell is read from the model when it is asked for. Rows are numbered from 0;
 * the column `task` of each table is the row of `tasks` that it belongs to.
 */
#ifndef WEFT_TABLES_H
#define WEFT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/error.h>
#include <weft/event.h>
#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_column_type {
	WEFT_COLUMN_INTEGER,
	WEFT_COLUMN_BOOLEAN, /* 0 or 1 */
	WEFT_COLUMN_NUMBER,  /* an integer, or real */
	WEFT_COLUMN_TEXT,
	WEFT_COLUMN_ANY, /* a number or text */
};

struct weft_column {
	const char *name;
	const char *unit; /* "ns"; for the row of another table, its name; or "" */
	const char *sentence;
	enum weft_column_type type;
	bool may_be_null;
};

struct weft_table {
	const char *name;
	const char *sentence;
};

/* The tables, in the order of their numbers. */
const struct weft_table *weft_tables(unsigned *ret_count);
const struct weft_column *weft_table_columns(unsigned table, unsigned *ret_count);

enum weft_cell_type {
	WEFT_CELL_NULL,
	WEFT_CELL_INTEGER,
	WEFT_CELL_UNSIGNED, /* more than INT64_MAX */
	WEFT_CELL_REAL,
	WEFT_CELL_TEXT,
};

struct weft_cell {
	enum weft_cell_type type;
	union {
		int64_t integer;
		uint64_t is_unsigned;
		double real;
	} is;
	struct weft_slice text; /* the model's; may have any bytes */
};

/* The tables of one model, which must stay. */
struct weft_model_tables;

/* 0 or WEFT_ERROR_MEMORY. */
int weft_model_tables_create(const struct weft_model *model, struct weft_model_tables **ret_tables);
void weft_model_tables_destroy(struct weft_model_tables *tables);

/* To be called before the rows of a table are read: finds out which rows belong to which task. Not
 * by two threads at the same time. 0 or WEFT_ERROR_MEMORY. */
int weft_table_open(struct weft_model_tables *tables, unsigned table);

uint32_t weft_table_rows(const struct weft_model_tables *tables, unsigned table);

/* Row and column must exist. */
struct weft_cell weft_table_cell(
	const struct weft_model_tables *tables, unsigned table, uint32_t row, unsigned column);

/* The rows that have this value in a column are [*ret_first, *ret_end); false: such rows are not
 * known without looking at all. */
bool weft_table_find(const struct weft_model_tables *tables, unsigned table, unsigned column,
	int64_t value, uint32_t *ret_first, uint32_t *ret_end);

/* True if weft_table_find can know it for that column. */
bool weft_table_has_index(unsigned table, unsigned column);

#ifdef __cplusplus
}
#endif
#endif
