/* SPDX-License-Identifier: ISC
 *
 * Claiming, opening and closing packets.
 *
 * A claim takes the next place of a clock hand and tries the packet there; the place's number is
 * the sequence, so that no two claims ever write the same state word. The claimer owns the packet
 * from the moment its compare-and-exchange succeeds: only closed packets are taken, and a closed
 * packet has no writer.
 *
 * A reader copies without a lock and looks at the state before and after. So "opening" must be
 * visible before the first byte of the new content (the release fence), and "open" after the
 * packet's header (the release store).
 */
#include "record/packet.h"

#include "record/atomics.h"
#include "record/clock.h"
#include "record/reserve.h"
#include "record/wake.h"

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

static struct weft_abi_packet *claim(struct weft_abi_buffer *header, uint64_t *ret_sequence)
{
	/* Others move the hand too: twice around sees every packet unless they claim as fast. */
	for (uint32_t tries = 2 * header->packet_count; tries > 0; tries--) {
		uint64_t sequence = weft__fetch_add(&header->hand, 1) + 1;
		uint64_t index = modulo(sequence - 1, header->packet_count);
		struct weft_abi_packet *packet =
			(struct weft_abi_packet *)(void *)((unsigned char *)header + header->packets_offset +
											   index * header->packet_bytes);
		uint64_t state = weft__load(&packet->state);
		if ((state & WEFT_ABI_PACKET_STATE) != WEFT_ABI_PACKET_CLOSED || state >> 2 >= sequence)
			continue;
		/* Acquire: `written` was stored before the packet was closed. */
		if (weft__compare_exchange(
				&packet->state, state, sequence << 2 | WEFT_ABI_PACKET_OPENING)) {
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

bool weft__packet_open(struct weft_abi_slot *slot, uint64_t ticks)
{
	uint64_t sequence;
	struct weft_abi_buffer *header = weft__header_of(slot);
	struct weft_abi_packet *packet = claim(header, &sequence);
	if (!packet)
		return false;
	weft__fence_release();
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
	store_name((uint64_t *)(void *)packet->name);

	weft__store(&slot->base_high, (uint32_t)(ticks >> 32));
	weft__store(&slot->surplus, 0);
	weft__store(&slot->inherited, 0);
	/* Open before it is the slot's: a handler that never returns must not leave us with a packet
	 * that readers don't read. */
	weft__store_release(&packet->state, sequence << 2 | WEFT_ABI_PACKET_OPEN);
	weft__signal_fence();
	weft__store(&slot->packet, (uintptr_t)packet);
	weft__store(&slot->limit, header->packet_bytes);
	return true;
}

uint32_t weft__packet_events(const struct weft_abi_slot *slot)
{
	const struct weft_abi_packet *packet = weft__packet_of(slot);
	uint32_t words = (weft__load(&packet->committed) - (uint32_t)sizeof(*packet)) / 8;
	return (words - weft__load(&slot->surplus)) / 2;
}

void weft__packet_close(struct weft_abi_slot *slot)
{
	if (!weft__has_packet(slot))
		return;
	struct weft_abi_packet *packet = weft__packet_of(slot);
	uint32_t events = weft__packet_events(slot);
	weft__store(&packet->written, weft__load(&packet->before) + events);
	weft__store(&slot->number, weft__load(&slot->number) + events - weft__load(&slot->inherited));
	/* In this order: a thread may end between the two, and without a packet there is no room. */
	weft__store(&slot->limit, 0);
	weft__signal_fence();
	weft__store(&slot->packet, (uintptr_t)slot);
	uint64_t state = weft__load(&packet->state);
	weft__store_release(
		&packet->state, (state & ~(uint64_t)WEFT_ABI_PACKET_STATE) | WEFT_ABI_PACKET_CLOSED);
	weft__wake_followers(weft__header_of(slot));
}

/* Counts the words beyond two an event again. */
static void recount(struct weft_abi_slot *slot)
{
	const struct weft_abi_packet *packet = weft__packet_of(slot);
	const unsigned char *bytes = (const unsigned char *)packet;
	uint32_t end = weft__load(&packet->committed), surplus = 0;
	for (uint32_t at = sizeof(*packet); at < end;) {
		uint64_t head = weft__load((const uint64_t *)(const void *)(bytes + at));
		uint32_t kind = head >> 32 & 0x7f, words = head >> 40 & 0xff;
		bool is_event = kind != WEFT_ABI_TIME && kind != WEFT_ABI_THREAD;
		surplus += is_event ? words - 2 : words;
		if (words == 0)
			break; /* somebody wrote where they shouldn't */
		at += words * 8;
	}
	weft__store(&slot->surplus, surplus);
}

void weft__packet_repair(struct weft_abi_slot *slot)
{
	uint32_t sequence = weft__load(&slot->sequence);
	if (!(sequence & 1))
		return;
	if (weft__has_packet(slot))
		recount(slot);
	weft__store(&slot->sequence, sequence + 1);
}

/* Its predecessor's events stay as they are; this record tells whose the next ones are. */
void weft__packet_inherit(struct weft_abi_slot *slot)
{
	struct weft_abi_packet *packet = weft__packet_of(slot);
	uint64_t ticks = weft__ticks(weft__platform());
	struct weft__place place = weft__next_place(slot, (uint32_t)ticks);
	if (!weft__place_is_good(&place, WEFT_ABI_THREAD_WORDS, (uint32_t)(ticks >> 32))) {
		weft__packet_close(slot);
		return; /* the first event will claim another */
	}
	uint64_t tid = (uint32_t)weft__load(&slot->owner);
	store_name(&place.at[3]);
	weft__store(&packet->thread_records, weft__load(&packet->thread_records) + 1);
	weft__store(
		&place.at[0], WEFT_ABI_HEAD(WEFT_ABI_THREAD, WEFT_ABI_THREAD_WORDS, 0) | place.stamp);
	weft__store(&place.at[1], (uint64_t)weft__load(&slot->thread) << 32 | tid);
	weft__store(&place.at[2], 0); /* its first event */
	weft__publish_record(&place, WEFT_ABI_THREAD_WORDS);
}
