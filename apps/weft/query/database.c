/* SPDX-License-Identifier: ISC
 *
 * The tables of a model as tables of SQLite. Nothing is copied: SQLite asks for each cell
 * (https://www.sqlite.org/vtab.html).
 *
 * Rows of one task or counter are found by number: that is what most joins need. Other conditions
 * are SQLite's to check.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query.h"

/* A table of SQLite. */
struct source {
	sqlite3_vtab base;
	struct weft_model_tables *tables;
	unsigned table;
};

/* A walk over some of its rows. */
struct cursor {
	sqlite3_vtab_cursor base;
	uint32_t row, end;
};

/* The rows that a walk looks at. */
enum {
	ALL_ROWS,
	ROWS_FOUND, /* those with a value in column 0 */
	ONE_ROW,    /* that of a number */
};

/* Passed to the module of each table; lives as long as the database. */
struct module_context {
	struct weft_model_tables *tables;
	unsigned table;
};

static const char *const type_names[] = {[WEFT_COLUMN_INTEGER] = "INTEGER",
	[WEFT_COLUMN_BOOLEAN] = "BOOLEAN",
	[WEFT_COLUMN_NUMBER] = "NUMERIC",
	[WEFT_COLUMN_TEXT] = "TEXT",
	[WEFT_COLUMN_ANY] = ""};

static int declare(sqlite3 *database, unsigned table)
{
	struct weft_text text = {0};
	unsigned count;
	const struct weft_column *columns = weft_table_columns(table, &count);
	weft_text_add_string(&text, "CREATE TABLE x(");
	for (unsigned i = 0; i < count; i++) {
		weft_text_add_string(&text, i ? ", \"" : "\"");
		weft_text_add_string(&text, columns[i].name);
		weft_text_add_string(&text, "\" ");
		weft_text_add_string(&text, type_names[columns[i].type]);
	}
	weft_text_add(&text, ")", 2); /* with the NUL */
	int result = text.error ? SQLITE_NOMEM : sqlite3_declare_vtab(database, text.bytes);
	weft_text_finish(&text);
	return result;
}

static int connect(sqlite3 *database, void *context, int argc, const char *const *argv,
	sqlite3_vtab **ret_source, char **ret_message)
{
	const struct module_context *module = context;
	(void)argc;
	(void)argv;
	(void)ret_message;
	int result = declare(database, module->table);
	struct source *source = result ? NULL : sqlite3_malloc((int)sizeof(*source));
	if (!source)
		return result ? result : SQLITE_NOMEM;
	*source = (struct source){.tables = module->tables, .table = module->table};
	*ret_source = &source->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *source)
{
	sqlite3_free(source);
	return SQLITE_OK;
}

/* Uses the first equality constraint for which the table has an index. */
static int choose_way(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct source *source = (const struct source *)base;
	double rows = weft_table_rows(source->tables, source->table);
	info->idxNum = ALL_ROWS;
	info->estimatedCost = rows;
	info->estimatedRows = (sqlite3_int64)rows;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *it = &info->aConstraint[i];
		bool is_number = it->iColumn < 0;
		if (!it->usable || it->op != SQLITE_INDEX_CONSTRAINT_EQ ||
			(!is_number && !weft_table_has_index(source->table, (unsigned)it->iColumn)))
			continue;
		info->idxNum = is_number ? ONE_ROW : ROWS_FOUND;
		info->aConstraintUsage[i].argvIndex = 1;
		info->estimatedCost = info->estimatedRows = 1 + (int)(rows > 1e6) * 4;
		break;
	}
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *source, sqlite3_vtab_cursor **ret_cursor)
{
	struct cursor *cursor = sqlite3_malloc((int)sizeof(*cursor));
	(void)source;
	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct cursor){.row = 0};
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* Converts a value to an integer; false if it is not a whole number: then no row has it. */
static bool whole_number(sqlite3_value *value, int64_t *ret_number)
{
	int type = sqlite3_value_numeric_type(value);
	*ret_number = sqlite3_value_int64(value);
	return type == SQLITE_INTEGER ||
		   (type == SQLITE_FLOAT && sqlite3_value_double(value) == (double)*ret_number);
}

