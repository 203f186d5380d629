/* SPDX-License-Identifier: ISC
 *
 * Rows of side tables as text. Their columns are those of side_tables.def; a row that is shorter,
 * from an earlier version, lacks the last ones.
 */
#include <string.h>

#include <weft/side_tables.h>

#include "base/export.h"
#include "model/side_tables.h"

enum kind {
	NUMBER,
	TICKS,
	NAME,
	TEXT,
};

struct column {
	const char *name;
	uint16_t table;
	uint16_t offset, bytes;
	uint8_t kind;
};

static const struct {
	uint16_t number;
	const char *name;
} tables[] = {
#define TABLE(number, name, growth, room, cut, sentence) {number, #name},
#define COLUMN(table, type, name, kind, sentence)
#define END(table)
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
};

static const struct column columns[] = {
#define TABLE(number, name, growth, room, cut, sentence)
#define COLUMN(table, type, name, kind, sentence)                                                \
	{#name, WEFT_ABI_TABLE_##table, offsetof(struct weft_abi_##table##_row, name), sizeof(type), \
		kind},
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
#undef END
};

WEFT__EXPORT uint32_t weft_side_table_count(const struct weft_trace_buffer *buffer)
{
	return buffer->tables ? buffer->tables->count : 0;
}

WEFT__EXPORT struct weft_side_table weft_side_table_at(
	const struct weft_trace_buffer *buffer, uint32_t index)
{
	const struct weft__side_table *t = &buffer->tables->list[index];
	struct weft_side_table table = {
		.number = t->number, .count = t->count, .row_bytes = t->row_bytes};
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].number == table.number)
			table.name = tables[i].name;
	return table;
}

WEFT__EXPORT struct weft_slice weft_side_table_name(
	const struct weft_trace_buffer *buffer, unsigned id)
{
	return buffer->tables->name(buffer->tables->buffer, id);
}

WEFT__EXPORT const void *weft_side_table_rows(
	const struct weft_trace_buffer *buffer, uint32_t index)
{
	return buffer->tables->list[index].rows;
}

const struct weft__side_table *weft__model_side_table_find(
	const struct weft_trace_buffer *buffer, uint32_t number, size_t row_bytes)
{
	for (uint32_t i = 0; buffer->tables && i < buffer->tables->count; i++) {
		const struct weft__side_table *table = &buffer->tables->list[i];
		if (table->number == number && table->row_bytes >= row_bytes && table->count)
			return table;
	}
	return NULL;
}

/* A number of 1, 2, 4 or 8 bytes, little-endian as the machine. */
static uint64_t number_at(const uint8_t *at, size_t bytes)
{
	uint64_t number = 0;
	memcpy(&number, at, bytes);
	return number;
}

static void add_value(const struct weft__side_tables *all, const struct column *column,
	const uint8_t *at, bool is_json, struct weft_text *text)
{
	struct weft_slice name = {(const char *)at, 0};
	uint64_t value = column->kind == TEXT ? 0 : number_at(at, column->bytes);
	while (column->kind == TEXT && name.size < column->bytes && at[name.size])
		name.size++;
	if (column->kind == NAME)
		name = all->name(all->buffer, (unsigned)value);
	if (column->kind == TICKS)
		value = value ? all->to_ns(all->buffer, value) : 0;
	if (column->kind < NAME)
		weft_text_add_u64(text, value);
	else if (is_json)
		weft_text_add_json(text, name.bytes, name.bytes ? name.size : 0);
	else
		weft_text_add_quoted(text, name.bytes, name.bytes ? name.size : 0);
}

static void add_row(const struct weft_trace_buffer *buffer, uint32_t index, uint32_t row,
	bool is_json, struct weft_text *text)
{
	const struct weft__side_table *t = &buffer->tables->list[index];
	const uint8_t *at = t->rows + (size_t)row * t->row_bytes;
	const char *separator = "";
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const struct column *column = &columns[i];
		if (column->table != t->number || column->offset + (size_t)column->bytes > t->row_bytes)
			continue;
		weft_text_add_string(text, separator);
		if (is_json)
			weft_text_add_json(text, column->name, strlen(column->name));
		else
			weft_text_add_string(text, column->name);
		weft_text_add_string(text, is_json ? ":" : " ");
		add_value(buffer->tables, column, at + column->offset, is_json, text);
		separator = is_json ? "," : ", ";
	}
}

WEFT__EXPORT void weft_side_table_add_row(
	const struct weft_trace_buffer *buffer, uint32_t index, uint32_t row, struct weft_text *text)
{
	add_row(buffer, index, row, false, text);
}

WEFT__EXPORT void weft_side_table_add_json(
	const struct weft_trace_buffer *buffer, uint32_t index, uint32_t row, struct weft_text *text)
{
	weft_text_add_string(text, "{");
	add_row(buffer, index, row, true, text);
	weft_text_add_string(text, "}");
}
