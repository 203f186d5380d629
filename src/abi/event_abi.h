/* SPDX-License-Identifier: ISC
 *
 * The records in a packet: an event, or one of the kinds that only the format needs. */

/* clang-format off */
/* A record is 64-bit words, the first of which is its head:
 *
 *     63        48 47      40 39 38       32 31                             0
 *     ┌───────────┬──────────┬──┬───────────┬───────────────────────────────┐
 *     │   small   │  words   │ X│   kind    │ ticks since the packet's base │
 *     └───────────┴──────────┴──┴───────────┴───────────────────────────────┘
 *
 * `words` is the length of the whole record, head included, so that a reader can step over a kind
 * that it doesn't know. X: the second word is the actor; otherwise the actor is the thread's
 * current task. The operands follow, by kind:
 *
 *     kind         operands               small
 *     create       child [category]       the task's kind. category: the name of the task's category;
 *                                         left out or 0 for "program", or if the kind's name has it
 *     read         source                 1 if later
 *     try_read     source
 *     resolve      target
 *     fail         target text            name of the message, or 0
 *     become       target
 *     label, note  text                   name, or 0
 *     tag          text                   name, or 0
 *     tag_value    value text             name, or 0
 *     mark         types [text] values    name of the shape, or 0
 *     notef        types [text] values    name of the format, or 0
 *     labelf       as notef
 *     band         kind | begin << 8 text name of the reason, or 0
 *     counter      change                 name
 *     counter_set  value                  name
 *     counter_f64, counter_set_f64        as counter and counter_set; the operand is a double
 *     switch       task
 *     signal       receiver               1 if it switches. The actor is the sender
 *     gc           nanoseconds
 *     expect
 *     alive        age source name text   the task's kind. age: ns, or -1 if unknown; source: the
 *                                         task that it waits for, or -1; name: of its label, or 0,
 *                                         | the name of its category, or 0, << 16
 *     cancel       target
 *     close        target
 *     time_out     target
 *     begin        text                   name, or 0
 *     end
 *     span         track begin end [ticks now] text
 *                                         name, or 0; see below
 *     wait_any     source                 one record for each source, with one stamp
 *     acquire      resource
 *     release      resource
 *     off_cpu      nanoseconds
 *     send         key
 *     receive      key
 *     total        value                  name; not counted as an event
 *     total_f64    as total; the operand is a double
 *     stack                               name: where in the code the task is (name_abi.h)
 *     context      trace (2 words) span flags [parent [state]]
 *                                         1 if of the span that began last, not of the task. Read as
 *                                         a mark. The trace id's first half is in its first word
 *
 * These kinds exist only in the format:
 *
 *     time         ticks (64 bits)        the new base of the stamps that follow
 *     thread       thread << 32 | tid, [name]
 *                                         the thread of the records that follow. The name takes 2
 *                                         words, and is left out if it equals the packet's
 *     text         number                 the next event's text, in a chunk of its own (stream_abi.h)
 *     rundown                             the next event describes a state, not something that happened
 *
 * A name is an entry of the buffer's table of names (name_abi.h). Where `small` is 0, the text
 * itself follows: up to the record's end, padded with NULs to a word. Inside mark, labelf and
 * notef, a text is a word with its length in bytes, then the bytes, padded; a long text is the
 * number of a text chunk of the stream (stream_abi.h). `types` has the number of values in bits 0-3, then four bits
 * for each value's type (enum weft_abi_value). A shape is the mark's name and the names of its
 * fields, separated by NULs. All other values take a word each.
 *
 * The first operand of a span is its track:
 *
 *     63   57  56  55        48 47        32 31        24 23                    0
 *     ┌──────┬────┬────────────┬────────────┬────────────┬──────────────────────┐
 *     │  0   │ P  │   clock    │    name    │     0      │        number        │
 *     └──────┴────┴────────────┴────────────┴────────────┴──────────────────────┘
 *
 * The name is that of the track. The number identifies it in this buffer: in a ring it equals the
 * name, and a cut keeps it. With P, begin and end are ns of that clock, which showed `now` when the
 * buffer's clock showed `ticks`. Otherwise begin and end are ticks, and those two words are absent.
 *
 * Kind 0 is invalid, so zeroed memory holds no record. */
