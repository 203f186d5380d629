/* SPDX-License-Identifier: ISC
 *
 * A copy of a buffer that is being recorded into: of each thread the events up to some moment of
 * the copying, none left out in between.
 *
 * Packets are copied from the oldest on, which is what is overwritten next: so the copy runs ahead
 * of the writers. A packet that was claimed after the copy had begun is left out, or a thread's
 * events would go on in it after others that came too late to be copied; what it replaced is
 * overwritten, and its place says so: "opening", its old content gone, its new one not there yet.
 */
#include <weft/buffer.h>

#include <string.h>

#include "abi/buffer_abi.h"
#include "base/export.h"
#include "format/live_memory.h"
#include "format/weft_packet.h"

/* `last`: the sequence of the last claim before the copy began. Of a damaged packet, whose events
 * nobody can read, the header is enough. */
static bool copy_content(
	uint8_t *copy, const struct weft__buffer *buffer, uint32_t index, uint64_t last)
{
	struct weft_abi_packet header;
	enum weft__verdict verdict = weft__packet_read(buffer, index, &header);
	if (verdict == WEFT__PACKET_UNUSED)
		return true;
	if (!weft__packet_is_readable(verdict) || weft__packet_sequence(&header) > last)
		return false;
	memcpy(copy, &header, sizeof(header));
	if (verdict == WEFT__PACKET_DAMAGED ||
		weft__packet_copy(buffer, index, &header, sizeof(header), copy + sizeof(header)))
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
		.written = weft__packet_gone(buffer, index),
	};
	memcpy(copy, &gone, sizeof(gone));
}

/* The packets' place and size are those that were checked, whatever the live header says by now. */
static void copy_front(uint8_t *copy, const uint8_t *live, const struct weft__buffer *buffer)
{
	const uint32_t whole = 0;
	/* Names only grow, and losses too: those of now fit what is there. */
	weft__live_copy(copy, live, buffer->packets_offset);
	memcpy(copy, buffer->header, offsetof(struct weft_abi_buffer, uuid));
	memcpy(copy + offsetof(struct weft_abi_buffer, stream), &whole, sizeof(whole));
}

WEFT__EXPORT int weft_buffer_copy(void *copy, const void *live, size_t size)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {live, size, &diagnostics, &description, NULL, false};
	const struct weft_abi_buffer *header = live;
	struct weft__buffer buffer;
	if (!weft__buffer_probe(live, size)) {
		memcpy(copy, live, size);
		return 0;
	}
	int error = weft__buffer_find_parts(&buffer, &input);
	if (error)
		return error;
	uint64_t last = __atomic_load_n(&header->hand, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < buffer.packet_count; i++) {
		uint32_t index = (uint32_t)((last + i) % buffer.packet_count);
		uint64_t offset = buffer.packets_offset + (uint64_t)index * buffer.packet_bytes;
		copy_packet((uint8_t *)copy + offset, &buffer, index, last);
	}
	copy_front(copy, live, &buffer);
	return 0;
}
