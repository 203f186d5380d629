/* SPDX-License-Identifier: ISC
 *
 * One event of a packet: from the words of abi/event_abi.h to a struct weft_event.
 */
#ifndef WEFT_FORMAT_WEFT_EVENT_H
#define WEFT_FORMAT_WEFT_EVENT_H

#include <weft/text.h>

#include "abi/event_abi.h"
#include "format/weft/buffer.h"
#include "format/weft/cursor.h"

/* Memory for the fields and the text of a decoded event, until the next one is decoded. */
struct weft__event_scratch {
	struct weft_field fields[WEFT_ABI_VALUES_MAX];
	struct weft_text text; /* of a labelf or notef */
	char digits[4][16];    /* of a context's ids */
};

/* The text in the last words of an event, without its padding. */
static inline struct weft_slice weft__format_event_rest(const uint8_t *at, unsigned words)
{
	struct weft_slice text = {(const char *)at, words * sizeof(uint64_t)};
	while (text.size > 0 && text.bytes[text.size - 1] == 0)
		text.size--;
	return text;
}

/* Decodes words, which must be in a copy, into an event that the caller has zeroed. `task` is the
 * thread's current task; the event changes it as it did in the recorder. Returns NULL, or a
 * description of the damage: the caller then skips the event. */
const char *weft__format_event_decode(const struct weft__buffer *buffer,
	const struct weft__record_words *words, weft_task_id *task, struct weft__event_scratch *scratch,
	struct weft_event *event);

/* Appends the values as printf would format them. The text is bounded for any format and values. */
void weft__format_notef_format(struct weft_text *text, struct weft_slice format,
	const struct weft_field *values, unsigned count);

#endif
