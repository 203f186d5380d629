/* SPDX-License-Identifier: ISC
 *
 * Prints the rows of a statement: as text, CSV (RFC 4180) or JSON.
 *
 * Columns of text are as wide as the widest of the first rows. Longer cells of later rows move what
 * follows, so that any number of rows needs no more memory.
 */
#include <string.h>

#include "query.h"

enum {
	COLUMNS_MAX = 2000, /* SQLite's own limit */
	WIDTH_ROWS = 500,
	GAP = 2,
	BLOCK_BYTES = 65536
};

struct printer {
	sqlite3_stmt *statement;
	enum query_format format;
	int columns;
	struct weft_text text;
	/* The cells of the first rows, one after the other, each with its size; until they are printed.
	 */
	struct weft_text kept;
	unsigned rows_kept;
	uint32_t widths[COLUMNS_MAX];
	bool is_number[COLUMNS_MAX];
	bool written;
};

static void flush(struct printer *p)
{
	p->written = p->written && cli_write(&p->text);
}

/* ---- Cells ---- */

static void add_cell(struct weft_text *text, sqlite3_stmt *statement, int column)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		weft_text_add_i64(text, sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		weft_text_add_f64(text, sqlite3_column_double(statement, column));
		break;
	case SQLITE_NULL:
		break;
	default: {
		const char *bytes = sqlite3_column_blob(statement, column);
		weft_text_add(text, bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, column));
	}
	}
}

static const char *title(const struct printer *p, int column)
{
	const char *name = sqlite3_column_name(p->statement, column);
	return name ? name : "";
}

/* ---- JSON ---- */

static void add_json(struct printer *p, int column)
{
	int type = sqlite3_column_type(p->statement, column);
	if (type == SQLITE_NULL)
		weft_text_add_string(&p->text, "null");
	else if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
		add_cell(&p->text, p->statement, column);
	else
		weft_text_add_json(&p->text, sqlite3_column_blob(p->statement, column),
			(size_t)sqlite3_column_bytes(p->statement, column));
}

static void add_json_row(struct printer *p)
{
	for (int i = 0; i < p->columns; i++) {
		weft_text_add_string(&p->text, i ? "," : "{");
		weft_text_add_json(&p->text, title(p, i), strlen(title(p, i)));
		weft_text_add_string(&p->text, ":");
		add_json(p, i);
	}
	weft_text_add_string(&p->text, "}\n");
}

/* ---- CSV ---- */

static void add_csv(struct weft_text *text, const char *bytes, size_t size)
{
	bool is_plain = true;
	for (size_t i = 0; i < size; i++)
		is_plain = is_plain && bytes[i] && !strchr("\",\r\n", bytes[i]);
	if (is_plain) {
		weft_text_add(text, bytes, size);
		return;
	}
	weft_text_add_string(text, "\"");
	for (size_t i = 0; i < size; i++)
		weft_text_add(text, bytes[i] == '"' ? "\"\"" : &bytes[i], bytes[i] == '"' ? 2 : 1);
	weft_text_add_string(text, "\"");
}

static void add_csv_titles(struct printer *p)
{
	for (int i = 0; i < p->columns; i++) {
		weft_text_add_string(&p->text, i ? "," : "");
		add_csv(&p->text, title(p, i), strlen(title(p, i)));
	}
	weft_text_add_string(&p->text, "\n");
}

static void add_csv_row(struct printer *p)
{
	for (int i = 0; i < p->columns; i++) {
		struct weft_text cell = {0};
		add_cell(&cell, p->statement, i);
		weft_text_add_string(&p->text, i ? "," : "");
		add_csv(&p->text, cell.bytes, cell.size);
		weft_text_finish(&cell);
	}
	weft_text_add_string(&p->text, "\n");
}

/* ---- Text ---- */

static uint32_t characters_of(const char *bytes, size_t size)
{
	uint32_t count = 0;
	for (size_t i = 0; i < size; i++)
		count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return count;
}

