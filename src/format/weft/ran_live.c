/* SPDX-License-Identifier: ISC
 *
 * Side tables for samples behind the buffer of a program that still records, which readers and
 * streams of the buffer get with the rest. They have room for the newest samples. The process that
 * takes the samples is their only writer, but the program could write there as well: so the
 * description of a table is copied once, and the number of rows only selects one of its rows.
 */
#include <weft/buffer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "base/export.h"
#include "format/weft/ran_live.h"

/* A row of the newest ones. */
struct newest_ran {
	struct weft_abi_ran_row ran;
	uint32_t reserved;
	uint32_t number; /* 1 + that of the row; 0 while it changes */
};

/* All tables together are whole cache lines, so that others can follow without a gap. */
enum {
	RAN_ROOM = WEFT_ABI_TABLE_MAX_BYTES / sizeof(struct newest_ran) & ~7u,
	CODE_ROOM = WEFT_BUFFER_CODES_MAX & ~7u,
};

struct tables {
	struct weft_abi_table sampling_entry;
	struct weft_abi_sampling_row sampling;
	struct weft_abi_table code_entry;
	struct weft_abi_code_row code[CODE_ROOM];
	struct weft_abi_table ran_entry;
	struct newest_ran ran[RAN_ROOM];
};

_Static_assert(sizeof(struct tables) % 64 == 0, "others follow");
_Static_assert(RAN_ROOM <= WEFT_BUFFER_RAN_MAX, "ran");

static struct weft_abi_table entry_of(enum weft_abi_side_table number,
	enum weft_abi_table_growth growth, enum weft_abi_table_cut cut, size_t row_bytes, uint32_t room)
{
	return (struct weft_abi_table){.number = (uint16_t)number,
		.growth = (uint8_t)growth,
		.cut = (uint8_t)cut,
		.row_bytes = (uint32_t)row_bytes,
		.room = room};
}

static void set_denied(struct weft_abi_sampling_row *row, const char *denied)
{
	snprintf(row->denied, sizeof(row->denied), "%s", denied);
}

WEFT__EXPORT int weft_buffer_make_sample_room(
	const struct weft_buffer_sampling *sampling, void **ret_tables, size_t *ret_size)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	if (!tables)
		return WEFT_ERROR_MEMORY;
	tables->sampling_entry = entry_of(WEFT_ABI_TABLE_sampling, WEFT_ABI_TABLE_STATE,
		WEFT_ABI_TABLE_WHOLE, sizeof(tables->sampling), 1);
	tables->sampling_entry.count = 1;
	tables->sampling.interval_ns = sampling->interval_ns;
	tables->sampling.has_kernel = sampling->has_kernel;
	if (sampling->denied)
		set_denied(&tables->sampling, sampling->denied);
	tables->code_entry = entry_of(WEFT_ABI_TABLE_code, WEFT_ABI_TABLE_GROWS, WEFT_ABI_TABLE_WHOLE,
		sizeof(tables->code[0]), CODE_ROOM);
	tables->ran_entry = entry_of(WEFT_ABI_TABLE_ran, WEFT_ABI_TABLE_NEWEST, WEFT_ABI_TABLE_IN_RANGE,
		sizeof(tables->ran[0]), RAN_ROOM);
	tables->ran_entry.times = WEFT_ABI_TIMES_ran;
	*ret_tables = tables;
	*ret_size = sizeof(*tables);
	return 0;
}

/* ---- Adding ---- */

static const struct weft__live_table *find(const struct weft__live_table *tables, uint32_t count,
	enum weft_abi_side_table number, enum weft_abi_table_growth growth, size_t row_bytes)
{
	for (uint32_t i = 0; i < count; i++)
		if (tables[i].entry.number == number && tables[i].entry.growth == growth &&
			tables[i].entry.row_bytes == row_bytes && tables[i].entry.room)
			return &tables[i];
	return NULL;
}

static uint32_t *count_of(const struct weft__live_table *table)
{
	return (uint32_t *)(uintptr_t)table->count;
}

