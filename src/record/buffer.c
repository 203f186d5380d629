/* SPDX-License-Identifier: ISC
 *
 * Writes the first half of a new buffer's header, and clears what must be zero.
 */
#include <string.h>

#include <weft/error.h>

#include "record/recorder.h"
#include "record/side_tables.h"

#define ALIGNMENT 64

int weft__record_buffer_check(const void *buffer, size_t size)
{
	if (!buffer || size < WEFT_ABI_BUFFER_MIN_BYTES || (uintptr_t)buffer % ALIGNMENT)
		return WEFT_ERROR_ARGUMENT;
	/* Packet numbers have 32 bits; 2^31 packets of 64 KiB are enough. */
	return (uint64_t)size >> 47 ? WEFT_ERROR_LIMIT : 0;
}

/* Readers find the parts by the header; the recorder itself never reads these fields. */
static void describe_parts(const struct weft__region *region)
{
	struct weft_abi_buffer *header = region->header;
	const unsigned char *start = (const unsigned char *)header;
	header->version = WEFT_ABI_VERSION;
	header->header_bytes = sizeof(*header);
	header->buffer_bytes = region->size;
	header->slots_offset = (uint64_t)((const unsigned char *)region->slots - start);
	header->slot_bytes = sizeof(struct weft_abi_slot);
	header->slot_count = region->slot_count;
	header->names_offset = (uint64_t)(region->names - start);
	header->names_bytes = region->names_bytes;
	header->names_index = region->names_index;
	header->packets_offset = (uint64_t)(region->packets - start);
	header->tables_offset = (uint64_t)(region->tables - start);
	header->tables_bytes = (uint64_t)(region->packets - region->tables);
	header->packet_bytes = region->packet_bytes;
	header->packet_count = region->packet_count;
	header->has_categories = 1;
	header->next_task = 1;
}

void weft__record_buffer_prepare(const struct weft__region *region, bool is_zero)
{
	if (!is_zero) {
		unsigned char *slots = (unsigned char *)region->slots;
		memset(region->header, 0, sizeof(*region->header));
		memset(slots, 0, (size_t)(region->packets - slots));
		for (uint32_t i = 0; i < region->packet_count; i++)
			memset(weft__record_region_packet_at(region, i), 0, sizeof(struct weft_abi_packet));
	}
	describe_parts(region);
	weft__record_side_tables_prepare(region);
}
