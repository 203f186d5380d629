/* SPDX-License-Identifier: ISC */
#include "format/weft/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "format/live_memory.h"
#include "model/side_tables.h"

#define ALERTS_MAX 4 /* a snapshot has one */

/* A stream has all rows that were ever the newest. */
#define NEWEST_MAX_BYTES ((uint64_t)64 << 20)

/* A buffer's tables in memory of the reader. */
struct weft__tables {
	struct weft__side_tables described;
	struct weft__side_table list[WEFT_ABI_TABLES_MAX];
	struct weft_abi_table entries[WEFT_ABI_TABLES_MAX];
	uint8_t *rows[WEFT_ABI_TABLES_MAX];
	uint64_t capacities[WEFT_ABI_TABLES_MAX];
	uint32_t count;
	struct weft_trace_alert alerts[ALERTS_MAX];
};

#define AT(field) offsetof(struct weft_abi_table, field)

/* ---- In a buffer ---- */

/* True if the rows have a size that a reader can step over. */
static bool has_size(const struct weft_abi_table *t)
{
	return t->row_bytes && t->row_bytes % 8 == 0 && t->row_bytes <= WEFT_ABI_ROW_MAX_BYTES &&
		   t->room <= WEFT_ABI_TABLE_MAX_BYTES / t->row_bytes;
}

/* A later version may have further rules; such a table cannot be copied. */
static bool has_known_rules(const struct weft_abi_table *t)
{
	return t->growth < WEFT_ABI_TABLE_GROWTHS && t->cut < WEFT_ABI_TABLE_CUTS;
}

static bool is_in(const struct weft__live_table *tables, uint32_t count, uint16_t number)
{
	for (uint32_t i = 0; i < count; i++)
		if (tables[i].entry.number == number)
			return true;
	return false;
}

/* A part of the buffer with tables. */
struct part {
	const uint8_t *at; /* NULL: there is none */
	uint64_t left;
};

/* The program's own tables, which lie before the packets. */
static struct part find_own_part(const struct weft__buffer *b)
{
	uint64_t offset = weft__load_u64(b->header + offsetof(struct weft_abi_buffer, tables_offset));
	uint64_t bytes = weft__load_u64(b->header + offsetof(struct weft_abi_buffer, tables_bytes));
	if (b->stream || offset < sizeof(struct weft_abi_buffer) || offset % 8 ||
		offset > b->packets_offset || bytes > b->packets_offset - offset)
		return (struct part){NULL, 0};
	return (struct part){b->bytes + offset, bytes};
}

/* Those that were added at the program's end, behind the packets. */
static struct part find_added_part(const struct weft__buffer *b)
{
	const uint64_t end = b->packets_offset + (uint64_t)b->packet_count * b->packet_bytes;
	uint64_t bytes = weft__load_u64(b->header + offsetof(struct weft_abi_buffer, added_bytes));
	uint64_t offset = weft__load_u64(b->header + offsetof(struct weft_abi_buffer, added_offset));
	if (b->stream || !bytes || offset < end || offset % 8 || offset > b->size ||
		bytes > b->size - offset)
		return (struct part){NULL, 0};
	return (struct part){b->bytes + offset, bytes};
}

/* Takes the next table of the list. False if there is none, or if its size is impossible. */
static bool take_table(struct part *part, struct weft__live_table *ret_table)
{
	struct weft_abi_table *entry = &ret_table->entry;
	*ret_table = (struct weft__live_table){.count = part->at + AT(count)};
	if (part->left < sizeof(*entry))
		return false;
	weft__format_live_copy(entry, part->at, sizeof(*entry));
	if (!entry->number || !has_size(entry) ||
		(uint64_t)entry->room * entry->row_bytes > part->left - sizeof(*entry))
		return false;
	ret_table->rows = part->at + sizeof(*entry);
	uint64_t bytes = sizeof(*entry) + (uint64_t)entry->room * entry->row_bytes;
	part->at += bytes;
	part->left -= bytes;
	return true;
}

