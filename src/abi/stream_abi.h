/* SPDX-License-Identifier: ISC
 *
 * A stream: what a program recorded, without end, taken out of its buffer while it ran.
 *
 *     0        4096
 *     ┌────────┬───────┬─────────┬─────────┬───┬───────┬────────┬─────────┬───┐
 *     │ header │ names │ packets │ packets │ … │ names │ header │ packets │ … │
 *     └────────┴───────┴─────────┴─────────┴───┴───────┴────────┴─────────┴───┘
 *                └────────────── chunks, in any number and order ──────────────┘
 *
 * It begins with the header of the buffer that it comes from, with `stream` set to 1, and is only
 * ever appended to. So it can pass through a pipe or a compressor, and if its writer is killed, it
 * is intact up to the last complete chunk. One exception: a writer whose disk stays full overwrites
 * the last header in the file, so that the losses in it count what is missing.
 *
 *     packet  as in a buffer, `committed` bytes of it. One that was open when it was taken is
 *             continued by another of the same sequence, which has a header of its own: each can
 *             be read alone. `before` and `written` mean nothing here
 *     names   entries of the table of names, from the byte `at` of the entries on; before the
 *             first packet that refers to them
 *     header  of the buffer as it was then; it replaces the one before
 *     text    a text that no event can hold, or that ends in a NUL: its length in bytes (64 bits),
 *             and it, padded with NULs. Its number is in `at`: each is larger than those before
 *     lost    where events are missing, if packets cannot show it: in a part of a trace that was
 *             written from its events. Any number of weft_abi_lost; the last such chunk counts
 *     mark    empty: all events with stamps below the ticks `at` are in the chunks before it, or
 *             lost. So a reader can merge and use them before the stream ends. A writer that copies
 *             a running program's packets gives one after each look that took open packets too
 *
 *     table   rows of a side table: see table_abi.h. They follow the rows before them, of which
 * `at` is the number; those of a table that changes replace them
 *
 * A stream may be divided into several files. Each has all names and can be read alone; `series`
 * and `piece` of their headers say which of them belong together.
 *
 * A header's losses are those since the stream began: `overwritten` events were gone before that,
 * and `stalled` ones were overwritten before the stream's writer could copy them. The header comes
 * before the packets that follow a gap.
 */
#ifndef WEFT_ABI_STREAM_H
#define WEFT_ABI_STREAM_H

#include <stdint.h>

/* Begins each chunk, so that a reader finds the next one after damage. */
#define WEFT_ABI_CHUNK_MAGIC 0x6b6e68638946eaffu

enum weft_abi_chunk_kind {
	WEFT_ABI_CHUNK_PACKET = 1,
	WEFT_ABI_CHUNK_NAMES = 2,
	WEFT_ABI_CHUNK_HEADER = 3,
	WEFT_ABI_CHUNK_TEXT = 4,
	WEFT_ABI_CHUNK_NOTHING = 5, /* keeps a connection alive */
	WEFT_ABI_CHUNK_LOST = 6,
	WEFT_ABI_CHUNK_MARK = 7,
	WEFT_ABI_CHUNK_TABLE = 8,
};

/* Before each chunk's content; both are aligned to 8 bytes. */
struct weft_abi_chunk {
	uint64_t magic;
	uint32_t kind;
	uint32_t bytes; /* of the content, a multiple of 8 */
	uint64_t at;    /* of names: in the table's entries; of a text: its number; of a mark: ticks;
					 * of a table: see above */
};

/* Events of a thread that are missing, and the time in which they would have been. */
struct weft_abi_lost {
	uint64_t start_ticks, end_ticks;
	uint64_t count;
	uint32_t thread; /* its number */
	uint32_t cause;  /* of losses.def; one past its last: one of several */
};

_Static_assert(sizeof(struct weft_abi_chunk) == 24, "chunk");
_Static_assert(sizeof(struct weft_abi_lost) == 32, "lost");

#endif
