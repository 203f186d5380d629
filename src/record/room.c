/* SPDX-License-Identifier: ISC
 *
 * The slow ways of the hot path: the packet is full, its stamps have run out, a handler came
 * between, nothing could be had.
 */
#include "record/packet.h"
#include "record/reserve.h"

/* Looking for ended threads costs a system call each, so a thread that finds the buffer full does
 * it only now and then. */
#define REAP_INTERVAL 64

/* A guard that refused so many events at one place in the packet was left behind, by a siglongjmp
 * out of a handler or the like: no handler records so much. */
#define NESTED_MAX 65536

WEFT__COLD void weft__count_loss(struct weft_abi_slot *slot, unsigned cause)
{
	weft__fetch_add(&weft__header()->losses[cause], 1);
	if (slot)
		weft__store(&slot->lost, weft__load(&slot->lost) + 1);
}

WEFT__COLD void weft__count_nested(struct weft_abi_slot *slot)
{
	uint32_t sequence = weft__load(&slot->sequence);
	weft__count_loss(slot, WEFT_ABI_LOSS_NESTED);
	if (weft__load(&slot->nested_at) != sequence) {
		weft__store(&slot->nested_at, sequence);
		weft__store(&slot->nested, 0);
	}
	uint32_t nested = weft__load(&slot->nested) + 1;
	weft__store(&slot->nested, nested);
	if (nested == NESTED_MAX)
		weft__store(&slot->sequence, sequence + 1);
}

static bool change_packet(struct weft_abi_slot *slot, uint64_t ticks)
{
	weft__packet_close(slot);
	if (weft__packet_open(slot, ticks))
		return true;
	if (weft__load(&slot->lost) % REAP_INTERVAL == 0) {
		weft__thread_reap(slot);
		if (weft__packet_open(slot, ticks))
			return true;
	}
	return false;
}

/* The stamps of this packet count from `ticks` from here on. */
static void write_time(struct weft_abi_slot *slot, uint64_t ticks)
{
	struct weft__place place = weft__next_place(slot, ticks);
	weft__store(&place.at[0], WEFT_ABI_HEAD(WEFT_ABI_TIME, 2, 0));
	weft__store(&place.at[1], ticks);
	weft__publish(&place, 2);
	weft__store(&slot->base_ticks, ticks);
}

WEFT__COLD bool weft__make_room(struct weft_abi_slot *slot, uint32_t bytes, uint64_t ticks)
{
	struct weft__place place = weft__next_place(slot, ticks);
	bool is_stale = place.stamp >> 32;
	if (place.offset + bytes + (is_stale ? 16 : 0) <= weft__load(&slot->limit)) {
		if (is_stale)
			write_time(slot, ticks);
		return true;
	}
	if (change_packet(slot, ticks))
		return true;
	weft__count_loss(slot, WEFT_ABI_LOSS_FULL);
	weft__signal_fence();
	weft__store(&slot->sequence, weft__load(&slot->sequence) + 1);
	return false;
}
