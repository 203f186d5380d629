/* SPDX-License-Identifier: ISC
 *
 * The last values of counters of a program that was killed. It has not recorded them, but they were
 * in memory that outlives it. They are a side table of its saved buffer. A reader gives them as
 * totals behind the last event, where the program would have recorded them.
 *
 * A value agrees with the events if the program was not killed in the middle of a change: between
 * the two stores with which the change's event is committed (record/text.c). The slot of such a
 * thread has an older `offset` than its packet.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/buffer.h>

#include "abi/buffer_abi.h"
#include "abi/event_abi.h"
#include "abi/name_abi.h"
#include "base/export.h"
#include "base/little_endian.h"
#include "format/weft/follow/followed.h"
#include "format/weft/packet.h"
#include "format/weft/tables.h"

#define AT(field) offsetof(struct weft_abi_buffer, field)

/* ---- Changes that were not complete ---- */

/* The name of a counter that the event at `at` changes; 0: it is another event. */
static unsigned counter_of(const uint8_t *at)
{
	const uint64_t head = weft__load_u64(at);
	const unsigned kind = weft__abi_head_kind(head) & ~(unsigned)WEFT_ABI_EXPLICIT;
	const bool is_change = kind == WEFT_ABI_COUNTER || kind == WEFT_ABI_COUNTER_SET ||
						   kind == WEFT_ABI_COUNTER_F64 || kind == WEFT_ABI_COUNTER_SET_F64;
	return is_change ? (unsigned)(head >> 48) : 0;
}

/* The packet into which the slot's thread writes. False: it has none. */
static bool find_packet(const struct weft__buffer *b, const struct weft_abi_slot *slot,
	uint64_t slot_offset, uint32_t *ret_index)
{
	const uint64_t offset = slot_offset + slot->packet;
	if (!slot->packet || offset < b->packets_offset ||
		(offset - b->packets_offset) % b->packet_bytes ||
		(offset - b->packets_offset) / b->packet_bytes >= b->packet_count)
		return false;
	*ret_index = (uint32_t)((offset - b->packets_offset) / b->packet_bytes);
	return true;
}

/* The name of the counter that a slot's thread was changing, or 0. */
static unsigned changing(const struct weft__buffer *b, uint64_t slot_offset, uint32_t number)
{
	struct weft_abi_slot slot;
	struct weft_abi_packet packet;
	uint32_t index;
	memcpy(&slot, b->bytes + slot_offset, sizeof(slot));
	if (!find_packet(b, &slot, slot_offset, &index) ||
		weft__format_packet_read(b, index, &packet) != WEFT__PACKET_WHOLE ||
		weft__format_packet_state(&packet) != WEFT_ABI_PACKET_OPEN || packet.slot != number ||
		slot.offset % 8 || slot.offset < sizeof(packet) || slot.offset >= packet.committed)
		return 0;
	return counter_of(weft__format_buffer_packet(b, index) + slot.offset);
}

/* Finds the counters that were being changed: a byte for each id. False: the slots are damaged. */
static bool find_unsure(const struct weft__buffer *b, uint8_t *is_unsure)
{
	const uint64_t offset = weft__load_u64(b->header + AT(slots_offset));
	const uint64_t bytes = weft__load_u32(b->header + AT(slot_bytes));
	const uint64_t count = weft__load_u32(b->header + AT(slot_count));
	if (bytes < sizeof(struct weft_abi_slot) || offset > b->size ||
		count * bytes > b->size - offset)
		return false;
	for (uint32_t i = 0; i < count; i++)
		is_unsure[changing(b, offset + i * bytes, i)] = true;
	return true;
}

/* ---- The table ---- */

static bool has_recorded_them(const struct weft__buffer *b)
{
	const uint32_t ending = weft__load_u32(b->header + AT(ending));
	return ending == WEFT_ENDING_EXIT || ending == WEFT_ENDING_STOP ||
		   ending == WEFT_ENDING_RUNNING || weft__load_u32(b->header + AT(stopped)) ||
		   weft__load_u32(b->header + AT(stop_reason));
}

/* When a level has changed last: changes of counters may not have been recorded until then. */
static uint64_t last_change(const struct weft__buffer *b)
{
	uint64_t latest = 0;
	for (size_t i = 0; i < WEFT_ABI_CHANGES; i++) {
		struct weft_abi_change change;
		memcpy(&change, b->header + AT(changes) + i * sizeof(change), sizeof(change));
		latest = change.ticks > latest ? change.ticks : latest;
	}
	return latest;
}

static const struct weft_buffer_value *find_value(
	const struct weft_buffer_value *values, size_t count, struct weft_slice name)
{
	for (size_t i = 0; name.bytes && i < count; i++)
		if (strlen(values[i].name) == name.size &&
			memcmp(values[i].name, name.bytes, name.size) == 0)
			return &values[i];
	return NULL;
}