static uint32_t find_in(struct part part, struct weft__live_table *ret_tables, uint32_t count)
{
	struct weft__live_table t;
	while (part.at && count < WEFT_ABI_TABLES_MAX && take_table(&part, &t))
		if (has_known_rules(&t.entry) && !is_in(ret_tables, count, t.entry.number))
			ret_tables[count++] = t;
	return count;
}

uint32_t weft__format_tables_find(
	const struct weft__buffer *b, struct weft__live_table ret_tables[WEFT_ABI_TABLES_MAX])
{
	return find_in(find_added_part(b), ret_tables, find_in(find_own_part(b), ret_tables, 0));
}

uint32_t weft__format_tables_find_added(
	const struct weft__buffer *b, struct weft__live_table ret_tables[WEFT_ABI_TABLES_MAX])
{
	return find_in(find_added_part(b), ret_tables, 0);
}

uint64_t weft__format_tables_end(const struct weft__buffer *b)
{
	struct part part = find_own_part(b);
	struct weft__live_table t;
	uint32_t count = 0;
	if (!weft__load_u64(b->header + offsetof(struct weft_abi_buffer, tables_bytes)))
		return b->packets_offset; /* of an earlier version */
	if (!part.at || part.at + part.left != b->bytes + b->packets_offset)
		return UINT64_MAX;
	while (count < WEFT_ABI_TABLES_MAX && take_table(&part, &t))
		count++;
	bool is_whole = part.left < sizeof(t.entry) || !t.entry.number;
	return is_whole && count < WEFT_ABI_TABLES_MAX ? (uint64_t)(part.at - b->bytes) : UINT64_MAX;
}

uint32_t weft__format_table_count(const struct weft__live_table *t)
{
	uint32_t count = t->count ? weft__load_u32(t->count) : t->entry.room;
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* the rows were stored before it */
	bool is_total = t->entry.growth == WEFT_ABI_TABLE_NEWEST;
	return is_total || count < t->entry.room ? count : t->entry.room;
}

/* False if the row is another one, or not complete, before or after the copy was made. */
static bool copy_numbered(const struct weft__live_table *t, uint32_t number, uint8_t *to)
{
	uint64_t bytes = t->entry.row_bytes;
	const uint8_t *row = t->rows + number % t->entry.room * bytes;
	const uint8_t *stored = row + bytes - sizeof(uint32_t);
	if (weft__load_u32(stored) != number + 1)
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	weft__format_live_copy(to, row, bytes);
	return weft__load_u32(stored) == number + 1;
}

static uint32_t load_newest(const struct weft__live_table *t, uint32_t *from, uint8_t *to)
{
	uint32_t count = weft__format_table_count(t), kept = count - *from, copied = 0;
	if (kept > t->entry.room)
		kept = t->entry.room;
	for (uint32_t number = count - kept; number != count; number++)
		copied += copy_numbered(t, number, to + (uint64_t)copied * t->entry.row_bytes);
	*from = count;
	return copied;
}

uint32_t weft__format_table_load(const struct weft__live_table *t, uint32_t *from, uint8_t *to)
{
	if (t->entry.growth == WEFT_ABI_TABLE_NEWEST)
		return load_newest(t, from, to);
	uint32_t count = weft__format_table_count(t);
	uint32_t first = t->entry.growth == WEFT_ABI_TABLE_STATE ? 0 : *from;
	uint64_t bytes = t->entry.row_bytes;
	if (first > count) /* a hostile program took rows back */
		return 0;
	weft__format_live_copy(to, t->rows + first * bytes, (count - first) * bytes);
	*from = count;
	return count - first;
}

/* ---- In memory of the reader ---- */

static struct weft__tables *own_tables(struct weft__buffer *b)
{
	if (!b->tables)
		b->tables = calloc(1, sizeof(*b->tables));
	return b->tables;
}

/* Makes room for so many rows; new ones are zero. 0 or WEFT_ERROR_MEMORY. */
static int reserve_rows(struct weft__tables *own, uint32_t i, uint64_t rows)
{
	uint64_t bytes = rows * own->entries[i].row_bytes, capacity = own->capacities[i];
	if (bytes <= capacity)
		return 0;
	capacity = 2 * capacity > bytes ? 2 * capacity : bytes;
	uint8_t *more = realloc(own->rows[i], (size_t)capacity);
	if (!more)
		return WEFT_ERROR_MEMORY;
	memset(more + own->capacities[i], 0, (size_t)(capacity - own->capacities[i]));
	own->rows[i] = more;
	own->capacities[i] = capacity;
	return 0;
}

