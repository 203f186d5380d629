/* SPDX-License-Identifier: ISC
 *
 * Composes an event word by word.
 */
#include "record/compose.h"

#include <string.h>

#include "record/reserve.h"

static const char ellipsis[3] = "\xe2\x80\xa6"; /* U+2026 */

void weft__draft_begin(struct weft__draft *draft, unsigned kind, uint64_t task)
{
	bool explicit = task != WEFT_TASK_CURRENT;
	draft->words[0] = WEFT_ABI_HEAD(kind | (explicit ? WEFT_ABI_EXPLICIT : 0), 0, 0);
	draft->words[1] = task;
	draft->count = 1 + explicit;
}

static uint32_t words_of(uint32_t bytes)
{
	return (bytes + 7) / 8;
}

/* Copies what fits into `room_words` words, padded. Text that doesn't fit ends with an ellipsis,
 * after a whole character. Returns the bytes. */
static uint32_t copy_text(
	struct weft__draft *draft, const char *text, uint32_t most, uint32_t room_words)
{
	uint32_t room = room_words * 8;
	uint32_t size = weft__measure(text, most < room + 1 ? most : room + 1), kept = size;
	char *to = (char *)&draft->words[draft->count];
	if (size > room) {
		kept = room - (uint32_t)sizeof(ellipsis);
		while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
			kept--;
		size = kept + (uint32_t)sizeof(ellipsis);
	}
	if (size == 0)
		return 0;
	draft->words[draft->count + words_of(size) - 1] = 0;
	memcpy(to, text, kept);
	if (size > kept)
		memcpy(to + kept, ellipsis, sizeof(ellipsis));
	draft->count += words_of(size);
	return size;
}

void weft__draft_name(struct weft__draft *draft, uint16_t name, const char *text, uint32_t size)
{
	draft->words[0] |= (uint64_t)name << 48;
	if (!name)
		copy_text(draft, text ? text : "", size, WEFT_ABI_WORDS_MAX - draft->count);
}

void weft__draft_text(
	struct weft__draft *draft, const char *text, uint32_t size, uint32_t following)
{
	uint32_t length_at = draft->count++;
	uint32_t room = (WEFT_ABI_WORDS_MAX - draft->count - following) / (following + 1);
	draft->words[length_at] = copy_text(draft, text ? text : "(null)", size, room);
}

bool weft__draft_bytes(struct weft__draft *draft, const char *bytes, uint32_t size)
{
	uint32_t words = words_of(size);
	if (draft->count + 1 + words > WEFT_ABI_WORDS_MAX)
		return false;
	draft->words[draft->count++] = size;
	if (words)
		draft->words[draft->count + words - 1] = 0;
	memcpy(&draft->words[draft->count], bytes, size);
	draft->count += words;
	return true;
}

void weft__draft_put_in(struct weft_abi_slot *slot, struct weft__draft *draft)
{
	struct weft__room room;
	if (WEFT__UNLIKELY(!weft__try_reserve_in(slot, draft->count, &room))) {
		room = weft__reserve_in(slot, draft->count);
		if (!room.slot)
			return;
	}
	weft__store_head(&room, draft->words[0] | (uint64_t)draft->count << 40);
	for (uint32_t i = 1; i < draft->count; i++)
		weft__store(&room.at[i], draft->words[i]);
	weft__commit(&room, draft->count);
}
