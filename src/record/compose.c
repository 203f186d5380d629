/* SPDX-License-Identifier: ISC
 *
 * Composes an event word by word.
 */
#include "record/compose.h"

#include <string.h>

#include "record/reserve.h"

static const char ellipsis[3] = "\xe2\x80\xa6"; /* U+2026 */

void weft__record_draft_begin(struct weft__draft *draft, unsigned kind, uint64_t task)
{
	bool explicit = task != WEFT_TASK_CURRENT;
	weft__record_draft_word(draft, WEFT_ABI_HEAD(kind | (explicit ? WEFT_ABI_EXPLICIT : 0), 0, 0));
	if (explicit)
		weft__record_draft_word(draft, task);
}

static uint32_t words_of(uint32_t bytes)
{
	return (bytes + 7) / 8;
}

static void add_piece(struct weft__draft *draft, const char *bytes, uint32_t kept, uint32_t size)
{
	if (size == 0)
		return;
	draft->pieces[draft->pieces_used++] =
		(struct weft__draft_piece){bytes, kept, (uint16_t)size, draft->words_used};
	draft->count += words_of(size);
}

/* Adds what fits into `room_words` words. Text that doesn't fit ends with an ellipsis, after a
 * whole character. Returns the bytes. */
static uint32_t add_text(
	struct weft__draft *draft, const char *text, uint32_t most, uint32_t room_words)
{
	uint32_t room = room_words * 8;
	uint32_t size = weft__record_measure(text, most < room + 1 ? most : room + 1), kept = size;
	if (size > room) {
		kept = room - (uint32_t)sizeof(ellipsis);
		while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
			kept--;
		size = kept + (uint32_t)sizeof(ellipsis);
	}
	add_piece(draft, text, kept, size);
	return size;
}

void weft__record_draft_name(
	struct weft__draft *draft, uint16_t name, const char *text, uint32_t size)
{
	draft->words[0] |= (uint64_t)name << 48;
	if (!name)
		add_text(draft, text ? text : "", size, WEFT_ABI_WORDS_MAX - draft->count);
}

void weft__record_draft_text(
	struct weft__draft *draft, const char *text, uint32_t size, uint32_t following)
{
	uint64_t *length = &draft->words[draft->words_used];
	weft__record_draft_word(draft, 0);
	uint32_t room = (WEFT_ABI_WORDS_MAX - draft->count - following) / (following + 1);
	*length = add_text(draft, text ? text : "(null)", size, room);
}

bool weft__record_draft_bytes(struct weft__draft *draft, const char *bytes, uint32_t size)
{
	if (draft->count + 1 + words_of(size) > WEFT_ABI_WORDS_MAX)
		return false;
	weft__record_draft_word(draft, size);
	add_piece(draft, bytes, size, size);
	return true;
}

/* The 8 bytes of the piece that begin at `from`: text, ellipsis, zeros. */
static uint64_t word_of(const struct weft__draft_piece *piece, uint32_t from)
{
	char bytes[8] = {0};
	uint64_t word;
	if (from + 8 <= piece->kept) {
		memcpy(&word, piece->bytes + from, 8);
		return word;
	}
	for (uint32_t i = 0; i < 8 && from + i < piece->size; i++)
		bytes[i] =
			from + i < piece->kept ? piece->bytes[from + i] : ellipsis[from + i - piece->kept];
	memcpy(&word, bytes, 8);
	return word;
}

static uint64_t *store_piece(uint64_t *to, const struct weft__draft_piece *piece)
{
	for (uint32_t from = 0; from < piece->size; from += 8)
		weft__store(to++, word_of(piece, from));
	return to;
}

/* Stores all words but the first. */
static void store_rest(uint64_t *to, const struct weft__draft *draft)
{
	unsigned at = 1;
	for (unsigned i = 0; i < draft->pieces_used; i++) {
		for (; at < draft->pieces[i].before; at++)
			weft__store(to++, draft->words[at]);
		to = store_piece(to, &draft->pieces[i]);
	}
	for (; at < draft->words_used; at++)
		weft__store(to++, draft->words[at]);
}

static void put_at(const struct weft__room *room, const struct weft__draft *draft)
{
	weft__record_store_head(room, draft->words[0] | (uint64_t)draft->count << 40);
	store_rest(&room->at[1], draft);
	weft__record_commit(room, draft->count);
}

/* Its frame is part of the longest path of calls, so nothing else is inlined here. */
static WEFT__COLD void put_in_new_room(struct weft_abi_slot *slot, const struct weft__draft *draft)
{
	struct weft__room room;
	if (weft__record_reserve_slowly(slot, draft->count, &room))
		put_at(&room, draft);
}

void weft__record_draft_put_in(struct weft_abi_slot *slot, const struct weft__draft *draft)
{
	struct weft__room room;
	if (WEFT__LIKELY(weft__record_try_reserve_in(slot, draft->count, &room)) ||
		weft__record_try_reserve_again(slot, draft->count, &room))
		put_at(&room, draft);
	else
		put_in_new_room(slot, draft);
}
