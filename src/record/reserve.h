/* SPDX-License-Identifier: ISC
 *
 * The fast path: room for an event in the thread's packet, and its commit.
 *
 * Between the two, the slot's sequence is odd. It guards against a signal handler that records in
 * the middle (its events are counted as nested), and followers read it for their low-water mark. An
 * event exists once `committed` lies behind it. That store is the commit; it has release order, so
 * that a reader that sees it also sees the event's bytes.
 */
#ifndef WEFT_RECORD_RESERVE_H
#define WEFT_RECORD_RESERVE_H

#include "abi/event_abi.h"
#include "record/atomics.h"
#include "record/clock.h"
#include "record/recorder.h"

/* A moment's stamp is renewed after half this many events, in case the program jumped over the
 * moment's end. */
#define WEFT__MOMENT_EVENTS 128u /* twice the number, plus a flag */

/* Room for one record in a packet, reserved until its commit. */
struct weft__room {
	struct weft_abi_slot *slot; /* NULL: there is no room */
	struct weft_abi_packet *packet;
	uint64_t *at;    /* where the event's first word goes */
	uint32_t stamp;  /* the lower half of the ticks */
	uint32_t offset; /* the event's offset in the packet */
	uint32_t *guard; /* the word that is odd until the event is complete */
	uint32_t clear;  /* its value when the event is complete */
};

/* Without inlining, the compiler keeps the struct in memory, which doubles the path's length. */
#define WEFT__ALWAYS_INLINE static inline __attribute__((always_inline))

/* Called at the thread's first event in this buffer: finds a slot. False if there is none or
 * recording is off. */
bool weft__record_enter(struct weft__self *self);
/* The same for a call that does not record: no loss is counted if it fails. */
bool weft__record_look(struct weft__self *self);

void weft__record_count_loss(struct weft_abi_slot *slot, unsigned cause);

/* Inside the guard: gives the slot's moment a new stamp. */
void weft__record_moment_renew(struct weft_abi_slot *slot);

/* The slot's packet, or NULL. */
static inline struct weft_abi_packet *weft__record_packet_of(
	const struct weft__region *region, const struct weft_abi_slot *slot)
{
	struct weft_abi_packet *packet;
	bool has_one =
		weft__record_region_find_packet(region, slot, weft__load(&slot->packet), &packet);
	return has_one ? packet : NULL;
}

static inline bool weft__record_has_packet(const struct weft_abi_slot *slot)
{
	return weft__load(&slot->packet) != 0;
}

/* The calling thread's state, if it can record; else NULL. */
WEFT__ALWAYS_INLINE struct weft__self *weft__record_entered(void)
{
	struct weft__self *self = weft__record_self();
	if (WEFT__UNLIKELY(weft__record_entered_generation(self) != weft__record_generation()))
		return !weft__record_is_off() && weft__record_enter(self) ? self : NULL;
	return self;
}

/* The same for a call that does not record. */
static inline struct weft__self *weft__record_looked(void)
{
	struct weft__self *self = weft__record_self();
	if (weft__record_entered_generation(self) != weft__record_generation())
		return !weft__record_is_off() && weft__record_look(self) ? self : NULL;
	return self;
}

/* Like weft__record_entered, but a copy: names have the ids of one buffer, and a signal handler in
 * between may enter another. */
WEFT__ALWAYS_INLINE bool weft__record_entered_now(struct weft__self *ret_self)
{
	const struct weft__self *self = weft__record_entered();
	if (!self)
		return false;
	do {
		ret_self->ticket = weft__load_own(&self->ticket);
		weft__signal_fence();
		ret_self->slot = weft__load_own(&self->slot);
		weft__signal_fence();
	} while (WEFT__UNLIKELY(ret_self->ticket != weft__load_own(&self->ticket)));
	if (WEFT__LIKELY(weft__record_has_entered(ret_self)))
		return true;
	weft__record_count_loss(NULL, WEFT_ABI_LOSS_FULL); /* the signal handler was refused */
	return false;
}

/* Finds where the next event of the room's slot goes. False if so many words don't fit, or their
 * stamp does not count from the packet's base. `region`: the slot's, or another one, in which the
 * slot has no packet. The packet's own line of memory is not read here, only stored to.
 *
 * All numbers in the slot may be another process's: the limit is masked, so that it is at most a
 * packet's size, and the sum of 64 bits cannot wrap. */
WEFT__ALWAYS_INLINE bool weft__record_room_fits(
	const struct weft__region *region, struct weft__room *room, uint32_t words, uint32_t high)
{
	const struct weft_abi_slot *slot = room->slot;
	struct weft_abi_packet *packet;
	uint64_t distance = weft__load(&slot->packet);
	uint32_t offset = weft__load(&slot->offset);
	uint32_t limit = weft__load(&slot->limit) & region->limit;
	if (WEFT__UNLIKELY(!weft__record_region_find_packet(region, slot, distance, &packet)) ||
		WEFT__UNLIKELY(high != weft__load_own(&slot->base_high)) ||
		WEFT__UNLIKELY((uint64_t)offset + (uint64_t)words * 8 > limit))
		return false;
	room->packet = packet;
	room->offset = offset;
	room->at = (uint64_t *)(void *)((unsigned char *)packet + offset);
	return true;
}

