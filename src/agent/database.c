/* SPDX-License-Identifier: ISC
 *
 * See database.h. The views are documented in weft-agent(1): do not rename their columns.
 */
#include "agent/database.h"

#include <fcntl.h>
#include <unistd.h>

#define VERSION      3
#define VERSION_TEXT "3"

/* A row of `history` is written only if the value differs from the one before it. Its time is the
 * end of its period, its value that at the time. */
static const char schema[] =
	"CREATE TABLE IF NOT EXISTS series(id INTEGER PRIMARY KEY, user INTEGER NOT NULL,"
	" program TEXT NOT NULL, metric TEXT NOT NULL, labels TEXT NOT NULL, part TEXT NOT NULL,"
	" bound REAL, type TEXT NOT NULL, unit TEXT NOT NULL, scale INTEGER NOT NULL,"
	" help TEXT NOT NULL, is_billable INTEGER NOT NULL, UNIQUE(user, program, metric, labels, part));"
	"CREATE TABLE IF NOT EXISTS ledger(series INTEGER PRIMARY KEY, total INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS seen(region TEXT NOT NULL, series INTEGER NOT NULL,"
	" value INTEGER NOT NULL, PRIMARY KEY(region, series)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS regions(region TEXT PRIMARY KEY, user INTEGER NOT NULL,"
	" program TEXT NOT NULL, pid INTEGER NOT NULL, born REAL NOT NULL, folder TEXT NOT NULL,"
	" started INTEGER NOT NULL, boot TEXT NOT NULL, ended INTEGER) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS history(resolution INTEGER NOT NULL, series INTEGER NOT NULL,"
	" time INTEGER NOT NULL, value, low, high,"
	" PRIMARY KEY(resolution, series, time)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS extremes(resolution INTEGER NOT NULL, series INTEGER NOT NULL,"
	" time INTEGER NOT NULL, value INTEGER NOT NULL, task INTEGER, monotonic_ns INTEGER NOT NULL,"
	" unix_ns INTEGER NOT NULL, pid INTEGER NOT NULL,"
	" PRIMARY KEY(resolution, series, time)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS rolled(resolution INTEGER PRIMARY KEY, time INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS watched(start INTEGER PRIMARY KEY, stop INTEGER NOT NULL,"
	" step INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS entries(number INTEGER PRIMARY KEY, time INTEGER NOT NULL,"
	" series INTEGER NOT NULL, amount INTEGER NOT NULL, total INTEGER NOT NULL, hash TEXT NOT NULL);"
	"CREATE INDEX IF NOT EXISTS entries_of_series ON entries(series, number);"
	"CREATE TABLE IF NOT EXISTS incidents(number INTEGER PRIMARY KEY, time INTEGER NOT NULL,"
	" region TEXT NOT NULL, what TEXT NOT NULL);"
	"CREATE VIEW IF NOT EXISTS totals AS SELECT user, program, metric, labels, part, bound, type,"
	" unit, scale, is_billable, total FROM ledger JOIN series ON series.id = ledger.series;"
	"CREATE VIEW IF NOT EXISTS samples AS SELECT resolution, time, user, program, metric, labels,"
	" part, bound, type, unit, scale, value, low, high FROM history"
	" JOIN series ON series.id = history.series;"
	"CREATE VIEW IF NOT EXISTS amounts AS SELECT resolution, time, user, program, metric, labels,"
	" part, bound, type, unit, scale, value - lag(value) OVER (PARTITION BY resolution, series.id"
	" ORDER BY time) AS amount FROM history JOIN series ON series.id = history.series"
	" WHERE type NOT IN ('gauge', 'real');"
	"CREATE VIEW IF NOT EXISTS exemplars AS SELECT resolution, time, user, program, metric, labels,"
	" type, unit, scale, value, task, monotonic_ns, unix_ns, pid FROM extremes"
	" JOIN series ON series.id = extremes.series;"
	"PRAGMA user_version = " VERSION_TEXT ";";