static void *row_of(const struct weft__live_table *table, uint32_t number)
{
	return (uint8_t *)(uintptr_t)table->rows + (size_t)number * table->entry.row_bytes;
}

/* Rows are complete before they count. */
static void add_codes(
	const struct weft__live_table *table, const struct weft_buffer_sampling *sampling)
{
	const uint32_t room = table->entry.room;
	const uint32_t end = sampling->code_count < room ? sampling->code_count : room;
	for (uint32_t i = weft__format_table_count(table); i < end; i++) {
		const struct weft_abi_code_row row = weft__format_ran_code(&sampling->codes[i]);
		memcpy(row_of(table, i), &row, sizeof(row));
		__atomic_store_n(count_of(table), i + 1, __ATOMIC_RELEASE);
	}
}

static void add_ran(const struct weft__live_table *table, const struct weft_abi_ran_row *row)
{
	const uint32_t number = __atomic_load_n(count_of(table), __ATOMIC_RELAXED);
	struct newest_ran *to = row_of(table, number % table->entry.room);
	__atomic_store_n(count_of(table), number + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&to->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	to->ran = *row;
	__atomic_store_n(&to->number, number + 1, __ATOMIC_RELEASE);
}

static uint32_t add_list(const struct weft__live_table *table, const struct weft__buffer *buffer,
	const struct weft_buffer_sampling *sampling)
{
	const struct weft_abi_buffer *header = (const void *)buffer->bytes;
	const uint64_t start = header->start.ticks, offset = (uint64_t)header->time_offset_ns;
	uint32_t early = 0;
	for (uint32_t i = 0; i < sampling->count; i++) {
		const struct weft_buffer_ran *ran = &sampling->list[i];
		const struct weft_abi_ran_row row = {
			.time = weft__format_ticks_at(&buffer->clock, ran->monotonic_ns + offset),
			.thread = ran->thread,
			.code = ran->code,
		};
		if (row.time < start)
			early++;
		else
			add_ran(table, &row);
	}
	return early;
}

static void describe(
	const struct weft__live_table *table, const struct weft_buffer_sampling *sampling)
{
	struct weft_abi_sampling_row *row = row_of(table, 0);
	__atomic_store_n(&row->lost, sampling->lost, __ATOMIC_RELAXED);
	__atomic_store_n(&row->has_kernel, sampling->has_kernel, __ATOMIC_RELAXED);
	if (sampling->denied)
		set_denied(row, sampling->denied);
	__atomic_store_n(&row->is_growing, sampling->is_growing, __ATOMIC_RELEASE);
}

uint32_t weft__format_ran_add(
	const struct weft__buffer *buffer, const struct weft_buffer_sampling *sampling)
{
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	const uint32_t count = weft__format_tables_find(buffer, tables);
	const struct weft__live_table *how = find(tables, count, WEFT_ABI_TABLE_sampling,
									  WEFT_ABI_TABLE_STATE, sizeof(struct weft_abi_sampling_row)),
								  *code = find(tables, count, WEFT_ABI_TABLE_code,
									  WEFT_ABI_TABLE_GROWS, sizeof(struct weft_abi_code_row)),
								  *ran = find(tables, count, WEFT_ABI_TABLE_ran,
									  WEFT_ABI_TABLE_NEWEST, sizeof(struct newest_ran));
	if (!how || !code || !ran)
		return 0;
	add_codes(code, sampling);
	const uint32_t early = add_list(ran, buffer, sampling);
	describe(how, sampling);
	return early;
}

bool weft__format_ran_is_growing(const struct weft__live_table *tables, uint32_t count)
{
	const struct weft__live_table *how = find(tables, count, WEFT_ABI_TABLE_sampling,
		WEFT_ABI_TABLE_STATE, sizeof(struct weft_abi_sampling_row));
	const struct weft_abi_sampling_row *row = how ? row_of(how, 0) : NULL;
	return row && __atomic_load_n(&row->is_growing, __ATOMIC_ACQUIRE);
}
