/* SPDX-License-Identifier: ISC
 *
 * Finds where one event ends and the next begins, and applies the records between events.
 */
#include "format/weft/cursor.h"

#include "base/little_endian.h"

/* Reads the head at the cursor. False if the event is incomplete. */
static bool read_head(const struct weft__cursor *c, struct weft__record_words *ret_words)
{
	uint32_t left = c->end - c->offset;
	uint64_t head;
	if (left < sizeof(head))
		return false;
	head = weft__load_u64(c->at);
	/* Keeps the compiler from loading the head again where this memory is shared. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ret_words->at = c->at;
	ret_words->count = weft__abi_head_words(head);
	ret_words->kind = weft__abi_head_kind(head);
	ret_words->small = weft__abi_head_small(head);
	ret_words->ticks = c->base_ticks + weft__abi_head_ticks(head);
	ret_words->is_explicit = weft__abi_head_is_explicit(head);
	return ret_words->count > 0 && ret_words->count <= left / sizeof(head);
}

/* Applies a record to the cursor. False if the words are not a valid record. */
static bool take_record(struct weft__cursor *c, const struct weft__record_words *w)
{
	if (w->kind == WEFT_ABI_TIME && w->count >= 2) {
		c->base_ticks = weft__load_u64(w->at + 8);
	} else if (w->kind == WEFT_ABI_TEXT && w->count >= 2) {
		c->has_text = true;
		c->text_number = weft__load_u64(w->at + 8);
	} else if (w->kind == WEFT_ABI_RUNDOWN) {
		c->is_rundown = true;
	} else {
		return false;
	}
	return true;
}

/* Attaches the records before the event to it; they do not apply to later events. */
static enum weft__found give_event(struct weft__cursor *c, struct weft__record_words *w)
{
	w->is_rundown = c->is_rundown;
	w->has_text = c->has_text;
	w->text_number = c->text_number;
	w->text = (struct weft_slice){NULL, 0};
	c->is_rundown = c->has_text = false;
	return WEFT__FOUND_EVENT;
}

enum weft__found weft__format_cursor_next(
	struct weft__cursor *c, struct weft__record_words *ret_words)
{
	while (c->offset < c->end) {
		if (!read_head(c, ret_words))
			return WEFT__FOUND_DAMAGE;
		c->at += ret_words->count * sizeof(uint64_t);
		c->offset += ret_words->count * (uint32_t)sizeof(uint64_t);
		ret_words->is_counted = weft__abi_is_event(ret_words->kind);
		if (ret_words->is_counted || weft__abi_is_total(ret_words->kind))
			return give_event(c, ret_words);
		if (ret_words->kind == WEFT_ABI_THREAD && ret_words->count >= WEFT_ABI_THREAD_WORDS)
			return WEFT__FOUND_THREAD;
		if (!take_record(c, ret_words))
			return give_event(c, ret_words); /* a record that is too short: the caller rejects it */
	}
	return WEFT__FOUND_END;
}

struct weft__thread weft__format_record_words_thread(const struct weft__record_words *w)
{
	uint64_t identity = weft__load_u64(w->at + 8);
	bool has_name = w->count >= WEFT_ABI_THREAD_WORDS + WEFT_ABI_NAME_BYTES / 8;
	return (struct weft__thread){
		.number = (uint32_t)(identity >> 32),
		.tid = (uint32_t)identity,
		.name = has_name ? w->at + 16 : NULL,
	};
}

uint64_t weft__format_cursor_count(struct weft__cursor c)
{
	struct weft__record_words words;
	enum weft__found found;
	uint64_t count = 0;
	while ((found = weft__format_cursor_next(&c, &words)) <= WEFT__FOUND_THREAD)
		count += found == WEFT__FOUND_EVENT && words.is_counted;
	return count;
}
