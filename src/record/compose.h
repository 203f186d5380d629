/* SPDX-License-Identifier: ISC
 *
 * Composes an event with text or values before it gets room in a packet.
 *
 * A draft has the event's numbers and where its texts are, so it is small: a hook may run on a
 * signal handler's little stack. A text is measured here, and copied once, into the packet. If its
 * pointer is invalid, then measuring it faults, and a siglongjmp out of the fault's handler leaves
 * nothing behind. If another thread changes the text meanwhile, the event has a mixture of its
 * bytes.
 */
#ifndef WEFT_RECORD_COMPOSE_H
#define WEFT_RECORD_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/buffer_abi.h"
#include "abi/event_abi.h"
#include "abi/name_abi.h"

/* The size of a text that only its NUL ends. */
#define WEFT__C_STRING UINT32_MAX

/* The size of a text as a caller of another language or of weft_label_n passes it. */
static inline uint32_t weft__record_bounded(size_t size)
{
	return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* The length of the text, at most `most`. */
static inline uint32_t weft__record_measure(const char *text, uint32_t most)
{
	uint32_t size = 0;
	while (size < most && text[size])
		size++;
	return size;
}

/* The length of a name; more than the maximum if it is too long. */
static inline uint32_t weft__record_measure_name(const char *text, uint32_t size)
{
	return weft__record_measure(
		text, size <= WEFT_ABI_NAME_MAX_BYTES ? size : WEFT_ABI_NAME_MAX_BYTES + 1);
}

/* Bytes of an event, padded with zeros to whole words. */
struct weft__draft_piece {
	const char *bytes;
	uint32_t kept;   /* of the bytes; an ellipsis follows if the text was cut */
	uint16_t size;   /* with the ellipsis */
	uint16_t before; /* of the draft's words, those that come before it */
};

struct weft__draft {
	uint32_t count; /* words of the event, including the head */
	uint16_t words_used, pieces_used;
	uint64_t *words;
	struct weft__draft_piece *pieces;
};

/* Declares a draft with room for so many words and pieces. */
#define WEFT__DRAFT(draft, words_max, pieces_max)        \
	uint64_t draft##_words[words_max];                   \
	struct weft__draft_piece draft##_pieces[pieces_max]; \
	struct weft__draft draft = {0, 0, 0, draft##_words, draft##_pieces}

/* Begins an event: the head, and the acting task unless it is the current one. */
void weft__record_draft_begin(struct weft__draft *draft, unsigned kind, uint64_t task);

static inline void weft__record_draft_word(struct weft__draft *draft, uint64_t word)
{
	draft->words[draft->words_used++] = word;
	draft->count++;
}

/* Sets the name's id in the head or, if it is 0, appends the text up to the event's end. `size`:
 * the most bytes that are read of the text, as in all functions that take a text. */
void weft__record_draft_name(
	struct weft__draft *draft, uint16_t name, const char *text, uint32_t size);

/* Appends a text with its length before it. Long text is cut so that `following` more values fit.
 */
void weft__record_draft_text(
	struct weft__draft *draft, const char *text, uint32_t size, uint32_t following);

/* The same for `size` bytes, which may contain NULs; false if they don't fit. */
bool weft__record_draft_bytes(struct weft__draft *draft, const char *bytes, uint32_t size);

/* Records the event in the slot that the thread has entered, because its names belong to that
 * buffer. */
void weft__record_draft_put_in(struct weft_abi_slot *slot, const struct weft__draft *draft);

#endif
