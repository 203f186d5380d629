/* SPDX-License-Identifier: ISC
 *
 * A packet, copied out of a buffer that a program may be recording into, and perhaps a hostile one.
 * All readers copy packets with these functions. The header is copied and checked first, then the
 * bytes that it covers; both copies count only if the packet's sequence was the same afterwards.
 */
#ifndef WEFT_FORMAT_WEFT_PACKET_H
#define WEFT_FORMAT_WEFT_PACKET_H

#include "abi/packet_abi.h"
#include "format/weft_buffer.h"
#include "format/weft_cursor.h"

enum weft__verdict {
	WEFT__PACKET_WHOLE,
	WEFT__PACKET_DAMAGED, /* the header is of one content, but `committed` is impossible */
	WEFT__PACKET_UNUSED,  /* nothing was ever written here */
	WEFT__PACKET_OPENING, /* the old content is gone, the next one has not come. In `ret_header`,
						   * only `state` and `written` have a meaning */
	WEFT__PACKET_TORN,    /* the content changed meanwhile */
};

/* Copies the header. `state` is as it was before the copy, so that a packet which was closed during
 * the copy counts as open, and has no `written`. */
enum weft__verdict weft__packet_read(
	const struct weft__buffer *buffer, uint32_t index, struct weft_abi_packet *ret_header);

/* Is there a content, of which at least the header can be read? */
static inline bool weft__packet_is_readable(enum weft__verdict verdict)
{
	return verdict == WEFT__PACKET_WHOLE || verdict == WEFT__PACKET_DAMAGED;
}

/* A look without a copy: the sequence of the content that can be read, or 0 if there is none; and
 * how many of its bytes are committed, unless NULL. */
uint64_t weft__packet_peek(
	const struct weft__buffer *buffer, uint32_t index, uint32_t *ret_committed);

/* Copies the bytes from `from` to the header's `committed`; for a packet that was found whole.
 * False if the content changed meanwhile. */
bool weft__packet_copy(const struct weft__buffer *buffer, uint32_t index,
	const struct weft_abi_packet *header, uint32_t from, uint8_t *to);

/* Is the packet's content still the one with this sequence? If so, all loads before this call were
 * of it. */
bool weft__packet_is_same(const struct weft__buffer *buffer, uint32_t index, uint64_t sequence);

/* Events that were ever written at this place before the content that is there now; while the
 * packet is opened, before the content that comes. */
uint64_t weft__packet_gone(const struct weft__buffer *buffer, uint32_t index);

/* A cursor over the packet's events where they are: only heads and records can be read there. */
static inline struct weft__cursor weft__packet_cursor(
	const struct weft__buffer *buffer, uint32_t index, const struct weft_abi_packet *header)
{
	return weft__cursor_begin(weft__buffer_packet(buffer, index) + sizeof(*header),
		header->base_ticks, header->committed);
}

static inline unsigned weft__packet_state(const struct weft_abi_packet *header)
{
	return header->state & WEFT_ABI_PACKET_STATE;
}

static inline uint64_t weft__packet_sequence(const struct weft_abi_packet *header)
{
	return header->state >> 2;
}

/* No event of the packet is earlier. */
static inline uint64_t weft__packet_opened_ticks(const struct weft_abi_packet *header)
{
	return header->opened_ticks ? header->opened_ticks : header->base_ticks;
}

/* The account of a place in the ring: of all events that were ever written there, how many a reader
 * has given or counted as lost. */
struct weft__account {
	uint64_t events;
};

/* `written` events are given or lost by now. Answers how many are lost: those that the account
 * misses. */
static inline uint64_t weft__account_close(struct weft__account *account, uint64_t written)
{
	uint64_t lost = written > account->events ? written - account->events : 0;
	account->events = written;
	return lost;
}

/* For a program that has ended: all that was written at a place and not given is lost. False of an
 * open packet, whose number of events nobody has stored. */
bool weft__packet_written(const struct weft__buffer *buffer, uint32_t index, uint64_t *ret_written);

#endif
