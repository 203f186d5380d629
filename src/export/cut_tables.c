/* SPDX-License-Identifier: ISC */
#include "export/cut_tables.h"

#include <stdlib.h>
#include <string.h>

#include "abi/stream_abi.h"
#include "abi/table_abi.h"

/* The first time in a row, in ns; 0: it has none. */
static uint64_t time_of(
	const struct weft__side_tables *tables, const struct weft_abi_table *entry, const uint8_t *row)
{
	for (uint32_t n = 0; n < 32 && n < entry->row_bytes / sizeof(uint64_t); n++) {
		uint64_t ticks;
		memcpy(&ticks, row + n * sizeof(ticks), sizeof(ticks));
		if (entry->times >> n & 1 && ticks)
			return tables->to_ns(tables->buffer, ticks);
	}
	return 0;
}

static bool is_kept(
	const struct weft__cut_tables *cut, const struct weft_abi_table *entry, uint64_t time_ns)
{
	bool is_before_end = time_ns < cut->range.end_ns || cut->range.end_ns == UINT64_MAX;
	switch ((enum weft_abi_table_cut)entry->cut) {
	case WEFT_ABI_TABLE_UNTIL:
		return !time_ns || is_before_end;
	case WEFT_ABI_TABLE_IN_RANGE:
		return !time_ns || (is_before_end && time_ns >= cut->range.start_ns);
	case WEFT_ABI_TABLE_OF_CLOCK:
		return cut->trace->ticks != NULL;
	case WEFT_ABI_TABLE_OF_WHOLE:
		return cut->is_whole;
	case WEFT_ABI_TABLE_WHOLE:
	case WEFT_ABI_TABLE_CUTS:
		break;
	}
	return true;
}

/* A part that does not have the ticks of the trace counts in ns. */
static void convert_times(
	const struct weft__cut_tables *cut, const struct weft_abi_table *entry, uint8_t *row)
{
	const struct weft__side_tables *tables = cut->trace->buffers[0].tables;
	for (uint32_t n = 0; n < 32 && n < entry->row_bytes / sizeof(uint64_t); n++) {
		uint64_t ticks;
		memcpy(&ticks, row + n * sizeof(ticks), sizeof(ticks));
		if (!(entry->times >> n & 1) || !ticks || cut->trace->ticks)
			continue;
		ticks = tables->to_ns(tables->buffer, ticks);
		memcpy(row + n * sizeof(ticks), &ticks, sizeof(ticks));
	}
}

/* Names have other ids in the part. */
static int convert_names(
	const struct weft__cut_tables *cut, const struct weft_abi_table *entry, uint8_t *row)
{
	const struct weft__side_tables *tables = cut->trace->buffers[0].tables;
	int error = 0;
	for (uint32_t n = 0; n < 32 && n < entry->row_bytes / sizeof(uint16_t) && !error; n++) {
		uint16_t id;
		if (!(entry->names >> n & 1))
			continue;
		memcpy(&id, row + n * sizeof(id), sizeof(id));
		struct weft_slice name = tables->name(tables->buffer, id);
		id = 0;
		if (name.bytes)
			error = weft__export_cut_name(cut->names, name, &id);
		memcpy(row + n * sizeof(id), &id, sizeof(id));
	}
	return error;
}

/* Copies the rows that the part has to `to`. */
static int convert_rows(const struct weft__cut_tables *cut, const struct weft__side_table *table,
	uint8_t *to, uint32_t *ret_count)
{
	const struct weft__side_tables *tables = cut->trace->buffers[0].tables;
	const struct weft_abi_table *entry = table->entry;
	int error = 0;
	*ret_count = 0;
	for (uint32_t i = 0; i < entry->count && !error; i++) {
		const uint8_t *row = table->rows + (size_t)i * entry->row_bytes;
		if (!is_kept(cut, entry, time_of(tables, entry, row)))
			continue;
		memcpy(to, row, entry->row_bytes);
		convert_times(cut, entry, to);
		error = convert_names(cut, entry, to);
		to += entry->row_bytes;
		++*ret_count;
	}
	return error;
}

static int write_rows(const struct weft__cut_tables *cut, struct weft_abi_table entry,
	const uint8_t *rows, uint32_t count)
{
	const size_t bytes = (size_t)count * entry.row_bytes;
	entry.count = count;
	int error =
		weft__export_chunks_begin(cut->chunks, WEFT_ABI_CHUNK_TABLE, 0, sizeof(entry) + bytes);
	if (!error)
		error = weft__export_chunks_append(cut->chunks, &entry, sizeof(entry));
	if (!error && bytes)
		error = weft__export_chunks_append(cut->chunks, rows, bytes);
	return error;
}

/* A stream may have more of the newest rows than one chunk can. */
static int write_table(const struct weft__cut_tables *cut, const struct weft__side_table *table)
{
	const struct weft_abi_table entry = *table->entry;
	const uint32_t most = WEFT_ABI_TABLE_MAX_BYTES / entry.row_bytes;
	uint8_t *rows = malloc((size_t)entry.count * entry.row_bytes + 1);
	uint32_t count, part, at = 0;
	if (!rows)
		return WEFT_ERROR_MEMORY;
	int error = convert_rows(cut, table, rows, &count);
	do {
		part = count - at < most ? count - at : most;
		if (!error)
			error = write_rows(cut, entry, rows + (size_t)at * entry.row_bytes, part);
		at += part;
	} while (!error && at < count);
	free(rows);
	return error;
}

int weft__export_cut_tables_write(const struct weft__cut_tables *cut)
{
	const struct weft__side_tables *tables =
		cut->trace->buffer_count ? cut->trace->buffers[0].tables : NULL;
	int error = 0;
	for (uint32_t i = 0; tables && i < tables->count && !error; i++)
		error = write_table(cut, &tables->list[i]);
	return error;
}
