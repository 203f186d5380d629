/* SPDX-License-Identifier: ISC
 *
 * One event of a packet: from the words of abi/event_abi.h to a struct weft_event.
 */
#ifndef WEFT_FORMAT_WEFT_EVENT_H
#define WEFT_FORMAT_WEFT_EVENT_H

#include <weft/text.h>

#include "abi/event_abi.h"
#include "format/weft_buffer.h"

/* Words of an event that have been found to lie in the packet's committed part. */
struct weft__words {
	const uint8_t *at; /* the head */
	unsigned count;    /* with the head */
	unsigned kind;     /* enum weft_abi_event */
	unsigned small;
	uint32_t ticks;
	bool is_explicit;
	/* From records before the event; the caller sets them. */
	bool is_rundown;
	struct weft_slice text; /* in place of the event's own; NULL: none */
};

/* Where a decoded event's variable parts live until the next one. */
struct weft__event_scratch {
	struct weft_field fields[WEFT_ABI_VALUES_MAX];
	struct weft_text text; /* of a notef */
};

/* The event at `at`, of which `size` bytes are committed. False if it isn't whole. */
bool weft__words_read(const uint8_t *at, size_t size, struct weft__words *ret_words);

/* Turns words into an event; `task` is the thread's current one, and changes as the recorder's did.
 * NULL, or what is wrong: the event is then to be skipped. Kinds that exist on the wire only are
 * none of its business, but for tag_value, counter_set and notef. */
const char *weft__event_decode(const struct weft__buffer *buffer, const struct weft__words *words,
	uint64_t *task, struct weft__event_scratch *scratch, struct weft_event *event);

/* Appends what printf would make of the format and the values; bounded, whatever they are. */
void weft__notef_format(struct weft_text *text, struct weft_slice format,
	const struct weft_field *values, unsigned count);

#endif
