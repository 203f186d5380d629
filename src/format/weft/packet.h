/* SPDX-License-Identifier: ISC
 *
 * Copies packets out of a buffer into which a program, perhaps a hostile one, may be recording. All
 * readers copy packets with these functions. The header is copied and checked first, then the bytes
 * that it covers; both copies are valid only if the packet's sequence was the same afterwards.
 */
#ifndef WEFT_FORMAT_WEFT_PACKET_H
#define WEFT_FORMAT_WEFT_PACKET_H

#include "abi/packet_abi.h"
#include "format/weft/buffer.h"
#include "format/weft/cursor.h"

enum weft__verdict {
	WEFT__PACKET_WHOLE,
	WEFT__PACKET_DAMAGED, /* the header is consistent, but `committed` is impossible */
	WEFT__PACKET_UNUSED,  /* nothing was ever written here */
	WEFT__PACKET_OPENING, /* the old content is gone, the next one is not there yet. In
						   * `ret_header`, only `state` and `written` have a meaning */
	WEFT__PACKET_TORN,    /* the content changed during the copy */
};

/* Copies the header. `state` is as it was before the copy, so that a packet which was closed during
 * the copy counts as open, and has no `written`. */
enum weft__verdict weft__format_packet_read(
	const struct weft__buffer *buffer, uint32_t index, struct weft_abi_packet *ret_header);

/* True if the packet has content of which at least the header can be read. */
static inline bool weft__format_packet_is_readable(enum weft__verdict verdict)
{
	return verdict == WEFT__PACKET_WHOLE || verdict == WEFT__PACKET_DAMAGED;
}

/* The sequence of the content if the packet is closed, so that nothing is added to it; else
 * UINT64_MAX. */
uint64_t weft__format_packet_closed(const struct weft__buffer *b, uint32_t index);

/* Returns the sequence of the content that can be read, or 0 if there is none, without copying it.
 * Unless ret_committed is NULL, it gets the number of committed bytes. */
uint64_t weft__format_packet_peek(
	const struct weft__buffer *buffer, uint32_t index, uint32_t *ret_committed);

/* Copies the bytes from `from` to the header's `committed`; for a packet that was found whole.
 * False if the content changed meanwhile. */
bool weft__format_packet_copy(const struct weft__buffer *buffer, uint32_t index,
	const struct weft_abi_packet *header, uint32_t from, uint8_t *to);

/* True if the packet's content still has this sequence. Then all loads before this call were of
 * that content. */
bool weft__format_packet_is_same(
	const struct weft__buffer *buffer, uint32_t index, uint64_t sequence);

/* Events that were ever written at this position before the content that is there now; while the
 * packet is opened, before the content that comes. */
uint64_t weft__format_packet_gone(const struct weft__buffer *buffer, uint32_t index);

/* A cursor over the packet's events in the buffer itself: only heads and records can be read safely
 * there. */
static inline struct weft__cursor weft__format_packet_cursor(
	const struct weft__buffer *buffer, uint32_t index, const struct weft_abi_packet *header)
{
	return weft__format_cursor_begin(weft__format_buffer_packet(buffer, index) + sizeof(*header),
		header->base_ticks, header->committed);
}

static inline unsigned weft__format_packet_state(const struct weft_abi_packet *header)
{
	return header->state & WEFT_ABI_PACKET_STATE;
}

static inline uint64_t weft__format_packet_sequence(const struct weft_abi_packet *header)
{
	return header->state >> 2;
}

/* A lower bound of the times of the packet's events. */
static inline uint64_t weft__format_packet_opened_ticks(const struct weft_abi_packet *header)
{
	return header->opened_ticks ? header->opened_ticks : header->base_ticks;
}

/* The account of a position of the ring: of all events that were ever written there, how many a
 * reader has given or counted as lost. */
struct weft__account {
	uint64_t events;
};

/* Closes the account at `written` events. Returns how many of them are lost: those that are not in
 * the account yet. */
static inline uint64_t weft__format_account_close(struct weft__account *account, uint64_t written)
{
	uint64_t lost = written > account->events ? written - account->events : 0;
	account->events = written;
	return lost;
}

/* For a program that has ended: the number of events that were ever written at a position. Those
 * not given are lost. False if the number is unknown, as for an open packet, where it is not stored
 * yet. */
bool weft__format_packet_written(
	const struct weft__buffer *buffer, uint32_t index, uint64_t *ret_written);

#endif
