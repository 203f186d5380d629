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
#include "abi/packet_abi.h"
#include "base/export.h"
#include "format/live_memory.h"
#include "format/weft_buffer.h"

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Bytes to copy. An invalid size is copied whole; the reader of the copy reports it. Acquire: the
 * bytes were stored before the commit that covers them. */
static uint32_t bytes_that_count(const struct weft_abi_packet *live, uint32_t packet_bytes)
{
	uint32_t committed = __atomic_load_n(&live->committed, __ATOMIC_ACQUIRE);
	return committed >= sizeof(*live) && committed <= packet_bytes ? (committed + 7) / 8 * 8
																   : packet_bytes;
}

/* Events that were ever written in the packet before what is there now, or comes there now. */
static uint64_t gone_from(const struct weft_abi_packet *live)
{
	uint64_t gone = 0;
	/* The state changes once while all packets are claimed. A bounded retry, for a hostile writer
	 * may change it for ever. */
	for (int tries = 0; tries < 1000; tries++) {
		uint64_t state = __atomic_load_n(&live->state, __ATOMIC_ACQUIRE);
		bool is_opening = (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING;
		gone = load(is_opening ? &live->written : &live->before);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (load(&live->state) >> 2 == state >> 2)
			break;
	}
	return gone;
}

static void copy_as_gone(struct weft_abi_packet *copy, const struct weft_abi_packet *live)
{
	*copy = (struct weft_abi_packet){
		.state = WEFT_ABI_PACKET_OPENING,
		.written = gone_from(live),
	};
}

/* `last`: the sequence of the last claim before the copy began. */
static void copy_packet(
	uint8_t *copy, const uint8_t *live_bytes, uint32_t packet_bytes, uint64_t last)
{
	const struct weft_abi_packet *live = (const void *)live_bytes;
	/* Acquire: the header was stored before "open". */
	uint64_t state = __atomic_load_n(&live->state, __ATOMIC_ACQUIRE);
	if (state == 0)
		return; /* never used */
	bool is_whole =
		(state & WEFT_ABI_PACKET_STATE) != WEFT_ABI_PACKET_OPENING && state >> 2 <= last;
	if (is_whole) {
		uint32_t size = bytes_that_count(live, packet_bytes);
		uint32_t committed = size;
		weft__live_copy_words(copy, live_bytes, size);
		/* Acquire: the copy's loads come before the second look at the state. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		is_whole = load(&live->state) >> 2 == state >> 2;
		memcpy(copy + offsetof(struct weft_abi_packet, state), &state, sizeof(state));
		if (size < packet_bytes)
			memcpy(copy + offsetof(struct weft_abi_packet, committed), &committed, 4);
		if (!is_whole)
			memset(copy, 0, size);
	}
	if (!is_whole)
		copy_as_gone((struct weft_abi_packet *)(void *)copy, live);
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
	const struct weft__input input = {live, size, &diagnostics, &description, NULL};
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
		copy_packet(
			(uint8_t *)copy + offset, (const uint8_t *)live + offset, buffer.packet_bytes, last);
	}
	copy_front(copy, live, &buffer);
	return 0;
}
