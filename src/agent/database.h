/* SPDX-License-Identifier: ISC
 *
 * The agent's database: a file of SQLite, which other programs may read at any time (WAL). One
 * process writes it.
 *
 *     series      what has been counted: a user's program, metric and labels; one row for each cell
 *                 of a histogram
 *     ledger      the total of each series over all processes that there ever were
 *     seen        what of a region's value is in the ledger already
 *     regions     the memory of processes, from which the values come
 *     history     values at times, in several resolutions
 *     rolled      until when a resolution of the history is complete
 *     watched     when an agent was looking
 *     entries     the ledger's changes by the hour, as a chain of hashes
 *     incidents   what was refused
 *
 * All functions return a result of SQLite; 0 is success.
 */
#ifndef WEFT_AGENT_DATABASE_H
#define WEFT_AGENT_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Statements that are prepared once. Their parameters are bound by weft__agent_database_bind. */
enum weft__agent_statement {
	WEFT__AGENT_BEGIN,
	WEFT__AGENT_COMMIT,
	WEFT__AGENT_ROLLBACK,
	WEFT__AGENT_ADD_SERIES,
	WEFT__AGENT_SET_TYPE,
	WEFT__AGENT_SET_TOTAL,
	WEFT__AGENT_DROP_TOTAL,
	WEFT__AGENT_SET_SEEN,
	WEFT__AGENT_ADD_REGION,
	WEFT__AGENT_END_REGION,
	WEFT__AGENT_FORGET_REGION,
	WEFT__AGENT_FORGET_SEEN,
	WEFT__AGENT_ADD_SAMPLE,
	WEFT__AGENT_ADD_BASE,
	WEFT__AGENT_ROLL_UP,
	WEFT__AGENT_SET_ROLLED,
	WEFT__AGENT_EXPIRE,
	WEFT__AGENT_ADD_EXEMPLAR,
	WEFT__AGENT_EXPIRE_EXEMPLARS,
	WEFT__AGENT_UNDO_EXEMPLARS,
	WEFT__AGENT_UNDO_FUTURE,
	WEFT__AGENT_UNDO_ROLLED,
	WEFT__AGENT_UNDO_WATCHED,
	WEFT__AGENT_CUT_WATCHED,
	WEFT__AGENT_WATCH_FROM,
	WEFT__AGENT_WATCH_TO,
	WEFT__AGENT_ADD_ENTRY,
	WEFT__AGENT_ADD_INCIDENT,
	WEFT__AGENT_EXPIRE_INCIDENTS,
	WEFT__AGENT_STATEMENTS
};

struct weft__agent_database {
	sqlite3 *it;
	bool is_durable;
	sqlite3_stmt *statement[WEFT__AGENT_STATEMENTS];
};

/* Opens the file, or makes it, readable for its owner alone. After a failure `ret` says why, by
 * sqlite3_errmsg, and must be closed, too. */
int weft__agent_database_open(const char *path, struct weft__agent_database *ret);

/* Opens an existing file for reading. */
int weft__agent_database_open_readonly(const char *path, sqlite3 **ret);
void weft__agent_database_close(struct weft__agent_database *database);

/* A parameter of a statement. */
struct weft__agent_value {
	enum {
		WEFT__AGENT_NULL,
		WEFT__AGENT_INTEGER,
		WEFT__AGENT_REAL,
		WEFT__AGENT_TEXT,
	} type;
	int64_t integer;
	double real;
	const char *text;
};

#define WEFT__AGENT_I(n) ((struct weft__agent_value){WEFT__AGENT_INTEGER, (n), 0, NULL})
#define WEFT__AGENT_T(s) ((struct weft__agent_value){WEFT__AGENT_TEXT, 0, 0, (s)})

/* Runs a statement that has no result. */
int weft__agent_database_run(struct weft__agent_database *database,
	enum weft__agent_statement statement, const struct weft__agent_value *values, int count);

/* Runs a statement without parameters that gives one integer, or no row: then it is 0. */
int weft__agent_database_ask(sqlite3 *it, const char *sql, int64_t parameter, int64_t *ret_number);

/* Makes the next commits survive a loss of power, or only an end of the process. */
int weft__agent_database_set_durable(struct weft__agent_database *database, bool is_durable);

#endif
