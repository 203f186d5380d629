/* SPDX-License-Identifier: ISC
 *
 * One event of a packet: from the words of abi/event_abi.h to a struct weft_event.
 */
#ifndef WEFT_FORMAT_WEFT_EVENT_H
#define WEFT_FORMAT_WEFT_EVENT_H

#include <weft/text.h>

#include "abi/event_abi.h"
#include "format/weft_buffer.h"
#include "format/weft_cursor.h"

/* Where a decoded event's variable parts live until the next one. */
struct weft__event_scratch {
	struct weft_field fields[WEFT_ABI_VALUES_MAX];
	struct weft_text text; /* of a notef */
};

/* Turns words, of a copy, into an event, which arrives zeroed; `task` is the thread's current task,
 * and changes as the recorder's did. NULL, or what is wrong: the caller then skips the event. */
const char *weft__event_decode(const struct weft__buffer *buffer, const struct weft__words *words,
	uint64_t *task, struct weft__event_scratch *scratch, struct weft_event *event);

/* Appends what printf would make of the format and the values; bounded, whatever they are. */
void weft__notef_format(struct weft_text *text, struct weft_slice format,
	const struct weft_field *values, unsigned count);

#endif
