/* SPDX-License-Identifier: ISC
 *
 * Copies a buffer that is being recorded into. For each thread, the copy has the events up to some
 * time during the copying. None are missing in between but for those that were overwritten: a
 * writer that had no turn may have left an old packet as it was.
 *
 * Packets are copied from the oldest on. The oldest is also overwritten next, so the copy stays
 * ahead of the writers. A packet that was claimed after the copying began is left out: its thread
 * may have written earlier events to another packet after that one was copied, and the copy would
 * have a gap. The old content of a packet that is left out is overwritten; the copy of its header
 * says so with the state "opening": the old content is gone, and the new one is not there yet.
 */
#include <weft/buffer.h>

#include <string.h>

#include "abi/buffer_abi.h"
#include "base/export.h"
#include "format/live_memory.h"
#include "format/weft/packet.h"
#include "format/weft/tables.h"

/* Copies one packet; only the header if it is damaged, because its events cannot be read. `last`:
 * the sequence of the last claim before the copying began. False if the content is being replaced,
 * or is newer than `last`. */
static bool copy_content(
	uint8_t *copy, const struct weft__buffer *buffer, uint32_t index, uint64_t last)
{
	struct weft_abi_packet header;
	enum weft__verdict verdict = weft__format_packet_read(buffer, index, &header);
	if (verdict == WEFT__PACKET_UNUSED)
		return true;
	if (!weft__format_packet_is_readable(verdict) || weft__format_packet_sequence(&header) > last)
		return false;
	memcpy(copy, &header, sizeof(header));
	if (verdict == WEFT__PACKET_DAMAGED ||
		weft__format_packet_copy(buffer, index, &header, sizeof(header), copy + sizeof(header)))
		return true;
	memset(copy, 0, header.committed);
	return false;
}

static void copy_packet(
	uint8_t *copy, const struct weft__buffer *buffer, uint32_t index, uint64_t last)
{
	if (copy_content(copy, buffer, index, last))
		return;
	const struct weft_abi_packet gone = {
		.state = WEFT_ABI_PACKET_OPENING,
		.written = weft__format_packet_gone(buffer, index),
	};
	memcpy(copy, &gone, sizeof(gone));
}

/* A table's rows are copied after its `count`, which says that they are complete. */
struct table_counts {
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	uint32_t rows[WEFT_ABI_TABLES_MAX];
	uint32_t count;
};

static void load_counts(struct table_counts *counts, const struct weft__buffer *buffer)
{
	counts->count = weft__format_tables_find(buffer, counts->tables);
	for (uint32_t i = 0; i < counts->count; i++)
		counts->rows[i] = weft__format_table_count(&counts->tables[i]);
}

static void store_counts(uint8_t *copy, const uint8_t *live, const struct table_counts *counts)
{
	for (uint32_t i = 0; i < counts->count; i++)
		memcpy(copy + (counts->tables[i].count - live), &counts->rows[i], sizeof(uint32_t));
}

/* Copies all that precedes the packets. The layout is taken from the checked header, because the
 * live one may have changed. */
static void copy_front(uint8_t *copy, const uint8_t *live, const struct weft__buffer *buffer)
{
	const uint32_t whole = 0;
	struct table_counts counts;
	load_counts(&counts, buffer);
	/* Names and losses only grow: copied after the packets, they cover all copied events. */
	weft__format_live_copy(copy, live, buffer->packets_offset);
	store_counts(copy, live, &counts);
	memcpy(copy, buffer->header, offsetof(struct weft_abi_buffer, uuid));
	memcpy(copy + offsetof(struct weft_abi_buffer, stream), &whole, sizeof(whole));
}

/* The tables that were added behind the packets. */
static void copy_added(uint8_t *copy, const uint8_t *live, const struct weft__buffer *buffer)
{
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	const uint32_t count = weft__format_tables_find(buffer, tables);
	const uint8_t *end = live + buffer->packets_offset;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t bytes = (uint64_t)tables[i].entry.room * tables[i].entry.row_bytes;
		const uint8_t *start = tables[i].rows - sizeof(tables[i].entry);
		if (start >= end)
			weft__format_live_copy(copy + (start - live), start, sizeof(tables[i].entry) + bytes);
	}
}

WEFT__EXPORT int weft_buffer_copy(void *copy, const void *live, size_t size)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {
		.bytes = live, .size = size, .diagnostics = &diagnostics, .description = &description};
	const struct weft_abi_buffer *header = live;
	struct weft__buffer buffer;
	if (!weft__format_buffer_probe(live, size)) {
		memcpy(copy, live, size);
		return 0;
	}
	int error = weft__format_buffer_find_parts(&buffer, &input);
	if (error)
		return error;
	uint64_t last = __atomic_load_n(&header->hand, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < buffer.packet_count; i++) {
		uint32_t index = (uint32_t)((last + i) % buffer.packet_count);
		uint64_t offset = buffer.packets_offset + (uint64_t)index * buffer.packet_bytes;
		copy_packet((uint8_t *)copy + offset, &buffer, index, last);
	}
	copy_added(copy, live, &buffer);
	copy_front(copy, live, &buffer);
	return 0;
}
