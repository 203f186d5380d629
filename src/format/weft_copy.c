/* SPDX-License-Identifier: ISC
 *
 * Whether a packet was overwritten while it was copied is known afterwards: the copy has its state
 * from before, the original the state of now, and a sequence is never used twice. Such a packet is
 * marked as one that is being opened: its old content gone, its new one not there yet.
 */
#include <weft/buffer.h>

#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "base/export.h"
#include "base/little_endian.h"
#include "format/weft_buffer.h"

#define AT(field) offsetof(struct weft_abi_packet, field)

static void mend_packet(uint8_t *copy, const uint8_t *live)
{
	const uint64_t opening = WEFT_ABI_PACKET_OPENING;
	uint64_t before = weft__load_u64(copy + AT(state));
	if (before >> 2 == weft__load_u64(live + AT(state)) >> 2)
		return;
	/* What the present content replaced is what the copy misses. */
	memcpy(copy + AT(written), live + AT(before), sizeof(uint64_t));
	memcpy(copy + AT(state), &opening, sizeof(opening));
}

WEFT__EXPORT void weft_buffer_mend_copy(void *copy, const void *live, size_t size)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {copy, size, &diagnostics, &description};
	struct weft__buffer buffer;
	if (!weft__buffer_probe(copy, size) || weft__buffer_init(&buffer, &input))
		return;
	/* Acquire: the copy's loads come before the second look at the states. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < buffer.packet_count; i++) {
		uint64_t offset = buffer.packets_offset + (uint64_t)i * buffer.packet_bytes;
		mend_packet((uint8_t *)copy + offset, (const uint8_t *)live + offset);
	}
	/* Names only grow, and losses too: those of now fit what is left. */
	memcpy(copy, live, buffer.packets_offset);
}
