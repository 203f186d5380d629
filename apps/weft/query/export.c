/* SPDX-License-Identifier: ISC
 *
 * weft export --to sqlite: all tables in a database file.
 */
#include "export.h"

#include <unistd.h>

#include "cli/output.h"
#include "query.h"
#include "runs/message.h"

static int run_statement(sqlite3 *database, const char *sql)
{
	return sqlite3_exec(database, sql, NULL, NULL, NULL);
}

/* Makes a table of the file from that of the model, with an index where the model has one. */
static int copy_table(sqlite3 *database, unsigned table)
{
	unsigned count, column_count;
	const struct weft_table *it = &weft_tables(&count)[table];
	const struct weft_column *columns = weft_table_columns(table, &column_count);
	char *sql = sqlite3_mprintf(
		"CREATE TABLE saved.\"%w\" AS SELECT * FROM main.\"%w\"", it->name, it->name);
	int result = sql ? run_statement(database, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	if (result || !weft_table_has_index(table, 0))
		return result;
	sql = sqlite3_mprintf("CREATE INDEX saved.\"%w_%w\" ON \"%w\"(\"%w\")", it->name,
		columns[0].name, it->name, columns[0].name);
	result = sql ? run_statement(database, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return result;
}

static int copy_tables(sqlite3 *database)
{
	unsigned count;
	weft_tables(&count);
	int result = run_statement(database, "ATTACH ':memory:' AS saved; BEGIN");
	for (unsigned i = 0; i < count && !result; i++)
		result = copy_table(database, i);
	return result ? result : run_statement(database, "COMMIT");
}

static int save(sqlite3 *database, const char *file)
{
	sqlite3_int64 size = 0;
	unsigned char *bytes = sqlite3_serialize(database, "saved", &size, 0);
	if (!bytes) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return CLI_NO;
	}
	bool is_saved = cli_save(file, (const char *)bytes, (size_t)size);
	sqlite3_free(bytes);
	return is_saved ? CLI_DONE : CLI_NO;
}

static int copy_and_save(sqlite3 *database, const void *context)
{
	const char *file = context;
	int result = copy_tables(database);
	if (!result)
		return save(database, file);
	if (result != SQLITE_INTERRUPT)
		cli_error("%s: %s", weft__runs_shown(file), sqlite3_errmsg(database));
	return CLI_NO;
}

int query_export(const struct cli_trace *trace, const char *file, bool force)
{
	struct weft_model *model = NULL;
	if (!force && access(file, F_OK) == 0) {
		cli_error("%s exists; --force replaces it", weft__runs_shown(file));
		return CLI_NO;
	}
	cli_progress_start();
	int error = cli_trace_build_model(trace, &model);
	int status =
		error ? cli_trace_fail(trace, error) : query_use_database(model, copy_and_save, file);
	cli_progress_end();
	if (!error)
		cli_trace_report(trace);
	weft_model_destroy(model);
	cli_progress_die_if_interrupted();
	return status;
}
