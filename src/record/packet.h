/* SPDX-License-Identifier: ISC
 *
 * Claiming, opening and closing packets.
 */
#ifndef WEFT_RECORD_PACKET_H
#define WEFT_RECORD_PACKET_H

#include "record/recorder.h"

static inline struct weft_abi_slot *weft__slot_at(struct weft_abi_buffer *header, uint32_t index)
{
	return (struct weft_abi_slot *)(void *)((unsigned char *)header + header->slots_offset +
											(uint64_t)index * header->slot_bytes);
}

/* The inverse of the function above. */
static inline uint32_t weft__slot_index(const struct weft_abi_slot *slot)
{
	const struct weft_abi_buffer *header = weft__header_of(slot);
	/* Far below 4 GiB, so 32 bits suffice: 32-bit processors cannot divide 64-bit numbers. */
	return (uint32_t)(weft__load(&slot->header) - header->slots_offset) / header->slot_bytes;
}

union weft__thread_name {
	char text[WEFT_ABI_NAME_BYTES];
	uint64_t words[2];
};

/* The two words with the name of the slot's thread. */
static inline uint64_t *weft__slot_name(const struct weft_abi_slot *slot)
{
	struct weft_abi_buffer *header = weft__header_of(slot);
	union weft__thread_name *names =
		(void *)weft__slot_at(header, header->slot_count); /* behind the last slot */
	return names[weft__slot_index(slot)].words;
}

/* The packet at the position for this sequence. */
struct weft_abi_packet *weft__packet_at(struct weft_abi_buffer *header, uint64_t sequence);

/* The value of the slot's `taken` while its packet is open and no thread closes it. */
static inline uint64_t weft__packet_untaken(uint64_t sequence)
{
	return sequence << 32;
}

/* Claims the oldest closed packet for the slot's thread; its stamps count from `ticks`. False if no
 * packet is closed. */
bool weft__packet_open(struct weft_abi_slot *slot, uint64_t ticks);

/* Closes the slot's packet, if it has one and no other thread has closed it. The caller owns the
 * slot. */
void weft__packet_close(struct weft_abi_slot *slot);

/* True if the slot has a packet that no other thread has taken. */
bool weft__packet_is_held(const struct weft_abi_slot *slot);

/* Takes a packet that was found open in this state: closes it, if its thread is between two events.
 */
bool weft__packet_take(struct weft_abi_slot *own, struct weft_abi_packet *packet, uint64_t state);

/* Writes a thread record into a packet that another thread left: its events follow from here on. */
void weft__packet_inherit(struct weft_abi_slot *slot);

/* The number of events in the slot's packet, of all threads. */
uint32_t weft__packet_events(const struct weft_abi_slot *slot);

/* Makes that number exact and the slot usable if its thread left in the middle of an event: it
 * ended there, or a signal handler never returned. */
void weft__packet_repair(struct weft_abi_slot *slot);

/* Takes over slots and packets of threads that have ended. */
void weft__thread_reap(const struct weft_abi_slot *own);

#endif
