/* SPDX-License-Identifier: ISC
 *
 * Encodes one event as the words of a packet: the inverse of decoding abi/event_abi.h.
 */
#ifndef WEFT_EXPORT_CUT_ENCODE_H
#define WEFT_EXPORT_CUT_ENCODE_H

#include "export/cut_clock.h"
#include "export/cut_packets.h"

/* Encodes an event. `*task` is the current task of the event's thread; it becomes what a reader of
 * the record takes as current. Texts that do not fit into a record are written as chunks through
 * `names`. 0 or an error. */
int weft__export_cut_encode(const struct weft_event *event,
	const struct weft_trace_description *trace, struct weft__cut_names *names, weft_task_id *task,
	struct weft__cut_words *ret_words);

#endif
