/* SPDX-License-Identifier: ISC
 *
 * The side tables in a stream. New rows come before the packets, since events may refer to them;
 * those of tables that change all the time come only with the looks that take open packets, so that
 * a stream does not grow faster than that. Each file of a stream has all rows, but for the newest
 * ones that belong to a time: these are in the file that was written then.
 */
#include <stdlib.h>
#include <string.h>

#include "format/weft/drain/draining.h"
#include "format/weft/ran_live.h"

int weft__format_drain_find_tables(struct weft__drain *d)
{
	d->table_count = weft__format_tables_find(&d->buffer, d->tables);
	for (uint32_t i = 0; i < d->table_count; i++) {
		const struct weft_abi_table *entry = &d->tables[i].entry;
		if (entry->growth == WEFT_ABI_TABLE_STATE &&
			!(d->states[i] = calloc(entry->room + (size_t)1, entry->row_bytes)))
			return WEFT_ERROR_MEMORY;
	}
	return 0;
}

void weft__format_drain_free_tables(struct weft__drain *d)
{
	for (uint32_t i = 0; i < d->table_count; i++)
		free(d->states[i]);
}

static bool begins_anew(const struct weft__drain *d, uint32_t i)
{
	const struct weft_abi_table *entry = &d->tables[i].entry;
	return d->begins &&
		   (entry->growth != WEFT_ABI_TABLE_NEWEST || entry->cut != WEFT_ABI_TABLE_IN_RANGE);
}

/* False if there is nothing new for sure. */
static bool may_have_news(const struct weft__drain *d, uint32_t i)
{
	const struct weft__live_table *table = &d->tables[i];
	if (begins_anew(d, i))
		return true;
	if (table->entry.growth != WEFT_ABI_TABLE_GROWS && !d->are_tables_due)
		return false;
	uint32_t count = weft__format_table_count(table);
	return table->entry.growth == WEFT_ABI_TABLE_STATE ||
		   (table->entry.growth == WEFT_ABI_TABLE_GROWS ? count > d->table_rows[i]
														: count != d->table_rows[i]);
}

/* True if these rows of a state are in the file. Remembers them otherwise. */
static bool is_known_state(struct weft__drain *d, uint32_t i, const uint8_t *rows, uint32_t count)
{
	size_t bytes = (size_t)count * d->tables[i].entry.row_bytes;
	if (!d->states[i])
		return false;
	if (!d->begins && count == d->state_rows[i] && memcmp(d->states[i], rows, bytes) == 0)
		return true;
	memcpy(d->states[i], rows, bytes);
	d->state_rows[i] = count;
	return false;
}

static int add_table(struct weft__drain *d, uint32_t i)
{
	const struct weft__live_table *table = &d->tables[i];
	struct weft_abi_table entry = table->entry;
	if (begins_anew(d, i))
		d->table_rows[i] = 0;
	struct weft_abi_chunk chunk = {.kind = WEFT_ABI_CHUNK_TABLE, .at = d->table_rows[i]};
	size_t most = sizeof(chunk) + sizeof(entry) + (size_t)entry.room * entry.row_bytes;
	int error = weft__format_piece_reserve(&d->front, most);
	if (error)
		return error;
	uint8_t *content = d->front.bytes + d->front.size + sizeof(chunk);
	entry.count = weft__format_table_load(table, &d->table_rows[i], content + sizeof(entry));
	if (is_known_state(d, i, content + sizeof(entry), entry.count))
		return 0;
	memcpy(content, &entry, sizeof(entry));
	chunk.bytes = (uint32_t)(sizeof(entry) + (size_t)entry.count * entry.row_bytes);
	weft__format_piece_begin_chunk(&d->front, chunk);
	weft__format_piece_end_chunk(&d->front, chunk.bytes);
	return 0;
}

bool weft__format_drain_awaits_samples(const struct weft__drain *d)
{
	return weft__format_ran_is_growing(d->tables, d->table_count);
}

int weft__format_drain_add_tables(struct weft__drain *d)
{
	int error = 0;
	for (uint32_t i = 0; i < d->table_count && !error; i++)
		if (may_have_news(d, i))
			error = add_table(d, i);
	if (!error)
		d->are_tables_due = false;
	return error;
}
