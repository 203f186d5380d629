/* SPDX-License-Identifier: ISC
 *
 * The slow paths of reserving room: the packet is full, its stamps have run out, a signal handler
 * interrupted an event, or no packet can be had.
 */
#include "record/copy.h"
#include "record/counters.h"
#include "record/packet.h"
#include "record/reserve.h"

WEFT__COLD void weft__record_count_loss(struct weft_abi_slot *slot, unsigned cause)
{
	struct weft_abi_buffer *header = slot ? weft__record_header_of(slot) : weft__record_header();
	weft__fetch_add(&header->losses[cause], 1);
	if (slot)
		weft__store(&slot->lost, weft__load(&slot->lost) + 1);
}

/* A signal handler has interrupted an event. */
static void count_nested(struct weft_abi_slot *slot)
{
	uint32_t sequence = weft__load(&slot->sequence);
	weft__record_count_loss(slot, WEFT_ABI_LOSS_NESTED);
	if (weft__load(&slot->nested_at) != sequence) {
		weft__store(&slot->nested_at, sequence);
		weft__store(&slot->nested, 0);
	}
	uint32_t nested = weft__load(&slot->nested) + 1;
	weft__store(&slot->nested, nested);
	/* Repeated every time, because a signal handler may leave the repair, too. */
	if (nested % WEFT__NESTED_MAX == 0)
		weft__record_packet_repair(slot);
}

/* Searching all packets takes microseconds, and each check whether a thread has ended costs a
 * system call. So a thread that finds no packet backs off. */
static bool change_packet(struct weft_abi_slot *slot, uint32_t words, uint64_t ticks)
{
	uint32_t refuse = weft__load(&slot->refuse);
	if (refuse > 0) {
		weft__store(&slot->refuse, refuse - 1);
		return false;
	}
	weft__record_packet_close(slot);
	bool has_one = weft__record_packet_open(slot, ticks);
	if (!has_one) {
		weft__record_thread_reap(slot);
		has_one = weft__record_packet_open(slot, ticks);
	}
	if (has_one)
		weft__record_counters_put_some(slot, words, ticks);
	else
		weft__store(&slot->refuse, WEFT__LOOK_INTERVAL - 1);
	return has_one;
}

/* True while a watcher copies the past and has asked that nothing of it be overwritten, or if it
 * has asked us to stop: then this event comes after the record's end, and is not lost. */
static bool is_held(struct weft_abi_slot *slot, uint64_t ticks)
{
	uint64_t until = weft__load(&weft__record_header_of(slot)->hold_until);
	if (ticks >= until)
		return false;
	if (until == WEFT_ABI_HOLD_STOP)
		weft__stop_leader();
	else
		weft__record_count_loss(slot, WEFT_ABI_LOSS_HELD);
	return true;
}

/* Writes a time record: from here on, stamps count from a base with this upper half. Needed once in
 * 2^32 ticks, 1.65 s at 2.6 GHz. */
static void write_time(const struct weft__room *room, uint32_t high)
{
	weft__store(&room->at[0], WEFT_ABI_HEAD(WEFT_ABI_TIME, 2, 0));
	weft__store(&room->at[1], (uint64_t)high << 32);
	weft__record_publish_record(room, 2);
	weft__store(&room->slot->base_high, high);
}

/* True if the packet has room, and only its base is stale: the time record goes first. */
static WEFT__OUT_OF_LINE bool renew_base(struct weft_abi_slot *slot, uint32_t words, uint32_t high)
{
	uint32_t base_high = weft__load(&slot->base_high);
	struct weft__room room = {.slot = slot, .stamp = 0};
	if (high == base_high ||
		!weft__record_room_fits(weft__record_region_of(slot), &room, words + 2, base_high))
		return false;
	write_time(&room, high);
	return true;
}

/* Inside the guard: claims a packet if needed. False if none could be had, which is counted. */
static bool make_room(struct weft_abi_slot *slot, uint32_t words, uint64_t ticks)
{
	if (renew_base(slot, words, (uint32_t)(ticks >> 32)))
		return true;
	if (WEFT__UNLIKELY(is_held(slot, ticks)))
		return false;
	if (change_packet(slot, words, ticks))
		return true;
	weft__record_count_loss(slot, WEFT_ABI_LOSS_FULL);
	return false;
}

/* Inside the guard, which is cleared if there is no room. */
static bool find_or_make(struct weft__room *room, uint32_t words, uint64_t ticks)
{
	if (weft__record_find_room(room, words, ticks))
		return true;
	if (!make_room(room->slot, words, ticks)) {
		weft__record_withdraw(room);
		return false;
	}
	if (weft__record_find_room(room, words, ticks))
		return true;
	/* Another process has written into the slot meanwhile. */
	weft__record_count_loss(room->slot, WEFT_ABI_LOSS_FULL);
	weft__record_withdraw(room);
	return false;
}

/* Inside the moment's guard. Returns the moment's ticks. */
static uint64_t begin_in_moment(struct weft__room *room, uint32_t events)
{
	struct weft_abi_slot *slot = room->slot;
	if (events & WEFT__MOMENT_EVENTS) {
		weft__record_moment_renew(slot);
		events = 0;
	}
	room->guard = &slot->moment_events;
	room->clear = events + 2;
	return weft__load(&slot->moment);
}

/* Sets the guard. False in the middle of another event, which is counted. Out of line, so that the
 * longest path of calls, which opens a packet, has a small frame here. */
static WEFT__OUT_OF_LINE bool begin(struct weft__room *room, uint64_t *ret_ticks)
{
	struct weft_abi_slot *slot = room->slot;
	uint32_t events;
	/* Repeat if a signal handler has ended the moment between the two tests. */
	do {
		if (weft__record_begin(slot, room, ret_ticks))
			return true;
		if (weft__record_guard_moment(slot, &events)) {
			*ret_ticks = begin_in_moment(room, events);
			return true;
		}
	} while (!(weft__load(&slot->sequence) & 1));
	count_nested(slot);
	return false;
}

WEFT__COLD bool weft__record_reserve_slowly(
	struct weft_abi_slot *slot, uint32_t words, struct weft__room *ret)
{
	uint64_t ticks;
	ret->slot = slot;
	return begin(ret, &ticks) && find_or_make(ret, words, ticks);
}

struct weft__room weft__record_reserve(uint32_t words)
{
	const struct weft__self *self = weft__record_entered();
	return self ? weft__record_reserve_in(self->slot, words) : (struct weft__room){.slot = NULL};
}
