/* SPDX-License-Identifier: ISC
 *
 * Packets go from thread to thread: claimed, opened, closed.
 */
#ifndef WEFT_RECORD_PACKET_H
#define WEFT_RECORD_PACKET_H

#include "record/recorder.h"

static inline struct weft_abi_slot *weft__slot_at(struct weft_abi_buffer *header, uint32_t index)
{
	return (struct weft_abi_slot *)(void *)((unsigned char *)header + header->slots_offset +
											(uint64_t)index * header->slot_bytes);
}

/* The inverse. */
static inline uint32_t weft__slot_index(const struct weft_abi_slot *slot)
{
	const struct weft_abi_buffer *header = weft__header_of(slot);
	/* Far below 4 GiB: processors of 32 bits divide no 64. */
	return (uint32_t)(weft__load(&slot->header) - header->slots_offset) / header->slot_bytes;
}

/* Where the packet of this sequence is. */
struct weft_abi_packet *weft__packet_at(struct weft_abi_buffer *header, uint64_t sequence);

/* The slot's `taken` while its packet is open and nobody closes it. */
static inline uint64_t weft__packet_untaken(uint64_t sequence)
{
	return sequence << 32;
}

/* Gives the slot's thread the oldest closed packet, whose stamps count from `ticks`. False if no
 * packet is closed. */
bool weft__packet_open(struct weft_abi_slot *slot, uint64_t ticks);

/* Closes the slot's packet, if it has one, unless another thread has done so. The caller owns the
 * slot. */
void weft__packet_close(struct weft_abi_slot *slot);

/* Has the slot a packet that no other thread has taken? */
bool weft__packet_is_held(const struct weft_abi_slot *slot);

/* Closes a packet that was found in this state, open, if its thread is between two events. */
bool weft__packet_take(struct weft_abi_slot *own, struct weft_abi_packet *packet, uint64_t state);

/* Writes who writes from here on into a packet that another thread left. */
void weft__packet_inherit(struct weft_abi_slot *slot);

/* Events in the slot's packet, by whomever. */
uint32_t weft__packet_events(const struct weft_abi_slot *slot);

/* Makes that figure exact and the slot usable if its thread left in the middle of an event: it
 * ended there, or a handler never returned. */
void weft__packet_repair(struct weft_abi_slot *slot);

/* Takes slots and packets of threads that ended. */
void weft__thread_reap(const struct weft_abi_slot *own);

#endif
