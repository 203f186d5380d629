/* SPDX-License-Identifier: ISC
 *
 * The internals of a drain.
 *
 *     weft/drain/drain.c    looks; gives the pieces
 *     weft/drain/packets.c  takes packets, or parts of them
 *     weft/drain/front.c    the names and headers before them
 *     weft/drain/tables.c   the side tables before them
 */
#ifndef WEFT_FORMAT_WEFT_DRAINING_H
#define WEFT_FORMAT_WEFT_DRAINING_H

#include "abi/buffer_abi.h"
#include "format/weft/drain/drain.h"
#include "format/weft/event.h"
#include "format/weft/follow/mark.h"
#include "format/weft/packet.h"
#include "format/weft/piece.h"
#include "format/weft/guest_facts.h"
#include "format/weft/tables.h"

/* A position of the ring. */
struct weft__drained {
	struct weft_abi_packet header; /* for the next part of the content */
	struct weft__account account;
	uint64_t sequence; /* of the content; 0: none yet */
	uint32_t taken;    /* bytes of the packet already taken; 0: none */
	bool is_done;      /* the content is taken to its end, or is damaged */
};

struct weft__drain {
	struct weft__buffer buffer;
	struct weft__mark mark;
	struct weft__event_scratch scratch;
	struct weft_buffer_summary summary;
	uint64_t begun[WEFT_LOSS_CAUSES];   /* losses up to the end of the previous file */
	uint64_t written[WEFT_LOSS_CAUSES]; /* losses as of the last header */
	struct weft__drained *positions;
	uint8_t *names; /* the table as it was last given */
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	uint32_t table_rows[WEFT_ABI_TABLES_MAX]; /* the next row of each to be given */
	uint8_t *states[WEFT_ABI_TABLES_MAX];     /* rows as they were last given; NULL: not a state */
	uint32_t state_rows[WEFT_ABI_TABLES_MAX];
	uint32_t table_count;
	struct weft__piece packets, front; /* `front` comes before `packets` */
	size_t piece_bytes;
	uint64_t piece_events;             /* events in `packets` that are not given yet */
	uint64_t hand;                     /* claims before create */
	uint64_t look_hand;                /* claims before this look */
	uint64_t contents;                 /* contents taken up so far */
	uint32_t first, cursor;            /* this look's first position; positions visited so far */
	uint64_t marked;                   /* ticks of the last mark */
	struct weft_abi_clock_reading end; /* for the header if the program has not stored its end */
	enum weft_abi_ending ending;
	struct weft__guest_facts guest_facts;
	bool has_guest_facts, has_new_guest_facts; /* no header has the present one yet */
	uint64_t series;                           /* for the header */
	uint32_t piece;                            /* files that were begun */
	bool with_open, begins, packets_given;
	bool can_mark;       /* the buffer's slots make sense */
	bool is_marking;     /* this look ends in a mark */
	bool has_taken;      /* this look has taken packets */
	bool needs_mark;     /* the last mark may not cover all packets that were taken */
	bool are_tables_due; /* also those that change all the time */
	bool is_finished, is_written, has_ended;
};

static inline const struct weft_abi_buffer *weft__format_drain_header(const struct weft__drain *d)
{
	return (const void *)d->buffer.bytes;
}

static inline uint64_t weft__format_drain_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Copies packets to d->packets until the piece is full or the look has visited all positions. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_drain_fill(struct weft__drain *drain);

/* Prepares in d->front the names and headers that must precede the copied packets in the file. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_drain_prepare_front(struct weft__drain *drain);

/* Finds the buffer's side tables. 0 or WEFT_ERROR_MEMORY. */
int weft__format_drain_find_tables(struct weft__drain *drain);
void weft__format_drain_free_tables(struct weft__drain *drain);
/* Adds chunks with the new rows of the side tables to d->front; in a new file, with all rows. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_drain_add_tables(struct weft__drain *drain);

/* Adds a chunk with the header to d->front. */
int weft__format_drain_add_header(struct weft__drain *drain);
/* Writes the buffer's header as the header of a stream. */
void weft__format_drain_write_header(struct weft__drain *drain, uint8_t *to);

#endif
