/* SPDX-License-Identifier: ISC
 *
 * Closes packets: a thread closes its own packet, or that of another thread which is between two
 * events.
 *
 * One compare-and-exchange on the `taken` of the thread's slot decides which thread closes the
 * packet, and stores how many events the packet has. So the thread knows its number of events even
 * when its packet has long been overwritten by others.
 *
 * The argument, for a taker T and a thread Y that holds the packet. Y's event sets the guard (an
 * odd sequence), loads the limit, writes, commits, and clears the guard with release. T reads
 * `taken`, sets Y's limit to 0, and makes all threads pass a barrier; Y passes it at some point of
 * its program.
 *
 * - T then finds the guard clear and the limit 0, or leaves it. If Y was in the middle of an event
 *   at its barrier, a clear guard is one that Y cleared later, and acquires all that the event
 *   wrote. If Y was not, its earlier events are there because of the barrier.
 * - Events that Y begins after its barrier find the limit 0 and go the slow way, because only Y
 *   sets the limit to something else, in the middle of opening a packet. If it did so after T had
 *   set it to 0, T finds that with the guard that Y cleared afterwards.
 * - In the slow way Y closes its packet, which is the same compare-and-exchange. It opens another
 *   one only after that, which changes `taken`: sequences are never used twice. So if T's
 *   succeeds, the count that T made is of this packet, and complete; and Y never writes there
 *   again.
 */
#include "record/atomics.h"
#include "record/packet.h"
#include "record/recorder.h"
#include "record/reserve.h"
#include "record/wake.h"

#define BY_OWNER 0x80000000u

static bool is_settled(uint64_t taken)
{
	return (uint32_t)taken != 0;
}

static uint32_t settled_events(uint64_t taken)
{
	return ((uint32_t)taken & ~BY_OWNER) - 1;
}

bool weft__record_packet_is_held(const struct weft_abi_slot *slot)
{
	return weft__record_has_packet(slot) && !is_settled(weft__load(&slot->taken));
}

uint32_t weft__record_packet_events(
	const struct weft_abi_slot *slot, const struct weft_abi_packet *packet)
{
	uint32_t words = (weft__load(&packet->committed) - (uint32_t)sizeof(*packet)) / 8;
	return (words - weft__load(&slot->surplus)) / 2;
}

/* Only the thread that won `taken` may call this. Inline, because it is at the end of the longest
 * path of calls. */
WEFT__ALWAYS_INLINE void finish(struct weft_abi_packet *packet, uint32_t events)
{
	uint64_t state = weft__load(&packet->state);
	weft__store(&packet->written, weft__load(&packet->before) + events);
	weft__store_release(
		&packet->state, (state & ~(uint64_t)WEFT_ABI_PACKET_STATE) | WEFT_ABI_PACKET_CLOSED);
}