static int begin_walk(
	sqlite3_vtab_cursor *base, int way, const char *unused, int argc, sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct source *source = (const struct source *)base->pVtab;
	int64_t number;
	(void)unused;
	if (weft_table_open(source->tables, source->table))
		return SQLITE_NOMEM;
	uint32_t rows = weft_table_rows(source->tables, source->table);
	cursor->row = 0;
	cursor->end = rows;
	if (way == ALL_ROWS || argc < 1)
		return SQLITE_OK;
	cursor->end = 0;
	if (!whole_number(argv[0], &number))
		return SQLITE_OK;
	if (way == ROWS_FOUND) {
		weft_table_find(source->tables, source->table, 0, number, &cursor->row, &cursor->end);
	} else if (number >= 0 && number < rows) {
		cursor->row = (uint32_t)number;
		cursor->end = cursor->row + 1;
	}
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->row++;
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = (const struct cursor *)base;
	return cursor->row >= cursor->end;
}

static int give_number(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_number)
{
	*ret_number = ((const struct cursor *)base)->row;
	return SQLITE_OK;
}

/* SQLite's integers are signed: a larger number is returned as text, so that it stays exact. */
static void give_unsigned(sqlite3_context *to, uint64_t number)
{
	char digits[24];
	int size = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	sqlite3_result_text(to, digits, size, SQLITE_TRANSIENT);
}

static int give_cell(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const struct source *source = (const struct source *)base->pVtab;
	struct weft_cell cell =
		weft_table_cell(source->tables, source->table, cursor->row, (unsigned)column);
	switch (cell.type) {
	case WEFT_CELL_INTEGER:
		sqlite3_result_int64(to, cell.is.integer);
		break;
	case WEFT_CELL_UNSIGNED:
		give_unsigned(to, cell.is.is_unsigned);
		break;
	case WEFT_CELL_REAL:
		sqlite3_result_double(to, cell.is.real);
		break;
	case WEFT_CELL_TEXT:
		sqlite3_result_text64(
			to, cell.text.bytes, cell.text.size, SQLITE_STATIC, (unsigned char)SQLITE_UTF8);
		break;
	case WEFT_CELL_NULL:
	default:
		sqlite3_result_null(to);
	}
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xConnect = connect,
	.xBestIndex = choose_way,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = begin_walk,
	.xNext = next_row,
	.xEof = is_at_end,
	.xColumn = give_cell,
	.xRowid = give_number,
};

static int add_tables(sqlite3 *database, struct weft_model_tables *tables)
{
	unsigned count;
	const struct weft_table *list = weft_tables(&count);
	int result = SQLITE_OK;
	for (unsigned i = 0; i < count && !result; i++) {
		struct module_context *context = malloc(sizeof(*context));
		if (!context)
			return SQLITE_NOMEM;
		*context = (struct module_context){tables, i};
		result = sqlite3_create_module_v2(database, list[i].name, &module, context, free);
	}
	return result;
}

/* SQLite calls this now and then; another value than 0 ends the statement. */
static int is_interrupted(void *unused)
{
	(void)unused;
	return !cli_progress_step(0);
}

static sqlite3 *open_database(struct weft_model_tables *tables)
{
	sqlite3 *database = NULL;
	int result = sqlite3_open(":memory:", &database);
	if (!result)
		result = add_tables(database, tables);
	if (!result)
		result = query_add_functions(database);
	if (result) {
		cli_error("SQLite: %s", sqlite3_errstr(result));
		sqlite3_close(database);
		return NULL;
	}
	sqlite3_progress_handler(database, 100000, is_interrupted, NULL);
	return database;
}

int query_use_database(const struct weft_model *model,
	int (*use)(sqlite3 *database, const void *context), const void *context)
{
	struct weft_model_tables *tables;
	if (weft_model_tables_create(model, &tables)) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return CLI_NO;
	}
	sqlite3 *database = open_database(tables);
	int status = database ? use(database, context) : CLI_NO;
	sqlite3_close(database);
	weft_model_tables_destroy(tables);
	return status;
}