/* Adds a cell of the table: numbers to the right, texts to the left. */
static void add_aligned(struct printer *p, int column, const char *bytes, size_t size)
{
	uint32_t width = characters_of(bytes, size), wanted = p->widths[column];
	uint32_t missing = width < wanted ? wanted - width : 0;
	bool is_last = column + 1 == p->columns;
	for (uint32_t i = 0; p->is_number[column] && i < missing; i++)
		weft_text_add(&p->text, " ", 1);
	weft_text_add(&p->text, bytes, size);
	for (uint32_t i = 0; !is_last && i < GAP + (p->is_number[column] ? 0 : missing); i++)
		weft_text_add(&p->text, " ", 1);
	if (is_last)
		weft_text_add(&p->text, "\n", 1);
}

/* Appends the cell with its control characters escaped. */
static void add_shown(struct weft_text *text, sqlite3_stmt *statement, int column)
{
	struct weft_text cell = {0};
	add_cell(&cell, statement, column);
	weft_text_add_shown(text, cell.bytes ? cell.bytes : "", cell.size);
	weft_text_finish(&cell);
}

static void print_kept(struct printer *p)
{
	size_t at = 0;
	for (int i = 0; i < p->columns; i++)
		add_aligned(p, i, title(p, i), strlen(title(p, i)));
	for (unsigned row = 0; row < p->rows_kept; row++)
		for (int i = 0; i < p->columns && at < p->kept.size; i++) {
			uint32_t size;
			memcpy(&size, p->kept.bytes + at, sizeof(size));
			add_aligned(p, i, p->kept.bytes + at + sizeof(size), size);
			at += sizeof(size) + size;
		}
	weft_text_finish(&p->kept);
	p->rows_kept = WIDTH_ROWS;
}

static void keep_row(struct printer *p)
{
	for (int i = 0; i < p->columns; i++) {
		struct weft_text cell = {0};
		add_shown(&cell, p->statement, i);
		uint32_t size = (uint32_t)cell.size, width = characters_of(cell.bytes, cell.size);
		int type = sqlite3_column_type(p->statement, i);
		weft_text_add(&p->kept, (const char *)&size, sizeof(size));
		weft_text_add(&p->kept, cell.bytes ? cell.bytes : "", size);
		weft_text_finish(&cell);
		p->widths[i] = width > p->widths[i] ? width : p->widths[i];
		p->is_number[i] = p->is_number[i] && type != SQLITE_TEXT && type != SQLITE_BLOB;
	}
	if (++p->rows_kept == WIDTH_ROWS)
		print_kept(p);
}

static void add_text_row(struct printer *p)
{
	if (p->rows_kept < WIDTH_ROWS) {
		keep_row(p);
		return;
	}
	for (int i = 0; i < p->columns; i++) {
		struct weft_text cell = {0};
		add_shown(&cell, p->statement, i);
		add_aligned(p, i, cell.bytes ? cell.bytes : "", cell.size);
		weft_text_finish(&cell);
	}
}

/* ---- Rows ---- */

static void begin_row(struct printer *p)
{
	for (int i = 0; i < p->columns; i++) {
		p->widths[i] = characters_of(title(p, i), strlen(title(p, i)));
		p->is_number[i] = true;
	}
	if (p->format == QUERY_CSV && p->columns)
		add_csv_titles(p);
}

static void add_row(struct printer *p)
{
	if (p->format == QUERY_JSON)
		add_json_row(p);
	else if (p->format == QUERY_CSV)
		add_csv_row(p);
	else
		add_text_row(p);
}

int query_print_rows(sqlite3_stmt *statement, enum query_format format, bool *ret_written)
{
	struct printer p = {.statement = statement,
		.format = format,
		.columns = sqlite3_column_count(statement),
		.written = true};
	int result;
	begin_row(&p);
	while ((result = sqlite3_step(statement)) == SQLITE_ROW && p.written && !p.text.error) {
		add_row(&p);
		if (p.text.size >= BLOCK_BYTES)
			flush(&p);
	}
	if (format == QUERY_TEXT && p.columns && p.rows_kept < WIDTH_ROWS)
		print_kept(&p);
	flush(&p);
	weft_text_finish(&p.text);
	weft_text_finish(&p.kept);
	*ret_written = p.written;
	return p.text.error ? SQLITE_NOMEM : result;
}
