/* SPDX-License-Identifier: ISC
 *
 * One event as the words of a packet: abi/event_abi.h, the other way round.
 */
#ifndef WEFT_EXPORT_CUT_ENCODE_H
#define WEFT_EXPORT_CUT_ENCODE_H

#include "export/cut_packets.h"

/* `task` is the thread's current one, and changes as a reader's does. Writes texts that no event
 * can hold. 0 or an error. */
int weft__cut_encode(const struct weft_event *event, struct weft__cut_names *names, uint64_t *task,
	struct weft__cut_words *ret_words);

#endif
