/* SPDX-License-Identifier: ISC
 *
 * Lays out a buffer: divides its size among the parts.
 */
#include <string.h>

#include <weft/error.h>

#include "abi/name_abi.h"
#include "record/atomics.h"
#include "record/recorder.h"

#define ALIGNMENT 64
#define SLOTS_MIN 80

static uint64_t power_of_two_up_to(uint64_t n)
{
	return n ? (uint64_t)1 << (63 - __builtin_clzll(n)) : 0;
}

/* The largest power of two up to `n`, within bounds. */
static uint64_t power_between(uint64_t least, uint64_t n, uint64_t most)
{
	uint64_t power = power_of_two_up_to(n);
	return power < least ? least : power > most ? most : power;
}

static void lay_out(struct weft_abi_buffer *header, uint64_t size)
{
	/* Even in the smallest buffer, 64 idle threads leave some slots. */
	uint64_t slots = size / 4096 < SLOTS_MIN ? SLOTS_MIN : power_between(64, size / 4096, 1024);
	uint64_t names = power_between(4096, size / 32, 1 << 20);
	uint64_t packet =
		power_between(WEFT_ABI_PACKET_MIN_BYTES, size / 64, WEFT_ABI_PACKET_MAX_BYTES);
	header->version = WEFT_ABI_VERSION;
	header->header_bytes = sizeof(*header);
	header->buffer_bytes = size;
	header->slots_offset = sizeof(*header);
	header->slot_bytes = sizeof(struct weft_abi_slot);
	header->slot_count = (uint32_t)slots;
	header->names_offset =
		header->slots_offset + slots * (sizeof(struct weft_abi_slot) + WEFT_ABI_NAME_BYTES);
	header->names_bytes = (uint32_t)names;
	/* A quarter of the table is the index: 4 bytes for each 16 of the table, so that entries fill
	 * it at most to 3/4. */
	header->names_index = (uint32_t)(names / 16);
	header->metrics_offset = header->names_offset + names;
	header->packets_offset = header->metrics_offset;
	header->packet_bytes = (uint32_t)packet;
	header->packet_count =
		(uint32_t)((size - header->packets_offset) >> __builtin_ctz((unsigned)packet));
	header->has_categories = 1;
	header->next_task = 1;
}

/* Zeroes only what must be zero: the packets of a fresh file stay untouched. */
static void clear(unsigned char *buffer, const struct weft_abi_buffer *header)
{
	memset(buffer + header->slots_offset, 0, header->packets_offset - header->slots_offset);
	for (uint32_t i = 0; i < header->packet_count; i++)
		memset(buffer + header->packets_offset + (uint64_t)i * header->packet_bytes, 0,
			sizeof(struct weft_abi_packet));
}

int weft__buffer_lay_out(void *buffer, size_t size)
{
	struct weft_abi_buffer *header = buffer;
	if (!buffer || size < WEFT_ABI_BUFFER_MIN_BYTES || (uintptr_t)buffer % ALIGNMENT)
		return WEFT_ERROR_ARGUMENT;
	/* Packet numbers have 32 bits; 2^31 packets of 64 KiB are enough. */
	if ((uint64_t)size >> 47)
		return WEFT_ERROR_LIMIT;
	memset(header, 0, sizeof(*header));
	lay_out(header, size);
	clear(buffer, header);
	return 0;
}
