/* SPDX-License-Identifier: ISC
 *
 * Claiming and opening packets.
 *
 * A claim takes the next place of a clock hand and tries the packet there; the place's number is
 * the sequence, so that no two claims ever write the same state word. The claimer owns the packet
 * from the moment its compare-and-exchange succeeds: only closed packets are claimed, and a closed
 * packet has no writer.
 *
 * A packet that is still open when the hand comes around is a slow thread's. One such is passed
 * over, which keeps the history of threads that seldom record; the second in a row is closed for
 * its thread if that is between two events (close.c), and can be claimed when the hand comes again.
 * So idle threads hold half the buffer at most.
 *
 * A reader copies without a lock and looks at the state before and after. So "opening" must be
 * visible before the first byte of the new content (the release fence), and "open" after the
 * packet's header (the release store).
 */
#include "record/packet.h"

#include "record/atomics.h"
#include "record/clock.h"
#include "record/reserve.h"

/* Processors of 32 bits divide no 64, and the compiler would want a library. */
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

struct weft_abi_packet *weft__packet_at(struct weft_abi_buffer *header, uint64_t sequence)
{
	uint64_t index = modulo(sequence - 1, header->packet_count);
	return (struct weft_abi_packet *)(void *)((unsigned char *)header + header->packets_offset +
											  index * header->packet_bytes);
}

/* Each takes a system call, and one claim needs one packet. */
#define TAKEN_MAX 4

/* What a claim has passed. */
struct passed {
	unsigned open_in_row, taken;
};

/* A packet taken now is not used now: it is as old as the last event of its thread, and a reader
 * wants to see that. It is closed when the hand comes again. */
static void pass_open(struct weft_abi_slot *slot, struct weft_abi_packet *packet, uint64_t state,
	struct passed *passed)
{
	if (++passed->open_in_row < 2 || passed->taken == TAKEN_MAX)
		return;
	passed->open_in_row = 0;
	passed->taken += weft__packet_take(slot, packet, state);
}

static struct weft_abi_packet *claim(struct weft_abi_slot *slot, uint64_t *ret_sequence)
{
	struct weft_abi_buffer *header = weft__header_of(slot);
	struct passed passed = {0, 0};
	/* Others move the hand too: twice around sees every packet unless they claim as fast. */
	for (uint32_t tries = 2 * header->packet_count; tries > 0; tries--) {
		uint64_t sequence = weft__fetch_add(&header->hand, 1) + 1;
		struct weft_abi_packet *packet = weft__packet_at(header, sequence);
		/* Acquire: what an open packet's header says was stored before. */
		uint64_t state = weft__load_acquire(&packet->state);
		if ((state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPEN)
			pass_open(slot, packet, state, &passed);
		else
			passed.open_in_row = 0;
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

/* Stores the calling thread's name in two words. */
static void store_name(uint64_t *to)
{
	const struct weft_platform *platform = weft__platform();
	union {
		char text[WEFT_ABI_NAME_BYTES];
		uint64_t words[2];
	} name = {{0}};
	if (platform->self)
		platform->self(platform->context, name.text);
	weft__store(&to[0], name.words[0]);
	weft__store(&to[1], name.words[1]);
}

/* Nobody reads it until the packet is open. */
static void store_header(
	struct weft_abi_packet *packet, const struct weft_abi_slot *slot, uint64_t ticks)
{
	struct weft_abi_moment moment = weft__moment(weft__platform());
	weft__store(&packet->before, weft__load(&packet->written));
	weft__store(&packet->committed, (uint32_t)sizeof(*packet));
	weft__store(&packet->thread, weft__load(&slot->thread));
	weft__store(&packet->base_ticks, ticks >> 32 << 32);
	weft__store(&packet->opened_ticks, ticks);
	weft__store(&packet->moment_ticks, moment.ticks);
	weft__store(&packet->moment_ns, moment.monotonic_ns);
	weft__store(&packet->task, weft__load(&slot->task));
	weft__store(&packet->number, weft__load(&slot->number));
	weft__store(&packet->lost, weft__load(&slot->lost));
	weft__store(&packet->thread_records, 0);
	weft__store(&packet->tid, (uint32_t)weft__load(&slot->owner));
	weft__store(&packet->slot, weft__slot_index(slot));
	store_name((uint64_t *)(void *)packet->name);
}

bool weft__packet_open(struct weft_abi_slot *slot, uint64_t ticks)
{
	uint64_t sequence;
	struct weft_abi_buffer *header = weft__header_of(slot);
	struct weft_abi_packet *packet = claim(slot, &sequence);
	if (!packet)
		return false;
	weft__fence_release();
	store_header(packet, slot, ticks);
	weft__store(&slot->base_high, (uint32_t)(ticks >> 32));
	weft__store(&slot->surplus, 0);
	weft__store(&slot->inherited, 0);
	/* Open before it is the slot's: a handler that never returns must not leave us with a packet
	 * that readers don't read. */
	weft__store_release(&packet->state, sequence << 2 | WEFT_ABI_PACKET_OPEN);
	/* Release: who takes it counts its words. */
	weft__store_release(&slot->taken, weft__packet_untaken(sequence));
	weft__store(&slot->packet, (uintptr_t)packet);
	weft__store(&slot->unfinished, 0);
	weft__store(&slot->limit, header->packet_bytes);
	return true;
}

static bool is_named(const struct weft_abi_packet *packet, const uint64_t *name)
{
	const uint64_t *theirs = (const uint64_t *)(const void *)packet->name;
	return weft__load(&theirs[0]) == name[0] && weft__load(&theirs[1]) == name[1];
}

/* Its predecessor's events stay as they are; this record tells whose the next ones are. */
void weft__packet_inherit(struct weft_abi_slot *slot)
{
	struct weft_abi_packet *packet = weft__packet_of(slot);
	uint64_t ticks = weft__ticks(weft__platform()), name[2];
	struct weft__place place = weft__next_place(slot, (uint32_t)ticks);
	store_name(name);
	/* Threads of a pool bear one name. */
	uint32_t words = WEFT_ABI_THREAD_WORDS + (is_named(packet, name) ? 0 : 2);
	if (!weft__place_is_good(&place, words, (uint32_t)(ticks >> 32))) {
		weft__packet_close(slot);
		/* Another thread may have taken it while we counted what was inherited, and a third have
		 * filled it. */
		weft__store(&slot->number, 0);
		return; /* the first event will claim another */
	}
	uint64_t tid = (uint32_t)weft__load(&slot->owner);
	weft__store(&packet->thread_records, weft__load(&packet->thread_records) + 1);
	weft__store(&place.at[0], WEFT_ABI_HEAD(WEFT_ABI_THREAD, words, 0) | place.stamp);
	weft__store(&place.at[1], (uint64_t)weft__load(&slot->thread) << 32 | tid);
	if (words > WEFT_ABI_THREAD_WORDS) {
		weft__store(&place.at[2], name[0]);
		weft__store(&place.at[3], name[1]);
	}
	weft__publish_record(&place, words);
}
