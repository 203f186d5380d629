/* SPDX-License-Identifier: ISC
 *
 * Copies without a lock, like the reader of a seqlock. The writer stores "opening" before the first
 * byte of a new content, with a release fence between. A reader that has loaded such a byte and
 * then passes the acquire fence below therefore loads another state, and drops its copy.
 */
#include "format/weft/packet.h"

#include <string.h>

#include "abi/stream_abi.h"
#include "format/forget.h"
#include "format/live_memory.h"
#include "format/weft/stream.h"

/* Acquire: the header was stored before "open", `written` before "closed", and an event's bytes
 * before the commit that covers them. */
static uint64_t load_word(const uint8_t *packet, size_t offset)
{
	uint64_t word;
	weft__format_live_copy(&word, packet + offset, sizeof(word));
	return word;
}

static uint64_t load_state(const uint8_t *packet)
{
	return load_word(packet, offsetof(struct weft_abi_packet, state));
}

/* True if the hand has not come to the packet. To look at it would make the system allocate its
 * page: most of the time that it takes to save a short program's ring. A hand that is damaged must
 * not hide packets: those at both ends of what is left out are looked at. */
static bool is_unclaimed(const struct weft__buffer *b, uint32_t index)
{
	if (b->stream)
		return false;
	const uint64_t hand = load_word(b->bytes, offsetof(struct weft_abi_buffer, hand));
	return hand && hand < index && index < b->packet_count - 1 &&
		   load_state(weft__format_buffer_packet(b, (uint32_t)hand)) == 0 &&
		   load_state(weft__format_buffer_packet(b, b->packet_count - 1)) == 0;
}

/* Memory is given back whenever packets of this many bytes were passed. */
#define FORGET_BYTES (UINT32_C(32) << 20)

/* True for the packets at which a walk over all of them gives memory back: a look at a header maps
 * what is around it, too. */
static bool is_mark(const struct weft__buffer *b, uint32_t index)
{
	return index % (FORGET_BYTES / b->packet_bytes) == 0;
}

/* The packet's header; in a stream, behind that of its chunk. */
static const uint8_t *head_of(const struct weft__buffer *b, uint32_t index)
{
	if (b->stream && b->stream->heads)
		return (const uint8_t *)&b->stream->heads[index].packet;
	if (b->forget && is_mark(b, index))
		b->forget->forget(b->forget->context);
	return weft__format_buffer_packet(b, index);
}

/* 0: unused. */
static uint64_t state_of(const struct weft__buffer *b, uint32_t index)
{
	return is_unclaimed(b, index) ? 0 : load_state(head_of(b, index));
}

static bool is_opening(uint64_t state)
{
	return (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING;
}

/* An upper bound of a packet's bytes: the size of its chunk in a stream. The sizes in the headers
 * of packet and chunk may have changed since the packet was found. */
static uint32_t room_of(const struct weft__buffer *b, uint32_t index)
{
	const uint8_t *packet = weft__format_buffer_packet(b, index);
	size_t left = b->size - (size_t)(packet - b->bytes), room = b->packet_bytes;
	if (b->stream) {
		const uint8_t *chunk = head_of(b, index) - sizeof(struct weft_abi_chunk);
		uint32_t bytes;
		weft__format_live_copy(
			&bytes, chunk + offsetof(struct weft_abi_chunk, bytes), sizeof(bytes));
		room = bytes < room ? bytes : room;
	}
	return (uint32_t)(left < room ? left : room);
}

bool weft__format_packet_is_same(const struct weft__buffer *b, uint32_t index, uint64_t sequence)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return load_state(weft__format_buffer_packet(b, index)) >> 2 == sequence;
}

uint64_t weft__format_packet_closed(const struct weft__buffer *b, uint32_t index)
{
	uint64_t state = state_of(b, index);
	return (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_CLOSED ? state >> 2 : UINT64_MAX;
}

uint64_t weft__format_packet_peek(
	const struct weft__buffer *b, uint32_t index, uint32_t *ret_committed)
{
	const uint8_t *packet = head_of(b, index);
	uint64_t state = state_of(b, index);
	if (ret_committed)
		*ret_committed =
			state ? (uint32_t)load_word(packet, offsetof(struct weft_abi_packet, committed)) : 0;
	return is_opening(state) ? 0 : state >> 2;
}

enum weft__verdict weft__format_packet_read(
	const struct weft__buffer *b, uint32_t index, struct weft_abi_packet *ret_header)
{
	const uint8_t *packet = head_of(b, index);
	uint64_t state = state_of(b, index);
	if (state == 0)
		return WEFT__PACKET_UNUSED;
	/* Loaded before the rest of the header, so that `thread_records` counts at least the records
	 * that are committed. */
	uint32_t committed = (uint32_t)load_word(packet, offsetof(struct weft_abi_packet, committed));
	weft__format_live_copy(ret_header, packet, sizeof(*ret_header));
	ret_header->state = state;
	ret_header->committed = committed;
	uint64_t now = load_state(packet);
	if (now >> 2 != state >> 2 || (is_opening(state) && now != state))
		return WEFT__PACKET_TORN;
	if (is_opening(state))
		return WEFT__PACKET_OPENING;
	bool is_sound =
		committed >= sizeof(*ret_header) && committed % 8 == 0 && committed <= room_of(b, index);
	return is_sound ? WEFT__PACKET_WHOLE : WEFT__PACKET_DAMAGED;
}

bool weft__format_packet_copy(const struct weft__buffer *b, uint32_t index,
	const struct weft_abi_packet *header, uint32_t from, uint8_t *to)
{
	weft__format_live_copy(
		to, weft__format_buffer_packet(b, index) + from, header->committed - from);
	return weft__format_packet_is_same(b, index, weft__format_packet_sequence(header));
}

uint64_t weft__format_packet_gone(const struct weft__buffer *b, uint32_t index)
{
	struct weft_abi_packet header = {0};
	/* The sequence changes once per turn of the ring, so retries are rare. They are bounded,
	 * because a hostile program may change it for ever. */
	for (int tries = 0; tries < 1000; tries++) {
		enum weft__verdict verdict = weft__format_packet_read(b, index, &header);
		if (verdict == WEFT__PACKET_UNUSED)
			return 0;
		if (verdict != WEFT__PACKET_TORN)
			break;
	}
	return is_opening(header.state) ? header.written : header.before;
}

bool weft__format_packet_written(
	const struct weft__buffer *b, uint32_t index, uint64_t *ret_written)
{
	struct weft_abi_packet header;
	enum weft__verdict verdict = weft__format_packet_read(b, index, &header);
	if (verdict == WEFT__PACKET_UNUSED || verdict == WEFT__PACKET_TORN ||
		weft__format_packet_state(&header) == WEFT_ABI_PACKET_OPEN)
		return false;
	*ret_written = header.written;
	return true;
}
