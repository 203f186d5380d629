/* SPDX-License-Identifier: ISC
 *
 * Followers that want to be woken.
 */
#ifndef WEFT_RECORD_WAKE_H
#define WEFT_RECORD_WAKE_H

#include "record/recorder.h"

/* Somebody wants to be woken. */
void weft__wake(struct weft_abi_buffer *header, uint32_t wanted);

/* After a packet was closed. Nearly always nobody waits: then it is one load. It may miss a
 * follower that registers at this moment; they all look again in 20 ms. */
static inline void weft__wake_followers(struct weft_abi_buffer *header)
{
	uint32_t wanted = weft__load(&header->waiters);
	if (WEFT__UNLIKELY(wanted))
		weft__wake(header, wanted);
}

#endif
