/* SPDX-License-Identifier: ISC
 *
 * A packet: a slice of the buffer that one thread writes, readable alone.
 *
 *     0          8           12       16           128                    committed   packet_bytes
 *     ┌──────────┬───────────┬────────┬───┬────────┬───────┬───────┬─────┬───────────┬────┐
 *     │ state    │ committed │ thread │ … │ name   │ event │ event │  …  │ event     │ ?  │
 *     └──────────┴───────────┴────────┴───┴────────┴───────┴───────┴─────┴───────────┴────┘
 *
 * `state` is sequence << 2 | one of the three below. Sequences are never used twice, so a reader
 * that finds the same sequence before and after it copied, and no "opening", has copied one
 * packet's content. `committed` is stored after an event's bytes (release): what lies before it is
 * whole.
 *
 *     closed ──claim (CAS)──▶ opening ──▶ open ──▶ closed
 *
 * The thread's slot decides which thread closes an open packet: its own, or another that needs it.
 *
 * Overwritten events are counted in the packet that lost them, by single stores, so that the sum
 * over all packets is exact whenever the program is killed: `written` is set when the packet is
 * closed, copied to `before` while it is opening, and what is between `before` and now can be read.
 */
#ifndef WEFT_ABI_PACKET_H
#define WEFT_ABI_PACKET_H

#include <stddef.h>
#include <stdint.h>

enum weft_abi_packet_state {
	WEFT_ABI_PACKET_CLOSED = 0,
	WEFT_ABI_PACKET_OPENING = 1,
	WEFT_ABI_PACKET_OPEN = 2,
	WEFT_ABI_PACKET_STATE = 3, /* mask */
};

#define WEFT_ABI_NAME_BYTES 16

struct weft_abi_packet {
	uint64_t state;     /* 0: never used */
	uint32_t committed; /* bytes from the packet's start */
	uint32_t thread;    /* number of the thread; a thread record may switch to another further on */
	uint64_t base_ticks;    /* base of the first events' stamps; not later than those events */
	uint64_t reading_ticks; /* a clock reading: ticks … */
	uint64_t reading_ns;    /* … and monotonic clock; both 0: not taken */
	uint64_t task;          /* the current task when the packet was opened */
	uint64_t number;        /* events of the thread before this packet */
	uint64_t before;        /* events ever written here before the present content: overwritten */
	uint64_t written;       /* `before` and the present content; set when the packet is closed */
	uint64_t lost;          /* events that the thread had lost, not counting overwritten ones */
	uint32_t tid;
	uint32_t thread_records;        /* 0: the whole packet is by `thread` */
	char name[WEFT_ABI_NAME_BYTES]; /* of the thread, padded with NULs */
	uint64_t opened_ticks;          /* no event is earlier; 0: equal to base_ticks */
	uint32_t slot;                  /* the owner's slot while it is open, from 0 */
	uint8_t reserved[12];
};

_Static_assert(offsetof(struct weft_abi_packet, base_ticks) == 16, "base_ticks");
_Static_assert(offsetof(struct weft_abi_packet, task) == 40, "task");
_Static_assert(offsetof(struct weft_abi_packet, lost) == 72, "lost");
_Static_assert(offsetof(struct weft_abi_packet, name) == 88, "name");
_Static_assert(offsetof(struct weft_abi_packet, opened_ticks) == 104, "opened_ticks");
_Static_assert(sizeof(struct weft_abi_packet) == 128, "packet header");

#endif
