/* SPDX-License-Identifier: ISC
 *
 * An event in a packet: 64-bit words, the first of which is
 *
 *     63        48 47      40 39 38       32 31                             0
 *     ┌───────────┬──────────┬──┬───────────┬───────────────────────────────┐
 *     │   small   │  words   │ X│   kind    │  ticks since the packet's base │
 *     └───────────┴──────────┴──┴───────────┴───────────────────────────────┘
 *
 * words counts the whole event, so that a reader steps over a kind it doesn't know. X: the second
 * word is the actor; otherwise the actor is the thread's current task. Then follow, by kind:
 *
 *     create       child                  small: the task's kind
 *     read         source                 small: 1 if later
 *     try_read     source
 *     resolve      target
 *     fail         target text            small: name of the message, or 0
 *     become       target
 *     label, note  text                   small: name, or 0
 *     tag          text                   small: name, or 0
 *     mark         types [text] values    small: name of the shape, or 0
 *     band         kind | begin << 8 text small: name of the reason, or 0
 *     counter      change                 small: name
 *     switch       task
 *     signal       receiver               small: 1 if it switches. The actor is the sender
 *     gc           nanoseconds
 *     expect
 *     alive        age source name text   small: the task's kind. age: ns, or -1 if it is unknown;
 *                                         source: what the task waits for, or -1; name: of its
 *                                         label, or 0
 *
 * and the kinds that exist on the wire only, from 96 on:
 *
 *     time         ticks (64 bits)        the new base of the stamps that follow
 *     thread       thread << 32 | tid [name]  whose the next events are. The name has 2 words, and
 * is left out if it is the packet's tag_value    value text             small: name, or 0
 *     counter_set  value                  small: name
 *     notef        types [text] values    small: name of the format, or 0
 *     text         number                 the text of the next event, in place of any of its own
 *     rundown                             the next event tells what was so, not what happened
 *
 * A name is an entry of the buffer's table (name_abi.h); where small is 0, the text itself follows:
 * to the event's end, padded with NULs to a word. Inside mark and notef, text is a word with its
 * length in bytes, then the bytes, padded; a long text is the number of one in the stream
 * (stream_abi.h), as in the record `text`. types: the number of values in bits 0-3, then four bits
 * a value (enum weft_abi_value). A shape is the mark's name and its fields' names, each ended by a
 * NUL but the last. Values take a word each; text as said.
 *
 * Kind 0 is no event, so that zeroed memory is not one.
 */
#ifndef WEFT_ABI_EVENT_H
#define WEFT_ABI_EVENT_H

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
};

#define WEFT_ABI_EXPLICIT     0x80u /* in the byte of the kind */
#define WEFT_ABI_WORDS_MAX    255u
#define WEFT_ABI_THREAD_WORDS 2u /* and those of the name */

enum weft_abi_value {
	WEFT_ABI_VALUE_I64 = 1,
	WEFT_ABI_VALUE_U64 = 2,
	WEFT_ABI_VALUE_F64 = 3, /* IEEE 754 */
	WEFT_ABI_VALUE_TEXT = 4,
	WEFT_ABI_VALUE_POINTER = 5,
	WEFT_ABI_VALUE_LONG_TEXT = 6,
};

#define WEFT_ABI_VALUES_MAX 15u

#define WEFT_ABI_HEAD(kind, words, small) \
	((uint64_t)(kind) << 32 | (uint64_t)(words) << 40 | (uint64_t)(small) << 48)

#endif