static const char *const statements[WEFT__AGENT_STATEMENTS] = {
	[WEFT__AGENT_BEGIN] = "BEGIN IMMEDIATE",
	[WEFT__AGENT_COMMIT] = "COMMIT",
	[WEFT__AGENT_ROLLBACK] = "ROLLBACK",
	[WEFT__AGENT_ADD_SERIES] =
		"INSERT INTO series(user, program, metric, labels, part, bound, type, "
		"unit, scale, help, is_billable, id) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
	[WEFT__AGENT_SET_TYPE] = "UPDATE series SET type = ?2, unit = ?3, scale = ?4 WHERE id = ?1",
	[WEFT__AGENT_SET_TOTAL] = "INSERT OR REPLACE INTO ledger VALUES (?,?)",
	[WEFT__AGENT_DROP_TOTAL] = "DELETE FROM ledger WHERE series = ?",
	[WEFT__AGENT_SET_SEEN] = "INSERT OR REPLACE INTO seen VALUES (?,?,?)",
	[WEFT__AGENT_ADD_REGION] = "INSERT OR REPLACE INTO regions VALUES (?,?,?,?,?,?,?,?,NULL)",
	[WEFT__AGENT_END_REGION] = "UPDATE regions SET ended = ?2 WHERE region = ?1",
	[WEFT__AGENT_FORGET_REGION] = "DELETE FROM regions WHERE region = ?",
	[WEFT__AGENT_FORGET_SEEN] = "DELETE FROM seen WHERE region = ?",
	[WEFT__AGENT_ADD_SAMPLE] = "INSERT OR REPLACE INTO history VALUES (1,?1,?2,?3,?3,?3)",
	[WEFT__AGENT_ADD_BASE] = "INSERT OR IGNORE INTO history VALUES (1,?1,?2,?3,?3,?3)",
	/* 1: the finer resolution, 2: the coarser one; times after 3, up to and with 4. The value is
	 * the last one of the period. */
	[WEFT__AGENT_ROLL_UP] =
		"INSERT OR REPLACE INTO history SELECT ?2, series, stop, (SELECT value FROM history AS h"
		" WHERE h.resolution = ?1 AND h.series = p.series AND h.time = last), low, high FROM"
		" (SELECT h.series AS series, (h.time + ?2 - 1) / ?2 * ?2 AS stop, max(h.time) AS last,"
		" min(h.low) AS low, max(h.high) AS high FROM series CROSS JOIN history AS h"
		" ON h.resolution = ?1 AND h.series = series.id AND h.time > ?3 AND h.time <= ?4"
		" GROUP BY h.series, stop) AS p",
	[WEFT__AGENT_SET_ROLLED] = "INSERT OR REPLACE INTO rolled VALUES (?,?)",
	[WEFT__AGENT_EXPIRE] = "DELETE FROM history WHERE resolution = ?1 AND series IN"
						   " (SELECT id FROM series) AND time < ?2",
	/* 3: the second at which it was. */
	[WEFT__AGENT_ADD_EXEMPLAR] =
		"INSERT INTO extremes VALUES (?1, ?2, (?3 + ?1 - 1) / ?1 * ?1, ?4, ?5, ?6, ?7, ?8)"
		" ON CONFLICT DO UPDATE SET value = excluded.value, task = excluded.task,"
		" monotonic_ns = excluded.monotonic_ns, unix_ns = excluded.unix_ns, pid = excluded.pid"
		" WHERE excluded.value > value",
	[WEFT__AGENT_EXPIRE_EXEMPLARS] = "DELETE FROM extremes WHERE resolution = ?1 AND series IN"
									 " (SELECT id FROM series) AND time < ?2",
	[WEFT__AGENT_UNDO_EXEMPLARS] = "DELETE FROM extremes WHERE unix_ns / 1000000000 > ?1",
	[WEFT__AGENT_UNDO_FUTURE] = "DELETE FROM history WHERE time > ?1",
	[WEFT__AGENT_UNDO_ROLLED] = "UPDATE rolled SET time = min(time, ?1 / resolution * resolution)",
	[WEFT__AGENT_UNDO_WATCHED] = "DELETE FROM watched WHERE start > ?1",
	[WEFT__AGENT_CUT_WATCHED] = "UPDATE watched SET stop = min(stop, ?1)",
	[WEFT__AGENT_WATCH_FROM] = "INSERT OR REPLACE INTO watched VALUES (?1,?1,0)",
	[WEFT__AGENT_WATCH_TO] = "UPDATE watched SET stop = ?2, step = ?3 WHERE start = ?1",
	[WEFT__AGENT_ADD_ENTRY] = "INSERT INTO entries VALUES (?,?,?,?,?,?)",
	[WEFT__AGENT_ADD_INCIDENT] = "INSERT INTO incidents(time, region, what) VALUES (?,?,?)",
	[WEFT__AGENT_EXPIRE_INCIDENTS] =
		"DELETE FROM incidents WHERE number <= (SELECT max(number) FROM incidents) - ?",
};

