/* SPDX-License-Identifier: ISC
 *
 * An event with text or values, put together on the stack before there is a place for it.
 *
 * Strings are read here and not in the packet: a bad pointer, or a siglongjmp out of its fault,
 * then leaves nothing behind.
 */
#ifndef WEFT_RECORD_COMPOSE_H
#define WEFT_RECORD_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/buffer_abi.h"
#include "abi/event_abi.h"

/* The length of the text, or `most` if it is longer. */
static inline uint32_t weft__measure(const char *text, uint32_t most)
{
	uint32_t size = 0;
	while (size < most && text[size])
		size++;
	return size;
}

struct weft__draft {
	uint32_t count; /* words, the head included */
	uint64_t words[WEFT_ABI_WORDS_MAX];
};

/* The head, and the acting task unless it is the current one. */
void weft__draft_begin(struct weft__draft *draft, unsigned kind, uint64_t task);

static inline void weft__draft_word(struct weft__draft *draft, uint64_t word)
{
	draft->words[draft->count++] = word;
}

/* The name's id in the head or, if it is 0, the text up to the event's end. */
void weft__draft_name(struct weft__draft *draft, uint16_t name, const char *text);

/* Text with its length before it. Long text is cut, so that `following` more values get their share
 * of the room. */
void weft__draft_text(struct weft__draft *draft, const char *text, uint32_t following);

/* The same of `size` bytes, which may hold NULs; false if they don't fit. */
bool weft__draft_bytes(struct weft__draft *draft, const char *bytes, uint32_t size);

/* Records it in the slot that the thread has entered: its names are of that buffer. */
void weft__draft_put_in(struct weft_abi_slot *slot, struct weft__draft *draft);

#endif