/* Gives the room back without an event. */
WEFT__ALWAYS_INLINE void weft__record_withdraw(const struct weft__room *room)
{
	weft__store_release(room->guard, room->clear);
}

/* The fast path: the thread has entered, nothing is interrupted, the clock is the processor's, and
 * there is room. Otherwise it changes nothing and returns false; the caller then makes an
 * out-of-line tail call, so that the fast path spills no registers for the slow one. */
WEFT__ALWAYS_INLINE bool weft__record_try_reserve(uint32_t words, struct weft__room *ret_room)
{
	const struct weft__self *self = weft__record_self();
	if (WEFT__UNLIKELY(self->ticket != weft__load(&weft__live.generation)))
		return false;
	struct weft_abi_slot *slot = self->slot;
	uint32_t sequence = weft__load(&slot->sequence);
	/* If the guard is set already, this store changes nothing. The test comes after the stamp,
	 * because some processors read their counter only when all earlier instructions are done. */
	weft__store(&slot->sequence, sequence | 1);
	weft__signal_fence();
	/* Loads after the guard is set: until then a signal handler may have changed these. */
	struct weft__stamp stamp = weft__record_cpu_stamp();
	if (WEFT__UNLIKELY(sequence & 1))
		return false;
	struct weft__room room = {
		.slot = slot, .stamp = stamp.low, .guard = &slot->sequence, .clear = sequence + 2};
	if (!weft__record_room_fits(weft__record_region(), &room, words, stamp.high)) {
		weft__record_withdraw(&room);
		return false;
	}
	*ret_room = room;
	return true;
}

WEFT__ALWAYS_INLINE bool weft__record_is_in_moment(const struct weft__self *self)
{
	uint64_t differs = self->ticket ^ weft__load(&weft__live.generation);
	return differs - WEFT__IN_MOMENT <= WEFT__SLOWLY;
}

/* Sets the guard of an event in a moment, or of an operation that changes the moment. False inside
 * another event, or if there is no moment: then it has changed nothing. moment.c explains the order
 * of the tests. */
WEFT__ALWAYS_INLINE bool weft__record_guard_moment(struct weft_abi_slot *slot, uint32_t *ret_events)
{
	uint32_t events = weft__load(&slot->moment_events);
	if (WEFT__UNLIKELY(events & 1))
		return false;
	weft__store(&slot->moment_events, events + 1);
	weft__signal_fence();
	if (WEFT__UNLIKELY(!weft__load(&slot->is_in_moment))) {
		weft__store(&slot->moment_events, events);
		return false;
	}
	*ret_events = events;
	return true;
}

/* Room for the next event of a moment. False inside another event, once in a while, and if there is
 * no room. */
WEFT__ALWAYS_INLINE bool weft__record_try_reserve_in_moment(
	struct weft_abi_slot *slot, uint32_t words, struct weft__room *ret_room)
{
	uint32_t events;
	if (!weft__record_guard_moment(slot, &events))
		return false;
	uint64_t ticks = weft__load(&slot->moment);
	struct weft__room room = {
		.slot = slot, .stamp = (uint32_t)ticks, .guard = &slot->moment_events, .clear = events + 2};
	if (WEFT__UNLIKELY(events & WEFT__MOMENT_EVENTS) ||
		!weft__record_room_fits(weft__record_region(), &room, words, (uint32_t)(ticks >> 32))) {
		weft__store_release(room.guard, events);
		return false;
	}
	*ret_room = room;
	return true;
}

/* The same in this slot, which the thread had entered before. */
WEFT__ALWAYS_INLINE bool weft__record_try_reserve_in(
	const struct weft_abi_slot *slot, uint32_t words, struct weft__room *ret_room)
{
	if (!weft__record_try_reserve(words, ret_room))
		return false;
	if (WEFT__LIKELY(ret_room->slot == slot))
		return true;
	weft__record_withdraw(ret_room);
	return false;
}

/* Sets the guard and returns the stamp. False inside another event. */
WEFT__ALWAYS_INLINE bool weft__record_begin(
	struct weft_abi_slot *slot, struct weft__room *room, uint64_t *ret_ticks)
{
	uint32_t sequence = weft__load(&slot->sequence);
	if (sequence & 1)
		return false;
	*room = (struct weft__room){.slot = slot, .guard = &slot->sequence, .clear = sequence + 2};
	weft__store(&slot->sequence, sequence + 1);
	weft__signal_fence();
	*ret_ticks = weft__record_ticks(weft__record_platform());
	return true;
}

