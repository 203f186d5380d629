/* SPDX-License-Identifier: ISC
 *
 * weft query: the parts of the command.
 */
#ifndef WEFT_APPS_QUERY_H
#define WEFT_APPS_QUERY_H

#include <sqlite3.h>

#include <weft/tables.h>

#include "cli/cli.h"

/* ---- query.c ---- */

/* Prints the tables and their columns. */
void query_list_tables(void);

/* ---- database.c ---- */

/* Calls `use` with a database in memory that has the model's tables, and the functions duration()
 * and percentile(); Ctrl-C ends its statements. Returns what `use` returns, or CLI_NO after a
 * message. */
int query_use_database(const struct weft_model *model,
	int (*use)(sqlite3 *database, const void *context), const void *context);

/* ---- functions.c ---- */

/* Returns a result code of SQLite. */
int query_add_functions(sqlite3 *database);

/* ---- rows.c ---- */

enum query_format {
	QUERY_TEXT, /* aligned columns with a title */
	QUERY_CSV,
	QUERY_JSON, /* an object on each line */
};

/* Prints all rows of the statement. Returns SQLite's last result: SQLITE_DONE, or why it ended.
 * False in `ret_written`: standard output takes no more. */
int query_print_rows(sqlite3_stmt *statement, enum query_format format, bool *ret_written);

/* ---- run.c ---- */

/* Runs all statements of the text. Returns the exit status, after a message. */
int query_run(sqlite3 *database, const char *sql, enum query_format format);

/* Reads statements from standard input: with a prompt on a terminal, where a mistake does not end
 * it. */
int query_run_input(sqlite3 *database, enum query_format format);

#endif
