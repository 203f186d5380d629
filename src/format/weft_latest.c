/* SPDX-License-Identifier: ISC
 *
 * The time on a clock that only the recording program can read: the latest stamp in its packets.
 */
#include "abi/packet_abi.h"
#include "base/little_endian.h"
#include "format/weft_event.h"
#include "format/weft_mark.h"

/* The latest stamp of a packet; 0 if it is overwritten meanwhile. */
static uint64_t latest_of(const struct weft__buffer *buffer, uint32_t index)
{
	const uint8_t *bytes = weft__buffer_packet(buffer, index);
	const struct weft_abi_packet *packet = (const void *)bytes;
	uint64_t state = __atomic_load_n(&packet->state, __ATOMIC_ACQUIRE);
	uint64_t base = __atomic_load_n(&packet->base_ticks, __ATOMIC_RELAXED);
	uint64_t latest = __atomic_load_n(&packet->opened_ticks, __ATOMIC_RELAXED);
	uint32_t end = __atomic_load_n(&packet->committed, __ATOMIC_ACQUIRE);
	struct weft__words words;
	if (state == 0 || (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING ||
		end > buffer->packet_bytes)
		return 0;
	for (uint32_t at = sizeof(*packet); at < end; at += words.count * 8) {
		if (!weft__words_read(bytes + at, end - at, &words))
			break;
		if (words.kind == WEFT_ABI_TIME && words.count >= 2)
			base = weft__load_u64(words.at + 8);
		else if (base + words.ticks > latest)
			latest = base + words.ticks;
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return (__atomic_load_n(&packet->state, __ATOMIC_RELAXED) ^ state) >> 2 ? 0 : latest;
}

uint64_t weft__mark_latest(const struct weft__mark *m, const struct weft__buffer *buffer)
{
	uint64_t latest = m->previous_ticks;
	for (uint32_t i = 0; i < buffer->packet_count; i++) {
		uint64_t ticks = latest_of(buffer, i);
		if (ticks > latest)
			latest = ticks;
	}
	return latest;
}
