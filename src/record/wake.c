/* SPDX-License-Identifier: ISC
 *
 * Wakes followers. A follower that has read everything stores in the header's `waiters` the count
 * of claims at which it wants to be woken: a reader that wants large pieces is not woken for each
 * packet. The thread that reaches the count resets the word and makes the system call, so that a
 * follower costs one call for each time that it sleeps, however many threads record.
 */
#include "record/wake.h"

#include "record/atomics.h"

WEFT__COLD void weft__record_wake(struct weft_abi_buffer *header, uint32_t wanted)
{
	const struct weft_platform *platform = weft__record_platform();
	if (weft__record_is_quiet(header) ||
		(int32_t)((uint32_t)weft__load(&header->hand) - wanted) < 0)
		return;
	if (!weft__compare_exchange(&header->waiters, wanted, 0))
		return;
	if (platform && platform->wake)
		platform->wake(platform->context, &header->waiters);
}
