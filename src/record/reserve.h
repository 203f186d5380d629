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
	struct weft_abi_slot *slot; /* NULL: there is no place */
	struct weft_abi_packet *packet;
	uint64_t *at;      /* the event's first word */
	uint32_t stamp;    /* its lower half of the ticks */
	uint32_t offset;   /* of the event in the packet */
	uint32_t sequence; /* of the slot, before */
};

/* Without it the compiler keeps the place in memory, which doubles the path. */
#define WEFT__ALWAYS_INLINE static inline __attribute__((always_inline))

/* The thread's first event in this buffer: finds it a slot. False if there is none or recording is
 * off. */
bool weft__enter(struct weft__self *self);

void weft__count_loss(struct weft_abi_slot *slot, unsigned cause);

/* If it has none, this is no packet, but memory that may be read. */
WEFT__ALWAYS_INLINE struct weft_abi_packet *weft__packet_of(const struct weft_abi_slot *slot)
{
	unsigned char *bytes = (unsigned char *)(uintptr_t)slot + weft__load(&slot->packet);
	return (struct weft_abi_packet *)(void *)bytes;
}

/* The calling thread, if it can record. */
WEFT__ALWAYS_INLINE struct weft__self *weft__entered(void)
{
	struct weft__self *self = weft__self();
	if (WEFT__UNLIKELY(self->ticket != weft__generation()))
		return !weft__is_off() && weft__enter(self) ? self : NULL;
	return self;
}

/* Where the slot's next event goes, if it has room. */
WEFT__ALWAYS_INLINE struct weft__place weft__next_place(struct weft_abi_slot *slot, uint32_t stamp)
{
	struct weft__place place = {.slot = slot, .stamp = stamp};
	place.packet = weft__packet_of(slot);
	place.offset = weft__load(&place.packet->committed);
	place.at = (uint64_t *)(void *)((unsigned char *)place.packet + place.offset);
	return place;
}

/* The event fits, and its stamp counts from the packet's base. */
WEFT__ALWAYS_INLINE bool weft__place_is_good(
	const struct weft__place *place, uint32_t words, uint32_t high)
{
	const struct weft_abi_slot *slot = place->slot;
	return WEFT__LIKELY(high == weft__load(&slot->base_high)) &&
		   WEFT__LIKELY(place->offset + words * 8 <= weft__load(&slot->limit));
}

/* The place is not used after all. */
WEFT__ALWAYS_INLINE void weft__withdraw(const struct weft__place *place)
{
	weft__signal_fence();
	weft__store(&place->slot->sequence, place->sequence + 2);
}

/* The common case: the thread has entered, nothing is interrupted, the clock is the processor's,
 * and there is room. Otherwise nothing has happened and the answer is false: a caller then leaves
 * by a jump to a slow function, so that nothing of the slow ways is saved and restored here. */
WEFT__ALWAYS_INLINE bool weft__try_reserve(uint32_t words, struct weft__place *ret_place)
{
	const struct weft__self *self = weft__self();
	if (WEFT__UNLIKELY(self->ticket != weft__load(&weft__live.generation)))
		return false;
	struct weft_abi_slot *slot = self->slot;
	uint32_t sequence = weft__load(&slot->sequence);
	if (WEFT__UNLIKELY(sequence & 1))
		return false;
	weft__store(&slot->sequence, sequence + 1);
	weft__signal_fence();
	/* What follows is read after the guard is set: a handler may have moved it on until then. */
	struct weft__stamp stamp = weft__cpu_stamp();
	struct weft__place place = weft__next_place(slot, stamp.low);
	place.sequence = sequence;
	if (!weft__place_is_good(&place, words, stamp.high)) {
		weft__withdraw(&place);
		return false;
	}
	*ret_place = place;
	return true;
}

/* Every case. A slot of NULL: the event can't be recorded, which has been counted. */
struct weft__place weft__reserve(uint32_t words);
/* The same in the slot that the thread had entered before: an event that refers to names goes where
 * they are. */
struct weft__place weft__reserve_in(struct weft_abi_slot *slot, uint32_t words);

/* Makes the bytes written so far visible. */
WEFT__ALWAYS_INLINE void weft__publish(const struct weft__place *place, uint32_t words)
{
	weft__store_release(&place->packet->committed, place->offset + words * 8);
}

/* The same, of a record that is no event. */
static inline void weft__publish_record(const struct weft__place *place, uint32_t words)
{
	weft__store(&place->slot->surplus, weft__load(&place->slot->surplus) + words);
	weft__publish(place, words);
}

/* The event is complete. */
WEFT__ALWAYS_INLINE void weft__commit(const struct weft__place *place, uint32_t words)
{
	struct weft_abi_slot *slot = place->slot;
	/* Events are counted by the words they don't have, so that common ones cost nothing. */
	if (words != 2)
		weft__store(&slot->surplus, weft__load(&slot->surplus) + words - 2);
	weft__publish(place, words);
	weft__signal_fence();
	weft__store(&slot->sequence, place->sequence + 2);
}

#endif
