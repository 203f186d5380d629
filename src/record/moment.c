/* SPDX-License-Identifier: ISC
 *
 * Events that share a stamp.
 *
 * From a moment's beginning to its end the slot's sequence is odd, as it is in the middle of an
 * event: so a follower's low-water mark stays before the stamp until it is not used any more.
 * Against signal handlers each event has a guard of its own, `moment_events`.
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

/* Within the guard: a new base is written by the first event, which then takes the slow way. */
static void set_events(struct weft_abi_slot *slot)
{
	uint32_t high = (uint32_t)(weft__load(&slot->moment) >> 32);
	bool is_stale = high != weft__load(&slot->base_high);
	weft__signal_fence();
	weft__store(&slot->moment_events, is_stale ? WEFT__MOMENT_STALE : 0);
}

WEFT__EXPORT void weft_moment_begin(void)
{
	struct weft__self *self = weft__looked();
	struct weft_abi_slot *slot = self ? self->slot : NULL;
	if (!slot)
		return;
	uint32_t sequence = weft__load(&slot->sequence);
	bool is_in_moment = weft__load(&slot->is_in_moment);
	/* A handler, in the middle of an event: that one's stamp must stay. */
	if (is_in_moment ? weft__load(&slot->moment_events) & 1 : sequence & 1)
		return;
	weft__store(&slot->moment_events, WEFT__MOMENT_EVENTS | 1);
	weft__store_release(&slot->sequence, is_in_moment ? sequence + 2 : sequence + 1);
	weft__signal_fence();
	take_stamp(slot);
	weft__store(&slot->is_in_moment, 1);
	self->ticket |= WEFT__IN_MOMENT;
	set_events(slot);
}

WEFT__EXPORT void weft_moment_end(void)
{
	struct weft__self *self = weft__self();
	if (weft__entered_generation(self) != weft__generation())
		return;
	struct weft_abi_slot *slot = self->slot;
	uint32_t events = weft__load(&slot->moment_events);
	/* A handler in the middle of an event does not end it. */
	if (!weft__load(&slot->is_in_moment) || events & 1)
		return;
	/* Nor in the middle of this; but it may have until now. */
	weft__store(&slot->moment_events, events | 1);
	weft__signal_fence();
	if (!weft__load(&slot->is_in_moment))
		return;
	self->ticket = weft__entered_generation(self);
	weft__store(&slot->is_in_moment, 0);
	weft__store_release(&slot->sequence, weft__load(&slot->sequence) + 1);
}
