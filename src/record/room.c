/* SPDX-License-Identifier: ISC
 *
 * The slow ways of the hot path: the packet is full, its stamps have run out, a handler came
 * between, nothing could be had.
 */
#include "record/packet.h"
#include "record/reserve.h"

WEFT__COLD void weft__count_loss(struct weft_abi_slot *slot, unsigned cause)
{
	struct weft_abi_buffer *header = slot ? weft__header_of(slot) : weft__header();
	weft__fetch_add(&header->losses[cause], 1);
	if (slot)
		weft__store(&slot->lost, weft__load(&slot->lost) + 1);
}

/* A signal handler records in the middle of an event. */
static void count_nested(struct weft_abi_slot *slot)
{
	uint32_t sequence = weft__load(&slot->sequence);
	weft__count_loss(slot, WEFT_ABI_LOSS_NESTED);
	if (weft__load(&slot->nested_at) != sequence) {
		weft__store(&slot->nested_at, sequence);
		weft__store(&slot->nested, 0);
	}
	uint32_t nested = weft__load(&slot->nested) + 1;
	weft__store(&slot->nested, nested);
	/* Again and again, since a handler may leave the repair, too. */
	if (nested % WEFT__NESTED_MAX == 0)
		weft__packet_repair(slot);
}

/* Looking through all packets takes microseconds, and asking which threads have ended a system call
 * each. So who finds none looks again only now and then. */
static bool change_packet(struct weft_abi_slot *slot, uint64_t ticks)
{
	uint32_t refuse = weft__load(&slot->refuse);
	if (refuse > 0) {
		weft__store(&slot->refuse, refuse - 1);
		return false;
	}
	weft__packet_close(slot);
	if (weft__packet_open(slot, ticks))
		return true;
	weft__thread_reap(slot);
	if (weft__packet_open(slot, ticks))
		return true;
	weft__store(&slot->refuse, WEFT__LOOK_INTERVAL - 1);
	return false;
}

/* Somebody copies the past, and has asked that nothing of it be overwritten until then. */
static bool is_held(const struct weft_abi_slot *slot, uint64_t ticks)
{
	return ticks < weft__load(&weft__header_of(slot)->hold_until);
}

/* The stamps of this packet count from a base with this upper half from here on: once in 2^32
 * ticks, 1.65 s at 2.6 GHz. */
static void write_time(struct weft_abi_slot *slot, uint32_t high)
{
	struct weft__place place = weft__next_place(slot, 0);
	weft__store(&place.at[0], WEFT_ABI_HEAD(WEFT_ABI_TIME, 2, 0));
	weft__store(&place.at[1], (uint64_t)high << 32);
	weft__publish_record(&place, 2);
	weft__store(&slot->base_high, high);
}

/* Within the guard. False if no packet could be had, which is counted. */
static bool make_room(struct weft_abi_slot *slot, uint32_t bytes, uint64_t ticks)
{
	uint32_t high = (uint32_t)(ticks >> 32);
	bool is_stale = high != weft__load(&slot->base_high);
	struct weft__place place = weft__next_place(slot, 0);
	if (place.offset + bytes + (is_stale ? 16 : 0) <= weft__load(&slot->limit)) {
		if (is_stale)
			write_time(slot, high);
		return true;
	}
	if (WEFT__UNLIKELY(is_held(slot, ticks))) {
		weft__count_loss(slot, WEFT_ABI_LOSS_HELD);
		return false;
	}
	if (change_packet(slot, ticks))
		return true;
	weft__count_loss(slot, WEFT_ABI_LOSS_FULL);
	return false;
}

/* The thread is in a moment: the packet is full, the base another, the moment too long, or a
 * handler came between. */
static struct weft__place reserve_in_moment(struct weft_abi_slot *slot, uint32_t words)
{
	struct weft__place place;
	uint32_t events = weft__load(&slot->moment_events);
	if (events & 1) {
		count_nested(slot);
		return (struct weft__place){.slot = NULL};
	}
	weft__store(&slot->moment_events, events | 1);
	weft__signal_fence();
	bool is_long = events & WEFT__MOMENT_EVENTS;
	if (is_long)
		weft__moment_renew(slot);
	events = is_long ? 0 : events & ~WEFT__MOMENT_STALE;
	bool has_room = make_room(slot, words * 8, weft__load(&slot->moment));
	weft__signal_fence();
	weft__store(&slot->moment_events, has_room ? events : events | WEFT__MOMENT_STALE);
	if (has_room && weft__try_reserve_in_moment(slot, words, &place))
		return place;
	if (has_room) /* which a handler has used */
		weft__count_loss(slot, WEFT_ABI_LOSS_NESTED);
	return (struct weft__place){.slot = NULL};
}

WEFT__COLD struct weft__place weft__reserve_slowly(struct weft_abi_slot *slot, uint32_t words)
{
	const struct weft__place none = {.slot = NULL};
	struct weft__place place;
	uint64_t ticks;
	if (!weft__begin(slot, &place, &ticks)) {
		if (weft__load(&slot->is_in_moment))
			return reserve_in_moment(slot, words);
		count_nested(slot);
		return none;
	}
	if (weft__find_place(&place, words, ticks))
		return place;
	if (!make_room(slot, words * 8, ticks)) {
		weft__withdraw(&place);
		return none;
	}
	weft__find_place(&place, words, ticks);
	return place;
}

struct weft__place weft__reserve(uint32_t words)
{
	const struct weft__self *self = weft__entered();
	return self ? weft__reserve_in(self->slot, words) : (struct weft__place){.slot = NULL};
}