static struct weft_abi_last_values_row row_of(
	const struct weft_buffer_value *value, uint16_t name, bool is_unsure, uint64_t time)
{
	struct weft_abi_last_values_row row = {.time = time,
		.value = (uint64_t)value->integer,
		.is_real = value->is_real,
		.begins_at_0 = value->begins_at_0,
		.name = name,
		.is_unsure = is_unsure};
	if (value->is_real)
		memcpy(&row.value, &value->real, sizeof(row.value));
	return row;
}

/* A row for each value whose counter the buffer has a name for. Returns their number. */
static uint32_t fill(const struct weft__buffer *b, const struct weft_buffer_value *values,
	size_t count, const uint8_t *is_unsure, struct weft_abi_last_values_row *rows)
{
	const uint64_t time = last_change(b);
	struct weft_slice name;
	uint32_t made = 0;
	for (uint64_t at = 0, next = 0; made < count && weft__format_buffer_next_name(b, &next, &name);
		 at = next) {
		const uint16_t id = (uint16_t)(at / WEFT_ABI_NAME_UNIT + 1);
		const struct weft_buffer_value *value = find_value(values, count, name);
		if (value)
			rows[made++] = row_of(value, id, is_unsure[id], time);
	}
	return made;
}

/* `is_unsure` is zero. */
static int make_table(const struct weft__buffer *b, const struct weft_buffer_value *values,
	size_t count, uint8_t *is_unsure, void **ret_table, size_t *ret_size)
{
	struct weft_abi_table *table =
		malloc(sizeof(*table) + count * sizeof(struct weft_abi_last_values_row));
	if (!table)
		return WEFT_ERROR_MEMORY;
	if (!find_unsure(b, is_unsure)) {
		free(table);
		return WEFT_ERROR_DAMAGED;
	}
	const uint32_t made = fill(b, values, count, is_unsure, (void *)(table + 1));
	*table = (struct weft_abi_table){
		.number = WEFT_ABI_TABLE_last_values,
		.growth = WEFT_ABI_TABLE_GROWS,
		.cut = WEFT_ABI_TABLE_OF_WHOLE,
		.row_bytes = sizeof(struct weft_abi_last_values_row),
		.room = made,
		.count = made,
		.times = WEFT_ABI_TIMES_last_values,
		.names = WEFT_ABI_NAMES_last_values,
	};
	*ret_table = table;
	*ret_size = sizeof(*table) + made * sizeof(struct weft_abi_last_values_row);
	return 0;
}

WEFT__EXPORT int weft_buffer_make_last_values(const void *bytes, size_t size,
	const struct weft_buffer_value *values, size_t count, void **ret_table, size_t *ret_size)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {
		.bytes = bytes, .size = size, .diagnostics = &diagnostics, .description = &description};
	struct weft__buffer buffer;
	int error = weft__format_buffer_init(&buffer, &input);
	if (error)
		return error;
	*ret_table = NULL;
	*ret_size = 0;
	if (!count || has_recorded_them(&buffer)) {
		weft__format_buffer_finish(&buffer);
		return 0;
	}
	uint8_t *is_unsure = calloc(1, UINT16_MAX + 1);
	error = weft__format_buffer_keep_names(&buffer);
	if (!error)
		error = is_unsure ? make_table(&buffer, values, count, is_unsure, ret_table, ret_size)
						  : WEFT_ERROR_MEMORY;
	free(is_unsure);
	weft__format_buffer_finish(&buffer);
	return error;
}

/* ---- As events ---- */

int weft__format_follower_take_last_value(struct weft__follower *f, struct weft_event *event)
{
	struct weft_abi_last_values_row row;
	struct weft_abi_table table;
	const uint8_t *rows =
		weft__format_tables_rows(&f->buffer, WEFT_ABI_TABLE_last_values, sizeof(row), &table);
	while (rows && f->threads.count && f->last_values < table.count) {
		memcpy(&row, rows + (size_t)f->last_values++ * table.row_bytes, sizeof(row));
		const struct weft_slice name = weft__format_buffer_name(&f->buffer, row.name);
		const uint64_t ns = weft__format_ticks_to_ns(&f->buffer.clock, row.time);
		if (row.is_unsure || !name.bytes)
			continue;
		if (row.time && ns > f->given_ns && ns <= f->last_ns)
			f->given_ns = ns;
		*event = (struct weft_event){.type = WEFT_EVENT_TOTAL,
			.time_ns = f->given_ns,
			.task = WEFT_TASK_NONE,
			.text = name,
			.name_id = row.name,
			.is_set = true,
			.flag = row.begins_at_0 != 0,
			.is_real = row.is_real != 0,
			.value = (int64_t)row.value}; /* also the bits of `real` */
		return WEFT_OK;
	}
	return WEFT_END;
}
