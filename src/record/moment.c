/* SPDX-License-Identifier: ISC
 *
 * Events that share a stamp.
 *
 * From a moment's beginning to its end the slot's sequence is odd, as it is in the middle of an
 * event: so a follower's low-water mark stays before the stamp until it is not used any more, and
 * nobody takes the packet. Against signal handlers there is another guard meanwhile,
 * `moment_events`: odd in the middle of an event, and of what changes the moment itself.
 *
 * The argument that of a thread and its handlers only one is ever in the middle. A handler runs to
 * its end before what it interrupted goes on, and ends the moments that it begins.
 *
 * - Who begins an event or a moment finds the guard even and makes it odd. What handlers do between
 *   these two steps they finish: they leave a guard even that they found even. So at the second
 *   step nobody is in the middle, and from it on handlers find the guard odd; their events are
 *   nested.
 * - It must be the right guard. Handlers may have ended the moment meanwhile, as one does that
 *   records a moment of its own; so `is_in_moment` counts as it is after the second step, when they
 *   can't change it any more. Outside of moments there is nothing to ask again: a moment that began
 *   meanwhile has ended.
 * - Beginning a moment and ending it go from one guard to the other while both are set.
 * - The packet, its limit, the stamp and its base are looked at within the guard. The guards' own
 *   values are not, so one may be stored again that handlers have gone beyond: to a follower it is
 *   an odd sequence that lasts, and the moment's stamp is renewed some events later.
 *
 * The thread's ticket differs from the generation meanwhile, so that its events leave the common
 * path before they read the clock.
 */
#include "record/reserve.h"

static void take_stamp(struct weft_abi_slot *slot)
{
	uint64_t ticks = weft__ticks(weft__platform());
	weft__store(&slot->moment, ticks);
}

void weft__moment_renew(struct weft_abi_slot *slot)
{
	/* Another odd value: what was stamped before is complete. Release, as of any event. */
	weft__store_release(&slot->sequence, weft__load(&slot->sequence) + 2);
	weft__signal_fence();
	take_stamp(slot);
}

WEFT__EXPORT void weft_moment_begin(void)
{
	struct weft__self *self = weft__looked();
	uint32_t events;
	if (!self)
		return;
	struct weft_abi_slot *slot = self->slot;
	if (weft__guard_moment(slot, &events)) {
		weft__moment_renew(slot);
		weft__store_release(&slot->moment_events, 0);
		return;
	}
	uint32_t sequence = weft__load(&slot->sequence);
	/* A handler, in the middle of an event: that one's stamp must stay. */
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
	struct weft__self *self = weft__self();
	if (weft__entered_generation(self) != weft__generation())
		return;
	struct weft_abi_slot *slot = self->slot;
	uint32_t events;
	/* A handler in the middle of an event does not end it. */
	if (!weft__guard_moment(slot, &events))
		return;
	self->ticket = weft__entered_generation(self);
	weft__store(&slot->is_in_moment, 0);
	/* Release, as of any event. The other guard stays set: it guards nothing any more. */
	weft__store_release(&slot->sequence, weft__load(&slot->sequence) + 1);
}