/* The table with that number, which may be new; or WEFT_ABI_TABLES_MAX. */
static uint32_t find_own(struct weft__tables *own, const struct weft_abi_table *entry)
{
	uint32_t i = 0;
	while (i < own->count && own->entries[i].number != entry->number)
		i++;
	if (i == WEFT_ABI_TABLES_MAX || i < own->count)
		return i;
	own->entries[i] = *entry;
	own->entries[i].count = 0;
	return own->count++;
}

/* Where the chunk's rows go; UINT64_MAX: nowhere. */
static uint64_t find_row(
	const struct weft__tables *own, uint32_t i, const struct weft_abi_table *entry, uint64_t at)
{
	const struct weft_abi_table *t = &own->entries[i];
	uint64_t most = WEFT_ABI_TABLE_MAX_BYTES / t->row_bytes;
	if (t->row_bytes != entry->row_bytes || t->growth != entry->growth || entry->count > most)
		return UINT64_MAX;
	if (t->growth == WEFT_ABI_TABLE_STATE)
		return 0;
	if (t->growth == WEFT_ABI_TABLE_NEWEST)
		return t->count;
	return at <= most - entry->count ? at : UINT64_MAX;
}

/* A stream may have too many. Drops half of them at a time, so that it costs
 * little for each. */
static uint64_t drop_oldest(struct weft__tables *own, uint32_t i, uint32_t more)
{
	struct weft_abi_table *t = &own->entries[i];
	uint64_t most = NEWEST_MAX_BYTES / t->row_bytes;
	if (t->growth != WEFT_ABI_TABLE_NEWEST || t->count + (uint64_t)more <= most)
		return t->count;
	uint64_t kept = more > most / 2 ? 0 : t->count / 2;
	memmove(own->rows[i], own->rows[i] + (t->count - kept) * t->row_bytes, kept * t->row_bytes);
	return t->count = (uint32_t)kept;
}

static int add_rows(
	struct weft__tables *own, uint32_t i, uint64_t at, const uint8_t *rows, uint32_t count)
{
	struct weft_abi_table *t = &own->entries[i];
	uint64_t end = at + count;
	int error = reserve_rows(own, i, end);
	if (error)
		return error;
	if (count)
		memcpy(own->rows[i] + at * t->row_bytes, rows, (size_t)count * t->row_bytes);
	if (t->growth == WEFT_ABI_TABLE_STATE || end > t->count)
		t->count = (uint32_t)end;
	return 0;
}

int weft__format_tables_add_chunk(
	struct weft__buffer *b, const struct weft__chunk *chunk, struct weft_diagnostics *diagnostics)
{
	static const char invalid[] = "a table chunk is invalid";
	struct weft__tables *own = own_tables(b);
	struct weft_abi_table entry = {0};
	if (!own)
		return WEFT_ERROR_MEMORY;
	if (chunk->bytes >= sizeof(entry))
		memcpy(&entry, chunk->content, sizeof(entry));
	if (!entry.number || !has_size(&entry) ||
		chunk->bytes - sizeof(entry) != (uint64_t)entry.count * entry.row_bytes) {
		weft_diagnostics_add(diagnostics, chunk->offset, invalid);
		return 0;
	}
	uint32_t i = has_known_rules(&entry) ? find_own(own, &entry) : WEFT_ABI_TABLES_MAX;
	if (i == WEFT_ABI_TABLES_MAX)
		return 0;
	uint64_t at = find_row(own, i, &entry, chunk->at);
	if (at == UINT64_MAX) {
		weft_diagnostics_add(diagnostics, chunk->offset, invalid);
		return 0;
	}
	if (entry.growth == WEFT_ABI_TABLE_NEWEST)
		at = drop_oldest(own, i, entry.count);
	return add_rows(own, i, at, chunk->content + sizeof(entry), entry.count);
}

