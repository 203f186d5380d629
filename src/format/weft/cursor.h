/* SPDX-License-Identifier: ISC
 *
 * A cursor over the words of a packet: the only code that knows how events and records follow each
 * other. All readers of packets use it.
 *
 * The words may be in memory that another process is writing: each head and each record is loaded
 * once. The operands of an event are safe to use only in a copy.
 */
#ifndef WEFT_FORMAT_WEFT_CURSOR_H
#define WEFT_FORMAT_WEFT_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/event.h>

#include "abi/event_abi.h"
#include "abi/packet_abi.h"
#include "base/little_endian.h"

/* An event's words, all of which lie in the packet's committed part. */
struct weft__record_words {
	const uint8_t *at; /* the head */
	unsigned count;    /* with the head */
	unsigned kind;     /* enum weft_abi_event */
	unsigned small;
	uint64_t ticks; /* on the buffer's clock */
	bool is_explicit;
	bool is_counted; /* it is an event; else a total, which is given like one */
	/* From records before the event. */
	bool is_rundown;
	bool has_text;          /* the event's text is a text of the stream */
	uint64_t text_number;   /* its number, for weft__format_stream_text() */
	struct weft_slice text; /* set by the caller, which looks it up; NULL: none */
};

/* A thread, as a packet's header or a thread record names it. */
struct weft__thread {
	uint32_t number, tid;
	const uint8_t *name; /* WEFT_ABI_NAME_BYTES, in the packet; NULL: as in the packet's header */
};

struct weft__cursor {
	const uint8_t *at; /* the next word */
	uint32_t offset;   /* of `at` in the packet */
	uint32_t end;      /* offset of the words' end in the packet */
	uint64_t base_ticks;
	bool is_rundown, has_text; /* of the next event */
	uint64_t text_number;
};

enum weft__found {
	WEFT__FOUND_EVENT,
	WEFT__FOUND_THREAD, /* another thread wrote the events from here on */
	WEFT__FOUND_END,
	WEFT__FOUND_DAMAGE, /* an event extends past the end; the cursor stays before it */
};

/* Moves past the next event or thread record and returns its words. Other records on the way are
 * applied to the cursor. */
enum weft__found weft__format_cursor_next(
	struct weft__cursor *cursor, struct weft__record_words *ret_words);

/* The same if an event is next, without a record before it: the most frequent case, inlined. False:
 * another case, and the cursor has not moved. */
static inline bool weft__format_cursor_next_event(
	struct weft__cursor *c, struct weft__record_words *ret_words)
{
	const uint32_t left = c->end - c->offset;
	if (left < sizeof(uint64_t) || c->is_rundown || c->has_text)
		return false;
	const uint64_t head = weft__load_u64(c->at);
	/* Keeps the compiler from loading the head again where this memory is shared. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	const unsigned count = weft__abi_head_words(head), kind = weft__abi_head_kind(head);
	if (!count || count > left / sizeof(head) || !weft__abi_is_event(kind))
		return false;
	ret_words->at = c->at;
	ret_words->count = count;
	ret_words->kind = kind;
	ret_words->small = weft__abi_head_small(head);
	ret_words->ticks = c->base_ticks + weft__abi_head_ticks(head);
	ret_words->is_explicit = weft__abi_head_is_explicit(head);
	ret_words->is_counted = true;
	ret_words->is_rundown = ret_words->has_text = false;
	ret_words->text.bytes = NULL;
	c->at += count * sizeof(head);
	c->offset += count * (uint32_t)sizeof(head);
	return true;
}

/* Moves back before the event whose words were returned last. */
static inline void weft__format_cursor_back(
	struct weft__cursor *c, const struct weft__record_words *words)
{
	c->at -= words->count * sizeof(uint64_t);
	c->offset -= words->count * (uint32_t)sizeof(uint64_t);
}

/* The thread that a thread record names. */
struct weft__thread weft__format_record_words_thread(const struct weft__record_words *words);

/* Counts the events from the cursor to the end, or to the first damage. */
uint64_t weft__format_cursor_count(struct weft__cursor cursor);

/* A cursor at a packet's first event, whose words begin at `first`. */
static inline struct weft__cursor weft__format_cursor_begin(
	const uint8_t *first, uint64_t base_ticks, uint32_t end)
{
	return (struct weft__cursor){.at = first,
		.offset = sizeof(struct weft_abi_packet),
		.end = end,
		.base_ticks = base_ticks};
}

#endif