/* The file has the values of all users: it must not be readable for others from its first moment
 * on. SQLite gives its own files the same mode. */
static int make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return SQLITE_CANTOPEN;
	close(fd);
	return SQLITE_OK;
}

/* The version is 0 in a new file. */
static int check_version(sqlite3 *it)
{
	int64_t version;
	int result = weft__agent_database_ask(it, "PRAGMA user_version", 0, &version);
	return result ? result : version == 0 || version == VERSION ? SQLITE_OK : SQLITE_MISMATCH;
}

/* In one transaction: a half-made database cannot be told from another one. */
static int make_tables(sqlite3 *it)
{
	int result = sqlite3_exec(it, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	if (!result)
		result = check_version(it);
	if (!result)
		result = sqlite3_exec(it, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (!result)
		result = sqlite3_exec(it, schema, NULL, NULL, NULL);
	return result ? result : sqlite3_exec(it, "COMMIT", NULL, NULL, NULL);
}

static int prepare(struct weft__agent_database *database)
{
	int result = SQLITE_OK;
	for (unsigned i = 0; i < WEFT__AGENT_STATEMENTS && !result; i++)
		result = sqlite3_prepare_v3(database->it, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
			&database->statement[i], NULL);
	return result;
}

int weft__agent_database_open(const char *path, struct weft__agent_database *ret)
{
	*ret = (struct weft__agent_database){0};
	int result = make_file(path);
	if (!result)
		result = sqlite3_open_v2(path, &ret->it, SQLITE_OPEN_READWRITE, NULL);
	if (!result)
		result = sqlite3_busy_timeout(ret->it, 10000);
	if (!result)
		result = make_tables(ret->it);
	if (!result)
		result = weft__agent_database_set_durable(ret, true);
	return result ? result : prepare(ret);
}

int weft__agent_database_open_readonly(const char *path, sqlite3 **ret)
{
	int result = sqlite3_open_v2(path, ret, SQLITE_OPEN_READONLY, NULL);
	if (!result)
		result = sqlite3_busy_timeout(*ret, 10000);
	return result ? result : check_version(*ret);
}

void weft__agent_database_close(struct weft__agent_database *database)
{
	for (unsigned i = 0; i < WEFT__AGENT_STATEMENTS; i++)
		sqlite3_finalize(database->statement[i]);
	sqlite3_close(database->it);
	*database = (struct weft__agent_database){0};
}

static int bind(sqlite3_stmt *statement, int at, const struct weft__agent_value *value)
{
	switch (value->type) {
	case WEFT__AGENT_INTEGER:
		return sqlite3_bind_int64(statement, at, value->integer);
	case WEFT__AGENT_REAL:
		return sqlite3_bind_double(statement, at, value->real);
	case WEFT__AGENT_TEXT:
		return sqlite3_bind_text(statement, at, value->text, -1, SQLITE_STATIC);
	case WEFT__AGENT_NULL:
	default:
		return sqlite3_bind_null(statement, at);
	}
}

int weft__agent_database_run(struct weft__agent_database *database,
	enum weft__agent_statement number, const struct weft__agent_value *values, int count)
{
	sqlite3_stmt *statement = database->statement[number];
	int result = SQLITE_OK;
	for (int i = 0; i < count && !result; i++)
		result = bind(statement, i + 1, &values[i]);
	if (!result)
		result = sqlite3_step(statement);
	int end = sqlite3_reset(statement);
	return result == SQLITE_DONE || result == SQLITE_ROW ? end : result;
}

int weft__agent_database_ask(sqlite3 *it, const char *sql, int64_t parameter, int64_t *ret_number)
{
	sqlite3_stmt *statement;
	int64_t number = 0;
	int result = sqlite3_prepare_v2(it, sql, -1, &statement, NULL);
	if (result)
		return result;
	(void)sqlite3_bind_int64(statement, 1, parameter); /* refused if there is none */
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	result = sqlite3_finalize(statement);
	if (!result)
		*ret_number = number;
	return result;
}

int weft__agent_database_set_durable(struct weft__agent_database *database, bool is_durable)
{
	if (database->is_durable == is_durable)
		return SQLITE_OK;
	int result = sqlite3_exec(database->it,
		is_durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
	if (!result)
		database->is_durable = is_durable;
	return result;
}
