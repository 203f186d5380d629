/* SPDX-License-Identifier: ISC
 *
 * Rows beside the events. Where a table is, and how large, is computed from side_tables.def: the
 * table's description in the buffer is for readers, and another process may change it.
 */
#include "record/side_tables.h"

#include <string.h>

#include "record/atomics.h"

static const struct weft_abi_table tables[] = {
#define TABLE(is, name, is_growth, has_room, is_cut, sentence) \
	{.number = (is),                                           \
		.growth = WEFT_ABI_TABLE_##is_growth,                  \
		.cut = WEFT_ABI_TABLE_##is_cut,                        \
		.row_bytes = sizeof(struct weft_abi_##name##_row),     \
		.room = (has_room),                                    \
		.times = WEFT_ABI_TIMES_##name,                        \
		.names = WEFT_ABI_NAMES_##name},
#define COLUMN(table, type, name, kind, sentence)
#define END(table)
#include <weft/side_tables.def>
#undef TABLE
#undef COLUMN
#undef END
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

static unsigned char *after(unsigned char *at, const struct weft_abi_table *table)
{
	return table->room ? at + sizeof(*table) + (size_t)table->room * table->row_bytes : at;
}

void weft__record_side_tables_prepare(const struct weft__region *region)
{
	unsigned char *at = region->tables;
	for (size_t i = 0; i < TABLES; i++) {
		if (tables[i].room)
			memcpy(at, &tables[i], sizeof(tables[i]));
		at = after(at, &tables[i]);
	}
}

/* The place of row `number`, which is below the table's room. */
static unsigned char *row_at(
	struct weft_abi_table *stored, const struct weft_abi_table *table, uint32_t number)
{
	return (unsigned char *)(stored + 1) + (size_t)number * table->row_bytes;
}

static bool add_behind(
	struct weft_abi_table *stored, const struct weft_abi_table *table, const void *row)
{
	uint32_t count = weft__load(&stored->count);
	if (count >= table->room)
		return false;
	memcpy(row_at(stored, table, count), row, table->row_bytes);
	weft__store_release(&stored->count, count + 1);
	return true;
}

/* A reader ignores the row while its number is 0. */
static void replace_oldest(
	struct weft_abi_table *stored, const struct weft_abi_table *table, const void *row)
{
	uint32_t count = weft__fetch_add(&stored->count, 1);
	unsigned char *to = row_at(stored, table, count % table->room);
	uint32_t *number = (void *)(to + table->row_bytes - sizeof(*number));
	weft__store(number, 0);
	weft__fence_release();
	memcpy(to, row, table->row_bytes - sizeof(*number));
	weft__store_release(number, count + 1);
}

bool weft__record_side_table_add(
	const struct weft__region *region, enum weft_abi_side_table number, const void *row)
{
	unsigned char *at = region->tables;
	for (size_t i = 0; i < TABLES; i++) {
		if (tables[i].number != number || !tables[i].room) {
			at = after(at, &tables[i]);
			continue;
		}
		if (tables[i].growth == WEFT_ABI_TABLE_GROWS)
			return add_behind((void *)at, &tables[i], row);
		replace_oldest((void *)at, &tables[i], row);
		return true;
	}
	return false;
}
