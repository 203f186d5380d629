/* SPDX-License-Identifier: ISC
 *
 * A follower that has read everything says in the header's `waiters` how many claims there shall
 * have been when it is woken: a reader that wants much at once lets the program alone until then.
 * Who gets there first takes the word back and calls the system, so that a follower costs one call
 * for each time that it sleeps, however many threads record.
 */
#include "record/wake.h"

#include "record/atomics.h"

WEFT__COLD void weft__wake(struct weft_abi_buffer *header, uint32_t wanted)
{
	const struct weft_platform *platform = weft__platform();
	if ((int32_t)((uint32_t)weft__load(&header->hand) - wanted) < 0)
		return;
	if (!weft__compare_exchange(&header->waiters, wanted, 0))
		return;
	if (platform && platform->wake)
		platform->wake(platform->context, &header->waiters);
}
