/* SPDX-License-Identifier: ISC
 *
 * Claiming, opening and closing packets.
 */
#ifndef WEFT_RECORD_PACKET_H
#define WEFT_RECORD_PACKET_H

#include "record/recorder.h"

static inline uint32_t weft__record_slot_index(
	const struct weft__region *region, const struct weft_abi_slot *slot)
{
	return (uint32_t)(slot - region->slots);
}

/* The number of slots that were ever used. */
static inline uint32_t weft__record_slots_used(const struct weft__region *region)
{
	uint32_t used = weft__load(&region->header->slots_used);
	return used < region->slot_count ? used : region->slot_count;
}

union weft__thread_name {
	char text[WEFT_ABI_NAME_BYTES];
	uint64_t words[2];
};

/* The two words with the name of the slot's thread; the slot is in the region. */
static inline uint64_t *weft__record_slot_name(
	const struct weft__region *region, const struct weft_abi_slot *slot)
{
	union weft__thread_name *names = (void *)(region->slots + region->slot_count);
	return names[weft__record_slot_index(region, slot)].words;
}

/* The packet at the position for this sequence; the region has packets. */
struct weft_abi_packet *weft__record_packet_at(
	const struct weft__region *region, uint64_t sequence);

/* The value of the slot's `taken` while its packet is open and no thread closes it. */
static inline uint64_t weft__record_packet_untaken(uint64_t sequence)
{
	return sequence << 32;
}

/* Claims the oldest closed packet for the slot's thread; its stamps count from `ticks`. False if no
 * packet is closed. */
bool weft__record_packet_open(struct weft_abi_slot *slot, uint64_t ticks);

/* Closes the slot's packet, if it has one and no other thread has closed it. The caller owns the
 * slot. */
void weft__record_packet_close(struct weft_abi_slot *slot);

/* True if the slot has a packet that no other thread has taken. */
bool weft__record_packet_is_held(const struct weft_abi_slot *slot);

/* Takes a packet of the region that was found open in this state: closes it, if its thread is
 * between two events. */
bool weft__record_packet_take(const struct weft__region *region, struct weft_abi_slot *own,
	struct weft_abi_packet *packet, uint64_t state);

/* Writes a thread record into a packet that another thread left: its events follow from here on. */
void weft__record_packet_inherit(struct weft_abi_slot *slot);

/* The number of events in the packet of the slot, of all threads. */
uint32_t weft__record_packet_events(
	const struct weft_abi_slot *slot, const struct weft_abi_packet *packet);

/* Makes that number exact and the slot usable if its thread left in the middle of an event: it
 * ended there, or a signal handler never returned. */
void weft__record_packet_repair(struct weft_abi_slot *slot);

/* Takes over slots and packets of threads that have ended. */
void weft__record_thread_reap(const struct weft_abi_slot *own);

#endif
