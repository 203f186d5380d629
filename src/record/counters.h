/* SPDX-License-Identifier: ISC
 *
 * The values of the program's counters, which change whether or not anything is recorded.
 *
 * A counter has a row, which never goes away, and cells. An integer that is added goes into one of
 * several cells, so that threads on several processors do not wait for each other; the value is the
 * sum of all. A forked child begins with zeros. Where the platform can, cells and names are in
 * memory that other processes can read (abi/counter_abi.h); nothing that is read there is trusted.
 *
 *     row    name, hash, what was done with it           kept by a forked child
 *     cells  shard 0 │ shard 1 │ … │ real                cleared in a forked child, or not there
 *
 * The trace gets a counter's value as an event (`total`): now and then when a packet is opened, and
 * of all counters when recording stops. The next packet after events were lost, or a level
 * has changed, begins with totals, too. So a reader knows the value also where changes are missing:
 * those before recording, in other levels, and those that were overwritten or lost.
 */
#ifndef WEFT_RECORD_COUNTERS_H
#define WEFT_RECORD_COUNTERS_H

#ifdef WEFT_FREESTANDING
#define WEFT_ABI_COUNTERS          64
#define WEFT_ABI_COUNTER_TEXT      2048
#define WEFT_ABI_COUNTER_SHARDS    1
#define WEFT_ABI_COUNTER_PAD_BYTES 8
#define WEFT__COUNTER_ALIGNMENT    8 /* nothing forks */
#else
#define WEFT__COUNTER_ALIGNMENT WEFT__PAGE_BYTES
#endif

#include "abi/counter_abi.h"
#include "record/recorder.h"

struct weft__counter_row {
	uint64_t name; /* its id in the buffer of a generation << 16 | the id */
	uint32_t hash;
	uint16_t text, size; /* of its name */
	uint8_t is_there;    /* a bucket leads here: another thread may have made a row of that name */
	uint8_t is_added;    /* a shard but the first may have a part of the value */
	uint8_t is_real;     /* `real` has a part of the value */
	uint8_t begins_at_0; /* it was 0 when the present record began */
};

#define WEFT__COUNTER_BUCKETS (2 * WEFT_ABI_COUNTERS)

struct weft__counters {
	/* On pages of its own, which are cleared in a forked child (by the platform): there the values
	 * are 0, and the parent's shared memory is missing. */
	struct weft__counters_of_process {
		_Alignas(WEFT__COUNTER_ALIGNMENT) struct weft_abi_counters *shared; /* or NULL */
		struct weft_abi_counter_cells *shared_cells;                        /* of it, or NULL */
		struct weft_abi_counter_cells cells; /* in use while nothing is shared */
	} own;
	_Alignas(WEFT__COUNTER_ALIGNMENT) uint32_t rows_used;
	uint32_t text_used;
	uint8_t is_begun;     /* events of all changes are recorded, if their level is on */
	uint64_t totals_at;   /* the hand of the buffer when totals were written last */
	uint64_t totals_gaps; /* losses and changes of levels until then */
	uint32_t totals_next; /* the row to go on with; 0: the last round is complete */
	uint16_t bucket[WEFT__COUNTER_BUCKETS]; /* 1 + a row; 0: free. Open addressing by the hash */
	struct weft__counter_row row[WEFT_ABI_COUNTERS];
	char text[WEFT_ABI_COUNTER_TEXT];
};

extern struct weft__counters weft__counters WEFT__HIDDEN;

static inline struct weft_abi_counter_cells *weft__record_counter_cells(struct weft__counters *c)
{
	struct weft_abi_counter_cells *shared = weft__load(&c->own.shared_cells);
	return shared ? shared : &c->own.cells;
}

/* Takes `count` of `most`, from `*ret_first` on. False if fewer are left. */
static inline bool weft__record_take_room(
	uint32_t *used, uint32_t count, uint32_t most, uint32_t *ret_first)
{
	uint32_t first;
	do {
		first = weft__load(used);
		if (count > most - first)
			return false;
	} while (!weft__compare_exchange(used, first, first + count));
	*ret_first = first;
	return true;
}

/* Set beside the row in a cache by which the counter has been added to. A call that sets may use
 * the same cache: only an add that goes the slow way first says so in the row. */
#define WEFT__COUNTER_ADDS 0x8000u

/* The row that a call site's cache has, from 1 on, with WEFT__COUNTER_ADDS; 0: none. Names have the
 * other bits (name.h). */
static inline uint32_t weft__record_counter_cached(const uint64_t *cache)
{
	return (uint32_t)weft__load(cache) >> 16;
}

/* A shard for the calling thread: threads have different stacks, and asking for the processor would
 * touch memory. */
static inline uint32_t weft__record_counter_shard(void)
{
	uint32_t stack = (uint32_t)((uintptr_t)__builtin_frame_address(0) >> 16);
	return (stack * 0x9e3779b1u >> 16) % WEFT_ABI_COUNTER_SHARDS;
}

/* The cell for the calling thread of a counter that the call site has added to before; else NULL.
 */
static inline __attribute__((always_inline)) uint64_t *weft__record_counter_cell(
	const uint64_t *cache)
{
	uint32_t row = weft__record_counter_cached(cache) - WEFT__COUNTER_ADDS - 1;
	if (WEFT__UNLIKELY(row >= WEFT_ABI_COUNTERS))
		return NULL;
	struct weft_abi_counter_cells *cells =
		weft__record_counter_cells(weft__load(&weft__recorder.counters));
	return &cells->shard[weft__record_counter_shard()].cell[row];
}

/* Adds to a counter that the call site has added to before. False: it has not, and nothing is done.
 */
static inline __attribute__((always_inline)) bool weft__record_counter_try_add(
	const uint64_t *cache, uint64_t change)
{
	uint64_t *cell = cache ? weft__record_counter_cell(cache) : NULL;
	if (WEFT__UNLIKELY(!cell))
		return false;
	weft__fetch_add(cell, change);
	return true;
}

#ifndef WEFT_FREESTANDING
/* Moves the process's values into memory that others may read, which is zero. For a moment at which
 * no other thread counts. */
void weft__record_counters_share(struct weft_abi_counters *memory);
#endif

/* Changes a counter in any case. `kind` is that of the event, `value` its operand. */
void weft__record_counter_change(
	unsigned kind, uint64_t *cache, const char *name, uint32_t size, uint64_t value);

/* The value, rounded towards 0 and limited to int64_t; 0 if no counter has that name. */
int64_t weft__record_counter_value(const char *name, uint32_t size);

/* Prepares for a buffer that will be recorded into, in that generation: gives it the counters'
 * names. */
void weft__record_counters_begin(const struct weft__region *region, uint64_t generation);
/* Recording has begun. */
void weft__record_counters_begun(void);

/* Inside the guard of an event that has just got a new packet and needs so many words there: writes
 * the totals of counters before it, if it is time to. `ticks`: the event's. */
void weft__record_counters_put_some(struct weft_abi_slot *slot, uint32_t words, uint64_t ticks);

/* Records the totals of all counters. Not inside an event. */
void weft__record_counters_put_all(void);

#endif