/* clang-format on */
#ifndef WEFT_ABI_EVENT_H
#define WEFT_ABI_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum weft_abi_event {
#define EVENT(number, id, name, fields) WEFT_ABI_##id = number,
#include <weft/events.def>
#undef EVENT
	WEFT_ABI_TIME = 96,
	WEFT_ABI_THREAD = 97,
	WEFT_ABI_TAG_VALUE = 98,
	WEFT_ABI_COUNTER_SET = 99,
	WEFT_ABI_NOTEF = 100,
	WEFT_ABI_TEXT = 101,
	WEFT_ABI_RUNDOWN = 102,
	WEFT_ABI_COUNTER_F64 = 103,
	WEFT_ABI_COUNTER_SET_F64 = 104,
	WEFT_ABI_LABELF = 105,
	WEFT_ABI_TOTAL_F64 = 106,
	WEFT_ABI_CONTEXT = 107,
};

#define WEFT_ABI_EXPLICIT      0x80u /* the X bit, in the byte of the kind */
#define WEFT_ABI_WORDS_MAX     255u
#define WEFT_ABI_THREAD_WORDS  2u /* without the words of the name */
#define WEFT_ABI_CONTEXT_WORDS 5u /* without actor, parent and state */

enum weft_abi_value {
	WEFT_ABI_VALUE_I64 = 1,
	WEFT_ABI_VALUE_U64 = 2,
	WEFT_ABI_VALUE_F64 = 3, /* IEEE 754 */
	WEFT_ABI_VALUE_TEXT = 4,
	WEFT_ABI_VALUE_POINTER = 5,
	WEFT_ABI_VALUE_LONG_TEXT = 6,
	WEFT_ABI_VALUE_BOOL = 7, /* 0 or 1; older readers take it for U64 */
};

#define WEFT_ABI_VALUES_MAX 15u

/* The parts of a span's first operand. */
#define WEFT_ABI_TRACK(number, name, clock) \
	((uint64_t)(number) | (uint64_t)(name) << 32 | (uint64_t)(clock) << 48)
#define WEFT_ABI_TRACK_PAIR   ((uint64_t)1 << 56)
#define WEFT_ABI_TRACK_NUMBER 0xffffffu

#define WEFT_ABI_HEAD(kind, words, small) \
	((uint64_t)(kind) << 32 | (uint64_t)(words) << 40 | (uint64_t)(small) << 48)

/* The parts of a head. A caller loads the head once, because the memory may change. The recorder
 * needs only some of them; in one file with it, the others are unused. */
__attribute__((unused)) static inline uint32_t weft__abi_head_ticks(uint64_t head)
{
	return (uint32_t)head;
}

static inline unsigned weft__abi_head_kind(uint64_t head)
{
	return head >> 32 & 0x7f;
}

__attribute__((unused)) static inline bool weft__abi_head_is_explicit(uint64_t head)
{
	return head >> 39 & 1;
}

static inline unsigned weft__abi_head_words(uint64_t head)
{
	return head >> 40 & 0xff;
}

__attribute__((unused)) static inline unsigned weft__abi_head_small(uint64_t head)
{
	return (unsigned)(head >> 48);
}

/* True for what a counter's value is: it says nothing that happened, so it counts as no event. */
static inline bool weft__abi_is_total(unsigned kind)
{
	return kind == WEFT_ABI_TOTAL || kind == WEFT_ABI_TOTAL_F64;
}

/* The other kinds change how a reader understands the next events, and do not count as events.
 */
static inline bool weft__abi_is_event(unsigned kind)
{
	return !weft__abi_is_total(kind) && kind != WEFT_ABI_TIME && kind != WEFT_ABI_THREAD &&
		   kind != WEFT_ABI_TEXT && kind != WEFT_ABI_RUNDOWN;
}

#endif