/* Finds room once the guard is set. False if the event doesn't fit. */
WEFT__ALWAYS_INLINE bool weft__record_find_room(
	struct weft__room *room, uint32_t words, uint64_t ticks)
{
	room->stamp = (uint32_t)ticks;
	return weft__record_room_fits(
		weft__record_region_of(room->slot), room, words, (uint32_t)(ticks >> 32));
}

/* The same with the caller's clock in memory. */
WEFT__ALWAYS_INLINE bool weft__record_try_reserve_at(
	struct weft_abi_slot *slot, uint32_t words, const uint64_t *clock, struct weft__room *ret_room)
{
	uint32_t sequence = weft__load(&slot->sequence);
	if (WEFT__UNLIKELY(sequence & 1))
		return false;
	weft__store(&slot->sequence, sequence + 1);
	weft__signal_fence();
	uint64_t ticks = weft__load(clock);
	struct weft__room room = {
		.slot = slot, .stamp = (uint32_t)ticks, .guard = &slot->sequence, .clear = sequence + 2};
	if (WEFT__UNLIKELY(!weft__record_room_fits(
			weft__record_region(), &room, words, (uint32_t)(ticks >> 32)))) {
		weft__record_withdraw(&room);
		return false;
	}
	*ret_room = room;
	return true;
}

/* Reserves room in any case. If the slot is NULL, the event can't be recorded, which has been
 * counted. */
struct weft__room weft__record_reserve(uint32_t words);
/* The same in the slot that the thread had entered before. False: there is no room. */
bool weft__record_reserve_slowly(
	struct weft_abi_slot *slot, uint32_t words, struct weft__room *ret);
/* Still frequent, so inline: the clock is the caller's, or the thread is in a moment. False if the
 * event needs a new packet, and in the middle of another one. */
WEFT__ALWAYS_INLINE bool weft__record_try_reserve_again(
	struct weft_abi_slot *slot, uint32_t words, struct weft__room *ret_room)
{
	struct weft__room room;
	uint64_t ticks;
	if (WEFT__UNLIKELY(!weft__record_begin(slot, &room, &ticks)))
		return weft__record_try_reserve_in_moment(slot, words, ret_room);
	if (WEFT__UNLIKELY(!weft__record_find_room(&room, words, ticks))) {
		weft__record_withdraw(&room);
		return false;
	}
	*ret_room = room;
	return true;
}

/* The same in the slot that the thread had entered before: an event that refers to names goes into
 * their buffer. */
WEFT__ALWAYS_INLINE struct weft__room weft__record_reserve_in(
	struct weft_abi_slot *slot, uint32_t words)
{
	struct weft__room room;
	if (WEFT__UNLIKELY(!weft__record_try_reserve_again(slot, words, &room)) &&
		!weft__record_reserve_slowly(slot, words, &room))
		room.slot = NULL;
	return room;
}

/* Stores two halves, which saves combining them. */
WEFT__ALWAYS_INLINE void weft__record_store_head(const struct weft__room *room, uint64_t head)
{
	uint32_t __attribute__((may_alias)) *halves = (void *)room->at;
	weft__store(&halves[0], room->stamp);
	weft__store(&halves[1], (uint32_t)(head >> 32));
}

/* Commits: makes the bytes written so far visible. */
WEFT__ALWAYS_INLINE void weft__record_publish(const struct weft__room *room, uint32_t words)
{
	weft__store_release(&room->packet->committed, room->offset + words * 8);
	weft__store(&room->slot->offset, room->offset + words * 8);
}

/* The same for a record that is not an event. */
static inline void weft__record_publish_record(const struct weft__room *room, uint32_t words)
{
	weft__store(&room->slot->surplus, weft__load(&room->slot->surplus) + words);
	weft__record_publish(room, words);
}

/* Makes the event visible. If the program is killed between this and the end of the commit, the
 * slot's offset is older than the packet's: so readers know that other stores of that time may be
 * missing. */
WEFT__ALWAYS_INLINE void weft__record_begin_commit(const struct weft__room *room, uint32_t words)
{
	struct weft_abi_slot *slot = room->slot;
	/* Only the deviation from two words is counted, so that common events cost nothing. */
	if (words != 2)
		weft__store(&slot->surplus, weft__load(&slot->surplus) + words - 2);
	weft__store_release(&room->packet->committed, room->offset + words * 8);
}

/* Clears the guard. */
WEFT__ALWAYS_INLINE void weft__record_end_commit(const struct weft__room *room, uint32_t words)
{
	weft__store(&room->slot->offset, room->offset + words * 8);
	/* Release: a thread that finds the guard clear may take the packet with all that is in it. */
	weft__store_release(room->guard, room->clear);
}

/* Commits the event and clears the guard. */
WEFT__ALWAYS_INLINE void weft__record_commit(const struct weft__room *room, uint32_t words)
{
	weft__record_begin_commit(room, words);
	weft__record_end_commit(room, words);
}

#endif
