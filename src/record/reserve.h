/* SPDX-License-Identifier: ISC
 *
 * The hot path: room for an event in the thread's packet, and its commit.
 *
 * Between the two the slot's sequence is odd. That is the guard against a signal handler that
 * records in the middle (its events are counted as nested), and what a follower's low-water mark
 * will read. An event exists once `committed` lies behind it: that store is the commit, and
 * release, so that who sees it sees the event's bytes.
 */
#ifndef WEFT_RECORD_RESERVE_H
#define WEFT_RECORD_RESERVE_H

#include "abi/event_abi.h"
#include "record/atomics.h"
#include "record/clock.h"
#include "record/recorder.h"

struct weft__place {
	struct weft_abi_slot *slot; /* NULL: the event can't be recorded, which has been counted */
	struct weft_abi_packet *packet;
	uint64_t *at;      /* the event's first word */
	uint64_t stamp;    /* its 32 bits of ticks */
	uint32_t offset;   /* of the event in the packet */
	uint32_t sequence; /* of the slot, before */
};

/* Without it the compiler keeps the place in memory, which doubles the path. */
#define WEFT__ALWAYS_INLINE static inline __attribute__((always_inline))

/* The thread's first event in this buffer: finds it a slot. False if there is none or recording is
 * off. */
bool weft__enter(struct weft__self *self);

/* Nothing of the packet is left, or its stamps don't reach to `ticks`: sees to both, within the
 * guard. False if no packet could be had, and then that is counted and the guard is clear. */
bool weft__make_room(struct weft_abi_slot *slot, uint32_t bytes, uint64_t ticks);

void weft__count_nested(struct weft_abi_slot *slot);
void weft__count_loss(struct weft_abi_slot *slot, unsigned cause);

static inline struct weft_abi_packet *weft__packet_at(uint64_t offset)
{
	return (struct weft_abi_packet *)(void *)(weft__recorder.buffer + offset);
}

/* The calling thread, if it can record. */
WEFT__ALWAYS_INLINE struct weft__self *weft__entered(void)
{
	struct weft__self *self = weft__self();
	if (WEFT__UNLIKELY(self->ticket != weft__load(&weft__live.generation) + 1))
		return weft__enter(self) ? self : NULL;
	return self;
}

/* Where the slot's next event goes, if it has room. */
WEFT__ALWAYS_INLINE struct weft__place weft__next_place(struct weft_abi_slot *slot, uint64_t ticks)
{
	struct weft__place place = {.slot = slot};
	place.packet = weft__packet_at(weft__load(&slot->packet));
	place.offset = weft__load(&place.packet->committed);
	place.stamp = ticks - weft__load(&slot->base_ticks);
	place.at = (uint64_t *)(void *)((unsigned char *)place.packet + place.offset);
	return place;
}

WEFT__ALWAYS_INLINE struct weft__place weft__reserve(uint32_t words)
{
	const struct weft__place none = {.slot = NULL};
	const struct weft__self *self = weft__entered();
	if (!self)
		return none;
	struct weft_abi_slot *slot = self->slot;
	uint32_t sequence = weft__load(&slot->sequence);
	if (WEFT__UNLIKELY(sequence & 1)) {
		weft__count_nested(slot);
		return none;
	}
	weft__store(&slot->sequence, sequence + 1);
	weft__signal_fence();
	/* What follows is read after the guard is set: a handler may have moved it on until then. */
	uint64_t ticks = weft__ticks();
	struct weft__place place = weft__next_place(slot, ticks);
	if (WEFT__UNLIKELY(
			(place.stamp >> 32) | (place.offset + words * 8 > weft__load(&slot->limit)))) {
		if (!weft__make_room(slot, words * 8, ticks))
			return none;
		place = weft__next_place(slot, ticks);
	}
	place.sequence = sequence;
	return place;
}

/* Makes the bytes written so far visible as whole records. */
WEFT__ALWAYS_INLINE void weft__publish(const struct weft__place *place, uint32_t words)
{
	weft__store_release(&place->packet->committed, place->offset + words * 8);
}

/* The event is complete. */
WEFT__ALWAYS_INLINE void weft__commit(const struct weft__place *place, uint32_t words)
{
	struct weft_abi_slot *slot = place->slot;
	weft__store(&slot->number, weft__load(&slot->number) + 1);
	weft__publish(place, words);
	weft__signal_fence();
	weft__store(&slot->sequence, place->sequence + 2);
}

#endif
