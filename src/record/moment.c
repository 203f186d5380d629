/* SPDX-License-Identifier: ISC
 *
 * Events that share a stamp.
 *
 * From a moment's beginning to its end the slot's sequence is odd, as it is inside an event. So a
 * follower's low-water mark stays before the stamp until it is no longer used, and no thread takes
 * the packet. Another guard protects against signal handlers meanwhile, `moment_events`: it is odd
 * inside an event, and inside an operation that changes the moment.
 *
 * Claim: of a thread and its signal handlers, at most one is inside the guard at a time. A handler
 * runs to its end before the code that it interrupted continues, and ends the moments that it
 * begins.
 *
 * - An event or a moment begins by finding the guard even and making it odd. Handlers that run
 *   between these two steps finish, and leave a guard even that they found even. So at the second
 *   step nobody is inside, and from then on handlers find the guard odd: their events are nested.
 * - It must be the right guard. Handlers may have ended the moment in between, for example by
 *   recording a moment of their own. So `is_in_moment` is tested again after the second step, when
 *   handlers can no longer change it. Outside of moments no second test is needed: a moment that
 *   began in between has ended.
 * - Beginning and ending a moment switch from one guard to the other while both are set.
 * - The packet, its limit, the stamp and its base are read inside the guard. The guards' own
 *   values are not, so a store may repeat a value that handlers have passed: a follower then sees
 *   an odd sequence that lasts, and the moment's stamp is renewed a few events later.
 *
 * Meanwhile the thread's ticket differs from the generation, so that its events leave the fast path
 * before they read the clock.
 */
#include "record/reserve.h"

static void take_stamp(struct weft_abi_slot *slot)
{
	uint64_t ticks = weft__record_ticks(weft__record_platform());
	weft__store(&slot->moment, ticks);
}

void weft__record_moment_renew(struct weft_abi_slot *slot)
{
	/* Another odd value says that events with the old stamp are complete. Release, as for any
	 * event. */
	weft__store_release(&slot->sequence, weft__load(&slot->sequence) + 2);
	weft__signal_fence();
	take_stamp(slot);
}

WEFT__EXPORT void weft_moment_begin(void)
{
	struct weft__self *self = weft__record_looked();
	uint32_t events;
	if (!self)
		return;
	struct weft_abi_slot *slot = self->slot;
	if (weft__record_guard_moment(slot, &events)) {
		weft__record_moment_renew(slot);
		weft__store_release(&slot->moment_events, 0);
		return;
	}
	uint32_t sequence = weft__load(&slot->sequence);
	/* In a signal handler that interrupts an event: the event's stamp must stay. */
	if (sequence & 1)
		return;
	weft__store(&slot->sequence, sequence + 1);
	weft__signal_fence();
	take_stamp(slot);
	weft__store(&slot->moment_events, 1);
	weft__signal_fence();
	weft__store(&slot->is_in_moment, 1);
	self->ticket |= WEFT__IN_MOMENT;
	weft__store_release(&slot->moment_events, 0);
}

WEFT__EXPORT void weft_moment_end(void)
{
	struct weft__self *self = weft__record_self();
	if (weft__record_entered_generation(self) != weft__record_generation())
		return;
	struct weft_abi_slot *slot = self->slot;
	uint32_t events;
	/* A signal handler that interrupts an event does not end its moment. */
	if (!weft__record_guard_moment(slot, &events))
		return;
	self->ticket = weft__record_entered_generation(self);
	weft__store(&slot->is_in_moment, 0);
	/* Release, as for any event. The other guard stays set, without effect. */
	weft__store_release(&slot->sequence, weft__load(&slot->sequence) + 1);
}