/* True if the packet is still open and still the one to which `taken` refers. */
static bool is_open(const struct weft_abi_packet *packet, uint64_t taken)
{
	uint64_t state = weft__load(&packet->state);
	return (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPEN &&
		   (uint32_t)(state >> 2) == taken >> 32;
}

/* Settles `taken` and returns its value. */
static uint64_t settle(struct weft_abi_slot *slot, const struct weft_abi_packet *packet)
{
	uint64_t taken = weft__load_acquire(&slot->taken);
	if (is_settled(taken))
		return taken;
	uint64_t mine = taken | BY_OWNER | (weft__record_packet_events(slot, packet) + 1);
	if (weft__compare_exchange(&slot->taken, taken, mine))
		return mine;
	return weft__load_acquire(&slot->taken);
}

void weft__record_packet_close(struct weft_abi_slot *slot)
{
	const struct weft__region *region = weft__record_region_of(slot);
	struct weft_abi_packet *packet = weft__record_packet_of(region, slot);
	if (!packet)
		return;
	/* No room from here on, before the number of events is settled: a handler may leave this
	 * function at any step, and an event that then fits into the packet's rest would not be
	 * counted. With no room, the next event closes the packet again. */
	weft__store(&slot->limit, 0);
	weft__signal_fence();
	uint64_t taken = settle(slot, packet);
	uint32_t events = settled_events(taken);
	if (taken & BY_OWNER && is_open(packet, taken))
		finish(packet, events);
	/* The slot lets the packet go first: a handler that leaves in between would have it closed, and
	 * its events counted, a second time. */
	weft__store(&slot->packet, 0);
	weft__signal_fence();
	weft__store(&slot->number, weft__load(&slot->number) + events - weft__load(&slot->inherited));
	weft__store(&slot->inherited, 0);
	weft__record_wake_followers(region->header);
}

bool weft__record_packet_take(const struct weft__region *region, struct weft_abi_slot *own,
	struct weft_abi_packet *packet, uint64_t state)
{
	const struct weft_platform *platform = weft__record_platform();
	uint32_t index = weft__load(&packet->slot);
	bool (*barrier)(void *context) = weft__load(&platform->barrier);
	if (!barrier || index >= region->slot_count || weft__record_is_quiet(region->header))
		return false;
	struct weft_abi_slot *slot = &region->slots[index];
	uint64_t taken = weft__load_acquire(&slot->taken);
	if (slot == own || taken != weft__record_packet_untaken(state >> 2))
		return false;
	weft__store(&slot->limit, 0);
	if (!barrier(platform->context))
		return false;
	if (weft__load_acquire(&slot->sequence) & 1 || weft__load(&slot->limit) != 0)
		return false;
	uint32_t words = (weft__load(&packet->committed) - (uint32_t)sizeof(*packet)) / 8;
	uint32_t events = (words - weft__load(&slot->surplus)) / 2;
	if (!weft__compare_exchange(&slot->taken, taken, taken | (events + 1)))
		return false;
	weft__store(&own->unfinished, state >> 2);
	finish(packet, events);
	weft__store(&own->unfinished, 0);
	weft__record_wake_followers(region->header);
	return true;
}

/* Counts the events in a packet that no thread writes. */
static uint32_t count(
	const struct weft__region *region, const struct weft_abi_packet *packet, uint32_t *ret_surplus)
{
	const unsigned char *bytes = (const unsigned char *)packet;
	uint32_t end = weft__record_region_committed(region, weft__load(&packet->committed));
	uint32_t events = 0, surplus = 0;
	for (uint32_t at = sizeof(*packet); at < end;) {
		uint64_t head = weft__load((const uint64_t *)(const void *)(bytes + at));
		uint32_t words = weft__abi_head_words(head);
		bool is_event = weft__abi_is_event(weft__abi_head_kind(head));
		events += is_event;
		surplus += is_event ? words - 2 : words;
		if (words == 0)
			break; /* the program itself has written into its buffer by mistake */
		at += words * 8;
	}
	*ret_surplus = surplus;
	return events;
}

/* True if the slot's owner may close a packet that it left open and that is not in its slot. It was
 * taking the packet from another thread, or opening it. Opening ends by announcing the packet in
 * `taken`; from then on another thread may be closing it. */
static bool settle_unfinished(struct weft_abi_slot *slot, uint64_t sequence, uint32_t events)
{
	uint64_t taken = weft__load_acquire(&slot->taken);
	if (taken >> 32 != (uint32_t)sequence)
		return true;
	if (is_settled(taken))
		return taken & BY_OWNER;
	return weft__compare_exchange(&slot->taken, taken, taken | BY_OWNER | (events + 1));
}

/* A packet without events. Readers compare the numbers of events before a thread's packets. */
WEFT__ALWAYS_INLINE void store_empty(
	const struct weft_abi_slot *slot, struct weft_abi_packet *packet)
{
	const uint64_t ticks = weft__record_ticks(weft__record_platform());
	weft__store(&packet->before, weft__load(&packet->written));
	weft__store(&packet->committed, (uint32_t)sizeof(*packet));
	weft__store(&packet->thread, weft__load(&slot->thread));
	weft__store(&packet->number, weft__load(&slot->number));
	weft__store(&packet->lost, weft__load(&slot->lost));
	weft__store(&packet->base_ticks, ticks >> 32 << 32);
	weft__store(&packet->opened_ticks, ticks);
	weft__store(&packet->thread_records, 0);
}

/* The slot's thread left in the middle of opening a packet, or of closing another thread's. */
static void finish_unfinished(struct weft_abi_slot *slot)
{
	uint64_t sequence = weft__load(&slot->unfinished);
	const struct weft__region *region = weft__record_region_of(slot);
	uint32_t surplus;
	if (sequence == 0 || region->packet_count == 0)
		return;
	struct weft_abi_packet *packet = weft__record_packet_at(region, sequence);
	uint64_t state = weft__load(&packet->state);
	if (state == (sequence << 2 | WEFT_ABI_PACKET_OPENING)) {
		store_empty(slot, packet);
		finish(packet, 0);
	} else if (state == (sequence << 2 | WEFT_ABI_PACKET_OPEN) &&
			   packet != weft__record_packet_of(region, slot)) {
		uint32_t events = count(region, packet, &surplus);
		if (settle_unfinished(slot, sequence, events))
			finish(packet, events);
	}
	/* Last: a handler may leave this, too. */
	weft__signal_fence();
	weft__store(&slot->unfinished, 0);
}

void weft__record_packet_repair(struct weft_abi_slot *slot)
{
	uint32_t sequence = weft__load(&slot->sequence), surplus;
	if (!(sequence & 1))
		return;
	finish_unfinished(slot);
	weft__store(&slot->is_in_moment, 0);
	const struct weft__region *region = weft__record_region_of(slot);
	const struct weft_abi_packet *packet = weft__record_packet_of(region, slot);
	if (packet && weft__record_packet_is_held(slot)) {
		uint32_t committed = weft__record_region_committed(region, weft__load(&packet->committed));
		count(region, packet, &surplus);
		weft__store(&slot->surplus, surplus);
		weft__store(&slot->offset, committed);
	}
	weft__store_release(&slot->sequence, sequence + 1);
}
