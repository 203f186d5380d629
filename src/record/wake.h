/* SPDX-License-Identifier: ISC
 *
 * Waking followers.
 */
#ifndef WEFT_RECORD_WAKE_H
#define WEFT_RECORD_WAKE_H

#include "record/recorder.h"

/* Wakes followers if `wanted` claims were made. */
void weft__record_wake(struct weft_abi_buffer *header, uint32_t wanted);

/* Call after closing a packet. Usually there is no waiter: then it is one load. It may miss a
 * follower that registers at the same time; followers poll every 20 ms anyway. */
static inline void weft__record_wake_followers(struct weft_abi_buffer *header)
{
	uint32_t wanted = weft__load(&header->waiters);
	if (WEFT__UNLIKELY(wanted))
		weft__record_wake(header, wanted);
}

#endif
