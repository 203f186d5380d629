/* SPDX-License-Identifier: ISC
 *
 * Claiming and opening packets.
 *
 * A claim advances the hand and tries the packet at that position. The hand's value is the
 * sequence, so no two claims ever write the same state word. The claimer owns the packet once its
 * compare-and-exchange succeeds: only closed packets are claimed, and a closed packet has no
 * writer.
 *
 * A packet that is still open when the hand comes round belongs to a slow thread. One such packet
 * is skipped, which preserves the history of threads that seldom record. The second in a row is
 * closed for its thread if that is between two events (close.c), and can be claimed the next time
 * round. So idle threads hold half the buffer at most.
 *
 * Readers copy without a lock and compare the state before and after. So "opening" must be visible
 * before the first byte of the new content (the release fence), and "open" after the packet's
 * header (the release store).
 */
#include "record/packet.h"

#include "record/atomics.h"
#include "record/clock.h"
#include "record/reserve.h"

/* 32-bit processors cannot divide 64-bit numbers, and the compiler would call a library function.
 */
static uint32_t modulo(uint64_t n, uint32_t divisor)
{
#if UINTPTR_MAX > UINT32_MAX
	return (uint32_t)(n % divisor);
#else
	uint64_t rest = (uint32_t)(n >> 32) % divisor;
	for (int bit = 31; bit >= 0; bit--) {
		rest = rest << 1 | (n >> bit & 1);
		if (rest >= divisor)
			rest -= divisor;
	}
	return (uint32_t)rest;
#endif
}

struct weft_abi_packet *weft__record_packet_at(const struct weft__region *region, uint64_t sequence)
{
	return weft__record_region_packet_at(region, modulo(sequence - 1, region->packet_count));
}

/* Packets taken by one claim, at most: each costs a system call, and one is enough. */
#define TAKEN_MAX 4

/* After so many open packets a claim uses the next one that it takes: almost all are open, because
 * more threads record than there are packets. */
#define OPEN_MAX 64

/* The packets that a claim has skipped so far. */
struct passed {
	unsigned open, open_in_row, taken;
};

/* Skips or takes an open packet. A taken packet is mostly not used at once, because it may hold its
 * thread's recent events; it is claimed when the hand comes again. True if it is to be used. */
static bool pass_open(const struct weft__region *region, struct weft_abi_slot *slot,
	struct weft_abi_packet *packet, uint64_t state, struct passed *passed)
{
	bool is_urgent = ++passed->open > OPEN_MAX;
	if (++passed->open_in_row < 2 || (passed->taken >= TAKEN_MAX && !is_urgent))
		return false;
	passed->open_in_row = 0;
	bool is_taken = weft__record_packet_take(region, slot, packet, state);
	passed->taken += is_taken;
	return is_taken && is_urgent;
}

static struct weft_abi_packet *claim(
	const struct weft__region *region, struct weft_abi_slot *slot, uint64_t *ret_sequence)
{
	struct weft_abi_buffer *header = region->header;
	struct passed passed = {0, 0, 0};
	/* Other threads advance the hand, too: two rounds reach every packet unless they claim as fast.
	 */
	for (uint32_t tries = 2 * region->packet_count; tries > 0; tries--) {
		uint64_t sequence = weft__fetch_add(&header->hand, 1) + 1;
		struct weft_abi_packet *packet = weft__record_packet_at(region, sequence);
		/* Acquire: an open packet's header was stored before. */
		uint64_t state = weft__load_acquire(&packet->state);
		if ((state & WEFT_ABI_PACKET_STATE) != WEFT_ABI_PACKET_OPEN)
			passed.open_in_row = 0;
		else if (pass_open(region, slot, packet, state, &passed))
			state = weft__load_acquire(&packet->state);
		if ((state & WEFT_ABI_PACKET_STATE) != WEFT_ABI_PACKET_CLOSED || state >> 2 >= sequence)
			continue;
		/* Acquire: `written` was stored before the packet was closed. */
		if (weft__compare_exchange(
				&packet->state, state, sequence << 2 | WEFT_ABI_PACKET_OPENING)) {
			weft__store(&slot->unfinished, sequence);
			*ret_sequence = sequence;
			return packet;
		}
	}
	return NULL;
}

static void copy_name(
	const struct weft__region *region, const struct weft_abi_slot *slot, uint64_t *to)
{
	const uint64_t *name = weft__record_slot_name(region, slot);
	weft__store(&to[0], weft__load(&name[0]));
	weft__store(&to[1], weft__load(&name[1]));
}

/* Readers find the clock's rate from readings that are far apart. A thread that fills small packets
 * opens one each microsecond, and a reading takes 50 ns: so only some packets have one, and the
 * first after a while, about 100 ms. */
#define READING_PACKETS 16
#define READING_TICKS   (1u << 28)

