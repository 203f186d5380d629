/* SPDX-License-Identifier: ISC
 *
 * Finds the present time on a clock that only the recording program can read: the latest stamp in
 * its packets.
 */
#include "format/weft/follow/mark.h"
#include "format/weft/packet.h"

/* The latest stamp of a packet; 0 if the packet cannot be read or is overwritten meanwhile. */
static uint64_t latest_of(const struct weft__buffer *buffer, uint32_t index)
{
	struct weft_abi_packet header;
	struct weft__record_words words;
	if (weft__format_packet_read(buffer, index, &header) != WEFT__PACKET_WHOLE)
		return 0;
	struct weft__cursor cursor = weft__format_packet_cursor(buffer, index, &header);
	uint64_t latest = header.opened_ticks;
	while (weft__format_cursor_next(&cursor, &words) <= WEFT__FOUND_THREAD)
		if (words.ticks > latest)
			latest = words.ticks;
	return weft__format_packet_is_same(buffer, index, weft__format_packet_sequence(&header))
			   ? latest
			   : 0;
}

uint64_t weft__format_mark_latest(const struct weft__mark *m, const struct weft__buffer *buffer)
{
	uint64_t latest = m->previous_ticks;
	for (uint32_t i = 0; i < buffer->packet_count; i++) {
		uint64_t ticks = latest_of(buffer, i);
		if (ticks > latest)
			latest = ticks;
	}
	return latest;
}
