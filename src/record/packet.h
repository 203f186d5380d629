/* SPDX-License-Identifier: ISC
 *
 * Packets go from thread to thread: claimed, opened, closed.
 */
#ifndef WEFT_RECORD_PACKET_H
#define WEFT_RECORD_PACKET_H

#include "record/recorder.h"

/* Gives the slot's thread the oldest closed packet, whose stamps count from `ticks`. False if no
 * packet is closed. */
bool weft__packet_open(struct weft_abi_slot *slot, uint64_t ticks);

/* Closes the slot's packet, if it has one. The caller owns the slot. */
void weft__packet_close(struct weft_abi_slot *slot);

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