static void store_reading(struct weft_abi_packet *packet, uint64_t sequence, uint64_t ticks)
{
	static uint64_t latest; /* of the whole process */
	struct weft_abi_clock_reading reading = {0, 0, 0};
	if (sequence % READING_PACKETS == 0 || ticks - weft__load(&latest) >= READING_TICKS) {
		reading = weft__record_read_clocks(weft__record_platform());
		weft__store(&latest, ticks);
	}
	weft__store(&packet->reading_ticks, reading.ticks);
	weft__store(&packet->reading_ns, reading.monotonic_ns);
}

/* Fills the header; no reader uses it until the packet is open. */
static void store_header(struct weft_abi_packet *packet, const struct weft__region *region,
	const struct weft_abi_slot *slot, uint64_t sequence, uint64_t ticks)
{
	weft__store(&packet->before, weft__load(&packet->written));
	weft__store(&packet->committed, (uint32_t)sizeof(*packet));
	weft__store(&packet->thread, weft__load(&slot->thread));
	weft__store(&packet->base_ticks, ticks >> 32 << 32);
	weft__store(&packet->opened_ticks, ticks);
	store_reading(packet, sequence, ticks);
	weft__store(&packet->task, weft__load(&slot->task));
	weft__store(&packet->number, weft__load(&slot->number));
	weft__store(&packet->lost, weft__load(&slot->lost));
	weft__store(&packet->thread_records, 0);
	weft__store(&packet->tid, (uint32_t)weft__load(&slot->owner));
	weft__store(&packet->slot, weft__record_slot_index(region, slot));
	copy_name(region, slot, (uint64_t *)(void *)packet->name);
}

/* Out of line, and a tail call: a claim may have to take another thread's packet, which is the
 * longest path of calls. */
static WEFT__OUT_OF_LINE bool open_claimed(const struct weft__region *region,
	struct weft_abi_slot *slot, struct weft_abi_packet *packet, uint64_t sequence, uint64_t ticks)
{
	weft__fence_release();
	store_header(packet, region, slot, sequence, ticks);
	weft__store(&slot->base_high, (uint32_t)(ticks >> 32));
	weft__store(&slot->offset, (uint32_t)sizeof(*packet));
	weft__store(&slot->surplus, 0);
	weft__store(&slot->inherited, 0);
	/* The packet is opened before the slot gets it: if a signal handler never returns, we must not
	 * write into a packet that readers ignore. */
	weft__store_release(&packet->state, sequence << 2 | WEFT_ABI_PACKET_OPEN);
	/* Release: a thread that takes the packet counts its words. */
	weft__store_release(&slot->taken, weft__record_packet_untaken(sequence));
	weft__store(&slot->packet, (uint64_t)((uintptr_t)packet - (uintptr_t)slot));
	weft__store(&slot->unfinished, 0);
	weft__store(&slot->limit, region->limit);
	return true;
}

bool weft__record_packet_open(struct weft_abi_slot *slot, uint64_t ticks)
{
	uint64_t sequence;
	const struct weft__region *region = weft__record_region_of(slot);
	struct weft_abi_packet *packet = claim(region, slot, &sequence);
	return packet && open_claimed(region, slot, packet, sequence, ticks);
}

static bool is_named(const struct weft_abi_packet *packet, const uint64_t *name)
{
	const uint64_t *theirs = (const uint64_t *)(const void *)packet->name;
	return weft__load(&theirs[0]) == name[0] && weft__load(&theirs[1]) == name[1];
}

/* The earlier thread's events stay; this record says which thread the next ones belong to. */
void weft__record_packet_inherit(struct weft_abi_slot *slot)
{
	const struct weft__region *region = weft__record_region_of(slot);
	struct weft_abi_packet *packet = weft__record_packet_of(region, slot);
	uint64_t ticks = weft__record_ticks(weft__record_platform()), name[2];
	struct weft__room room = {.slot = slot, .stamp = (uint32_t)ticks};
	if (!packet)
		return;
	copy_name(region, slot, name);
	/* Threads of a pool often have the same name. */
	uint32_t words = WEFT_ABI_THREAD_WORDS + (is_named(packet, name) ? 0 : 2);
	if (!weft__record_room_fits(region, &room, words, (uint32_t)(ticks >> 32))) {
		weft__record_packet_close(slot);
		/* Another thread may have taken the packet while we counted its events, and a third may
		 * have filled it. */
		weft__store(&slot->number, 0);
		return; /* the first event claims another packet */
	}
	uint64_t tid = (uint32_t)weft__load(&slot->owner);
	weft__store(&packet->thread_records, weft__load(&packet->thread_records) + 1);
	weft__store(&room.at[0], WEFT_ABI_HEAD(WEFT_ABI_THREAD, words, 0) | room.stamp);
	weft__store(&room.at[1], (uint64_t)weft__load(&slot->thread) << 32 | tid);
	if (words > WEFT_ABI_THREAD_WORDS) {
		weft__store(&room.at[2], name[0]);
		weft__store(&room.at[3], name[1]);
	}
	weft__record_publish_record(&room, words);
}