static int copy_table(struct weft__tables *own, const struct weft__live_table *live)
{
	uint32_t i = find_own(own, &live->entry), from = 0;
	if (i == WEFT_ABI_TABLES_MAX)
		return 0;
	int error = reserve_rows(own, i, live->entry.room);
	if (!error && live->entry.room)
		own->entries[i].count = weft__format_table_load(live, &from, own->rows[i]);
	return error;
}

static uint64_t to_ns(const void *buffer, uint64_t ticks)
{
	return weft__format_ticks_to_ns(&((const struct weft__buffer *)buffer)->clock, ticks);
}

static struct weft_slice name(const void *buffer, unsigned id)
{
	return weft__format_buffer_name(buffer, id);
}

static void take_text(char *to, size_t size, const char *from)
{
	memcpy(to, from, size - 1);
	to[size - 1] = '\0';
}

static struct weft_trace_alert alert_of(
	const struct weft__buffer *b, const struct weft_abi_alert_row *row)
{
	struct weft_trace_alert alert = {
		.time_ns = weft__format_ticks_to_ns(&b->clock, row->time),
		.ticks = row->time,
		.task = row->task ? row->task : WEFT_TASK_NONE,
	};
	take_text(alert.name, sizeof(alert.name), row->name);
	take_text(alert.rule, sizeof(alert.rule), row->rule);
	take_text(alert.value, sizeof(alert.value), row->value);
	return alert;
}

static void describe_alerts(struct weft__buffer *b, struct weft__tables *own)
{
	struct weft_abi_alert_row row;
	uint32_t count = 0;
	for (uint32_t i = 0; i < own->count; i++) {
		const struct weft_abi_table *t = &own->entries[i];
		if (t->number != WEFT_ABI_TABLE_alert || t->row_bytes < sizeof(row))
			continue;
		for (uint32_t n = 0; n < t->count && count < ALERTS_MAX; n++) {
			memcpy(&row, own->rows[i] + (size_t)n * t->row_bytes, sizeof(row));
			own->alerts[count++] = alert_of(b, &row);
		}
	}
	b->about.alerts = own->alerts;
	b->about.alert_count = count;
}

static void describe(struct weft__buffer *b, struct weft__tables *own)
{
	for (uint32_t i = 0; i < own->count; i++)
		own->list[i] = (struct weft__side_table){
			.entry = &own->entries[i],
			.rows = own->rows[i],
			.number = own->entries[i].number,
			.row_bytes = own->entries[i].row_bytes,
			.count = own->entries[i].count,
		};
	own->described = (struct weft__side_tables){own->list, own->count, b, to_ns, name};
	b->about.tables = &own->described;
	describe_alerts(b, own);
}

int weft__format_tables_read(struct weft__buffer *b)
{
	struct weft__live_table live[WEFT_ABI_TABLES_MAX];
	uint32_t count = weft__format_tables_find(b, live);
	struct weft__tables *own = count ? own_tables(b) : b->tables;
	int error = count && !own ? WEFT_ERROR_MEMORY : 0;
	for (uint32_t i = 0; i < count && !error; i++)
		error = copy_table(own, &live[i]);
	if (own && !error)
		describe(b, own);
	return error;
}

const uint8_t *weft__format_tables_rows(const struct weft__buffer *b, uint16_t number,
	size_t row_bytes, struct weft_abi_table *ret_table)
{
	const struct weft__tables *own = b->tables;
	for (uint32_t i = 0; own && i < own->count; i++)
		if (own->entries[i].number == number && own->entries[i].row_bytes >= row_bytes &&
			own->entries[i].count) {
			*ret_table = own->entries[i];
			return own->rows[i];
		}
	return NULL;
}

void weft__format_tables_finish(struct weft__buffer *b)
{
	for (uint32_t i = 0; b->tables && i < b->tables->count; i++)
		free(b->tables->rows[i]);
	free(b->tables);
	b->tables = NULL;
	b->about.tables = NULL;
	b->about.alerts = NULL;
	b->about.alert_count = 0;
}
